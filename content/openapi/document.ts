import { z } from "zod";
import { type Address, addresses } from "#content/contract/addresses.ts";
import { exampleOf } from "#content/contract/base/example.ts";
import { contractVersion } from "#content/contract/base/version.ts";
import {
  directoryOperations,
  fileOperations,
  plainFiles,
  serviceOperations,
} from "#content/contract/operations/directory.ts";
import { donationOperations } from "#content/contract/operations/donation.ts";
import {
  correctionOperations,
  enrichmentOperations,
} from "#content/contract/operations/enrichment.ts";
import {
  onboardingOperations,
  verificationOperations,
} from "#content/contract/operations/onboarding.ts";
import {
  htmlPage,
  type Json,
  type Operation,
  type Refusal,
  refusals,
  refusalStatuses,
  type RefusalWords,
} from "#content/contract/operations/operation.ts";
import { operatorOperations, profileOperations } from "#content/contract/operations/operator.ts";
import {
  pickOperations,
  recommendationOperations,
} from "#content/contract/operations/recommendation.ts";
import { reconciliationOperations } from "#content/contract/operations/reconciliation.ts";
import { problemTitles, ignored, Problem } from "#content/contract/problem.ts";
import words from "#content/editorial/openapi.json";
import { paymentInfo } from "#content/giving/network.ts";
import { signals } from "#content/recommendation/ranking.ts";

/** The description up to its paths. `baseUrl` has no trailing slash. */
const documentHead = (baseUrl: string): { [name: string]: Json } => ({
  openapi: "3.1.0",
  info: {
    title: "Almoner",
    version: contractVersion,
    ...words.info,
    contact: { name: "The operator of this directory", url: `${baseUrl}/.well-known/security.txt` },
    license: { name: "MIT", identifier: "MIT" },
  },
  servers: [{ url: baseUrl, description: "This directory" }],
  externalDocs: { description: "Guide for agents", url: `${baseUrl}/agents.md` },
  tags: words.tags,
});

/** Headers of every answer. */
const commonHeaders = ["Cache-Control", "Access-Control-Allow-Origin", "Link"];

/** Headers of answers and refusals that count toward a limit. */
const limitHeaders = ["RateLimit", "RateLimit-Policy"];

const rankingTable = signals
  .map(({ name, weight, description }) => `- \`${name}\` (${weight}): ${description}`)
  .join("\n");

const { recommendNonprofits, draftRecommendation } = recommendationOperations;
const recommendOperation = {
  ...recommendNonprofits,
  description: `${recommendNonprofits.description}\n\n${rankingTable}`,
};

/** Every operation of the service and its files, in the order of the description. */
export const operations: readonly Operation[] = [
  directoryOperations,
  reconciliationOperations,
  { recommendNonprofits: recommendOperation, draftRecommendation },
  enrichmentOperations,
  correctionOperations,
  donationOperations,
  onboardingOperations,
  fileOperations,
  plainFiles,
  operatorOperations,
  profileOperations,
  pickOperations,
  verificationOperations,
  serviceOperations,
].flatMap((table): Operation[] => Object.values(table));

/** The OpenAPI 3.1.0 description of the service at this origin (without a trailing slash). */
export function openApiDocument(baseUrl: string): { [name: string]: Json } {
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method] = described(operation);
  }
  return {
    ...documentHead(baseUrl),
    paths,
    components: {
      schemas: componentSchemas(operations),
      parameters: words.parameters,
      headers: words.headers,
      responses: {
        Moved: {
          description:
            "It has another address: the slug stood in other letters, or an id or register number in its place",
          headers: headersOf(["Location", ...commonHeaders, ...limitHeaders]),
        },
        ...Object.fromEntries(
          refusalStatuses.map((status) => [`Refusal${status}`, refusal(status, refusals[status])]),
        ),
        MissingPage: refusal(404, refusals[404], contentOf(htmlPage)),
      },
      securitySchemes: words.securitySchemes,
    },
  };
}

type Schema = { [name: string]: Json };

const reference = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });

function described(operation: Operation): Json {
  const { operationId, tag, summary, description, body, secret, agent } = operation;
  const parameters = parametersOf(operation);
  const isPaid = operation.also?.some(({ status }) => status === 402) === true;
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    ...(isPaid && { "x-payment-info": paymentInfo }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: body.optional !== true, content: contentOf(body) },
    }),
    responses: responsesOf(operation),
    security: [
      ...(tag === "Operator" ? [{ operator: [] }] : []),
      ...(secret === true ? [{ submission: [] }] : []),
      ...(agent === true ? [{}, { agent: [] }] : []),
    ],
  };
}

function parametersOf({ path, query, headers = [] }: Operation): Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) =>
    reference("parameters", name),
  );
  const inQuery = Object.entries<z.ZodType>(query?.shape ?? {}).map(([name, shape]): Json => ({
    name,
    in: "query",
    ...describedParameter(shape),
  }));
  return [...inPath, ...inQuery, ...headers.map((name) => reference("parameters", name))];
}

function responsesOf(operation: Operation): Json {
  const { method, path, query, ok, also = [], fresh, tag } = operation;
  const isCached = method === "get" && fresh !== true && tag !== "Operator";
  const common = [...commonHeaders, ...(unlimitedPaths.has(path) ? [] : limitHeaders)];
  const answer = (response: Operation["ok"], ownHeaders: readonly string[] = []): Json => ({
    description: response.description,
    headers: headersOf([...(response.headers ?? []), ...ownHeaders, ...common]),
    content: contentOf(response),
  });
  const isPage = ok.mediaType === htmlPage.mediaType;
  // A second schema without `required` would make each typed client check for members that it always gets.
  const reducing = ["fields", "shape"].filter((name) => Object.hasOwn(query?.shape ?? {}, name));
  const whole =
    reducing.length === 0 ? "" : `. Members are required without ${reducing.join(" and ")} only`;
  // The order here does not matter: JSON objects sort whole-number keys.
  return {
    200: answer(
      { ...ok, description: ok.description + whole },
      isCached ? ["ETag"] : method === "post" ? ["Almoner-Sequence"] : [],
    ),
    ...(isCached && {
      304: { description: "The client has it", headers: headersOf(["ETag", ...common]) },
    }),
    ...(path.includes("{slug}") && { 308: reference("responses", "Moved") }),
    ...Object.fromEntries(also.map((response) => [response.status, answer(response)])),
    ...Object.fromEntries(
      refusalsOf(operation).map((status) => [
        status,
        reference("responses", status === 404 && isPage ? "MissingPage" : `Refusal${status}`),
      ]),
    ),
  };
}

function contentOf({
  shape,
  mediaType = "application/json",
  example = "",
  files,
}: Content): Schema {
  const schema = shape === "text" ? { type: "string" } : reference("schemas", idOf(shape));
  const parameter = { schema, example: shape === "text" ? example : exampleOf(shape) };
  const text = (sample: string): Json => ({ schema: { type: "string" }, example: sample });
  const texts = Object.entries(files ?? {}).map(([type, sample]) => [type, text(sample)]);
  return { [mediaType]: parameter, ...Object.fromEntries(texts) };
}

type Content = Pick<Operation["ok"], "shape" | "mediaType" | "example" | "files">;

/** The refusals of an operation: its own, and those of its query, body and path. A body may be sent where none is read. */
const refusalsOf = ({
  method,
  query,
  body,
  path,
  tag,
  ...operation
}: Operation): readonly Refusal[] => [
  ...(operation.refusals ?? []),
  ...Object.values(operation.problems ?? {}).map(({ status }) => status),
  ...(query === undefined ? [] : [400 as const]),
  ...(method === "get" ? [] : ([400, 413, 415] as const)),
  ...(body === undefined ? [] : [507 as const]),
  ...(path.includes("{") ? [404 as const] : []),
  ...(tag === "Operator" ? [401 as const] : []),
  ...(unlimitedPaths.has(path) ? [] : [429 as const]),
  500,
  503,
];

const unlimitedPaths: ReadonlySet<string> = new Set(
  Object.values<Address>(addresses).flatMap(({ path, limit }) => (limit === "none" ? [path] : [])),
);

const waits: ReadonlySet<Refusal> = new Set([429, 503, 507]);

const headersOf = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, reference("headers", name)]));

const refusal = (
  status: Refusal,
  { code, description }: RefusalWords,
  others: Schema = {},
): Json => ({
  description,
  headers: headersOf([
    ...commonHeaders,
    ...limitHeaders,
    ...(waits.has(status) ? ["Retry-After"] : []),
    ...(status === 401 ? ["WWW-Authenticate"] : []),
  ]),
  content: {
    "application/problem+json": {
      schema: reference("schemas", "Problem"),
      example: {
        type: `urn:almoner:problem:${code}`,
        title: problemTitles[status],
        status,
        detail: description,
        code,
        error: description,
        errors: [],
        request_id: "0af7651916cd43dd8448eb211c80319c",
      },
    },
    ...others,
  },
});

/** components.schemas: every shape with an id in bodies and answers of these operations. */
export function componentSchemas(all: readonly Operation[]): Record<string, Schema> {
  const answerShapes = all.flatMap(answersOf);
  const bodyShapes = all.flatMap(({ body }) => body?.shape ?? []);
  // A shape that is both sent and answered is one component: the answer's.
  const schemas = {
    ...namedIn(bodyShapes, "input"),
    ...namedIn([Problem, ...answerShapes], "output"),
  };
  // Any answer may name ignored input, except those of the Reconciliation API, which others defined.
  const idsNamingInput = new Set(all.filter(({ tag }) => tag !== "Reconciliation").flatMap(idsOf));
  const withIgnored = ({ properties, ...schema }: Schema): Schema => ({
    ...schema,
    properties: { ...(properties as Schema), ignored: ignoredMember },
  });
  return Object.fromEntries(
    Object.entries(schemas)
      .map(([id, schema]): [string, Schema] => [id, without(schema, ["id"])])
      .map(([id, schema]): [string, Schema] => [
        id,
        idsNamingInput.has(id) ? withIgnored(schema) : schema,
      ])
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

/** The schemas of all shapes with an id inside these. */
function namedIn(shapes: readonly z.ZodObject[], io: "input" | "output"): Record<string, Schema> {
  const { $defs } = jsonSchemaOf(z.union(shapes), io);
  return JSON.parse(JSON.stringify($defs).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

/** The name of a shape in the description. Throws if it has none. */
export const idOf = (shape: z.ZodType): string => {
  const id = shape.meta()?.id;
  if (id === undefined) throw new Error("every body and answer of the description has an id");
  return id;
};

/** One query parameter: its schema and description. */
export function describedParameter(parameter: z.ZodType): { [name: string]: Json } {
  // A parameter that is read from a text is described by its result.
  const shape = parameter instanceof z.ZodPipe ? (parameter.def.out as z.ZodType) : parameter;
  const { description, examples, ...metadata } = shape.meta() ?? {};
  const [example] = Array.isArray(examples) ? (examples as Json[]) : [];
  const schema = jsonSchemaOf(shape, "input", z.registry());
  return {
    description: description ?? "",
    ...(shape.safeParse(undefined).success ? {} : { required: true }),
    schema: { ...without(schema, ["$schema"]), ...without(metadata, ["id"]) },
    ...(example === undefined ? {} : { example }),
  };
}

const without = (schema: object, names: readonly string[]): Schema =>
  Object.fromEntries(Object.entries(schema as Schema).filter(([name]) => !names.includes(name)));

/**
 * A shape as JSON Schema, without the language's greatest integer as a bound. Objects stay open, because fields are only
 * ever added and clients must not refuse new ones.
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
