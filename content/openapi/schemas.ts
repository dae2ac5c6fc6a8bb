import { z } from "zod";
import type { Json, Operation } from "#content/contract/operations/operation.ts";
import { ignored, Problem } from "#content/contract/problem.ts";

type Schema = { [name: string]: Json };

/** components.schemas: every shape with an id that a body or an answer of these operations holds. */
export function componentSchemas(operations: readonly Operation[]): Record<string, Schema> {
  const answered = operations.flatMap(answersOf);
  const sent = operations.flatMap(({ body }) => body?.shape ?? []);
  // A shape that is sent and answered is one component: it is made by the answers.
  const schemas = { ...namedIn(sent, "input"), ...namedIn([Problem, ...answered], "output") };
  // Any answer may name what was not known of its request; a protocol that others published has members of its own.
  const naming = new Set(operations.filter(({ tag }) => tag !== "Reconciliation").flatMap(idsOf));
  const withIgnored = ({ properties, ...schema }: Schema): Schema => ({
    ...schema,
    properties: { ...(properties as Schema), ignored: ignoredMember },
  });
  return Object.fromEntries(
    Object.entries(schemas)
      .map(([id, schema]): [string, Schema] => [id, without(schema, ["id"])])
      .map(([id, schema]): [string, Schema] => [id, naming.has(id) ? withIgnored(schema) : schema])
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const answersOf = ({ ok, also = [] }: Operation): z.ZodObject[] =>
  [ok.shape, ...also.map(({ shape }) => shape)].filter((shape) => typeof shape === "object");
const idsOf = (operation: Operation): string[] => answersOf(operation).map(idOf);

const ignoredMember: Json = {
  description: ignored.description ?? "",
  type: "array",
  items: { $ref: "#/components/schemas/Ignored" },
};

/** The schemas of all shapes with an id that stand in these. */
function namedIn(shapes: readonly z.ZodObject[], io: "input" | "output"): Record<string, Schema> {
  const { $defs } = jsonSchemaOf(z.union(shapes), io);
  return JSON.parse(JSON.stringify($defs).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

/** The name of a shape in the description. */
export const idOf = (shape: z.ZodType): string => {
  const id = shape.meta()?.id;
  if (id === undefined) throw new Error("every body and answer of the description has an id");
  return id;
};

/** One query parameter: its schema, and what the description says beside it. */
export function describedParameter(parameter: z.ZodType): { [name: string]: Json } {
  // What is read from a text is described by what is made of it.
  const shape = parameter instanceof z.ZodPipe ? (parameter.def.out as z.ZodType) : parameter;
  const { description, examples, ...shown } = shape.meta() ?? {};
  const [example] = Array.isArray(examples) ? (examples as Json[]) : [];
  const schema = jsonSchemaOf(shape, "input", z.registry());
  return {
    description: description ?? "",
    ...(shape.safeParse(undefined).success ? {} : { required: true }),
    schema: { ...without(schema, ["$schema"]), ...without(shown, ["id"]) },
    ...(example === undefined ? {} : { example }),
  };
}

const without = (schema: object, names: readonly string[]): Schema =>
  Object.fromEntries(Object.entries(schema as Schema).filter(([name]) => !names.includes(name)));

/**
 * A shape as JSON Schema, without what says nothing: the greatest integer of the language. Objects stay open, because
 * fields are only ever added and a client must not refuse a new one.
 */
export const jsonSchemaOf = (
  shape: z.ZodType,
  io: "input" | "output",
  metadata: z.core.$ZodRegistry<Record<string, unknown>> = z.globalRegistry,
) =>
  z.toJSONSchema(shape, {
    io,
    metadata,
    override: ({ jsonSchema: schema }) => {
      if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
      if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
      if (schema.additionalProperties === false) delete schema.additionalProperties;
    },
  });
