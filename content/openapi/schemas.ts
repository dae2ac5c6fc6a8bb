import { z } from "zod";
import type { Json, Operation } from "#content/contract/operations/operation.ts";
import { Problem } from "#content/contract/problem.ts";

type Schema = { [name: string]: Json };

/** components.schemas: every shape with an id that a body or an answer of these operations holds. */
export function componentSchemas(operations: readonly Operation[]): Record<string, Schema> {
  const answered = new Map<string, z.core.$ZodType>();
  const sent = new Map<string, z.core.$ZodType>();
  collect(Problem, answered);
  for (const { body, ok, also = [] } of operations) {
    for (const shape of [ok?.shape, ...also.map((one) => one.shape)]) {
      if (shape !== undefined && shape !== "text") collect(shape, answered);
    }
    if (body !== undefined) collect(body.shape, sent);
  }
  // A shape that is sent and answered is one component: it is made by the answers.
  const onlySent = Object.entries(converted(sent, "input")).filter(([id]) => !answered.has(id));
  return Object.fromEntries(
    [...Object.entries(converted(answered, "output")), ...onlySent].toSorted(([a], [b]) =>
      a < b ? -1 : 1,
    ),
  );
}

/** Adds the shape and all within it that have an id. */
function collect(shape: z.core.$ZodType, found: Map<string, z.core.$ZodType>): void {
  const id = z.globalRegistry.get(shape)?.id;
  if (id !== undefined) {
    if (found.has(id)) return;
    found.set(id, shape);
  }
  const { _zod: internals } = shape;
  // A shape that was only described again refers to the one it was made of.
  if (internals.parent !== undefined) collect(internals.parent, found);
  for (const inner of innerShapes(shape)) collect(inner, found);
}

function innerShapes(shape: z.core.$ZodType): readonly z.core.$ZodType[] {
  const { _zod: internals } = shape as z.core.$ZodTypes;
  const { def } = internals;
  if (def.type === "object") return Object.values(def.shape);
  if (def.type === "array") return [def.element];
  if (def.type === "union") return def.options;
  if (def.type === "record") return [def.valueType];
  if (def.type === "pipe") return [def.in, def.out];
  return "innerType" in def ? [def.innerType] : [];
}

function converted(
  shapes: ReadonlyMap<string, z.core.$ZodType>,
  io: "input" | "output",
): Record<string, Schema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, shape] of shapes) registry.add(shape, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io,
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => openObjects(jsonSchema),
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => {
      if (id.startsWith("__")) throw new Error(`a shape that was not found: ${id}`);
      return [id, without(schema, ["$schema", "$id", "id"])];
    }),
  );
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
  const schema = z.toJSONSchema(shape, {
    io: "input",
    metadata: z.registry(),
    override: ({ jsonSchema }) => openObjects(jsonSchema),
  });
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
 * Takes off what says nothing: the greatest integer of the language. Objects stay open, because fields are only ever
 * added and a client must not refuse a new one.
 */
export function openObjects(schema: Record<string, unknown>): void {
  if (schema["maximum"] === Number.MAX_SAFE_INTEGER) delete schema["maximum"];
  if (schema["minimum"] === Number.MIN_SAFE_INTEGER) delete schema["minimum"];
  if (schema["additionalProperties"] === false) delete schema["additionalProperties"];
}
