import type { z } from "zod";
import { type Address, addresses } from "#content/contract/addresses.ts";
import {
  directoryOperations,
  fileOperations,
  plainFiles,
  serviceOperations,
} from "#content/contract/operations/directory.ts";
import {
  correctionOperations,
  enrichmentOperations,
} from "#content/contract/operations/enrichment.ts";
import { donationOperations } from "#content/contract/operations/donation.ts";
import {
  onboardingOperations,
  verificationOperations,
} from "#content/contract/operations/onboarding.ts";
import { exampleOf } from "#content/contract/base/example.ts";
import {
  type Json,
  type Operation,
  type Refusal,
  refusals,
  refusalStatuses,
  type RefusalWords,
} from "#content/contract/operations/operation.ts";
import { paymentInfo } from "#content/giving/network.ts";
import { problemTitles } from "#content/contract/problem.ts";
import { operatorOperations, profileOperations } from "#content/contract/operations/operator.ts";
import { reconciliationOperations } from "#content/contract/operations/reconciliation.ts";
import {
  pickOperations,
  recommendationOperations,
} from "#content/contract/operations/recommendation.ts";
import { signals } from "#content/recommendation/ranking.ts";
import { componentSchemas, describedParameter, idOf } from "./schemas.ts";
import { contractVersion } from "#content/contract/base/version.ts";
import words from "#content/editorial/openapi.json";

/** Everything of the description that stands before its paths. `baseUrl` has no trailing slash. */
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

/** Sent with every answer. */
const commonHeaders = ["Cache-Control", "Access-Control-Allow-Origin", "Link"];

/** Sent with what counts toward a limit, refusals too. */
const limitHeaders = ["RateLimit", "RateLimit-Policy"];

const rankingTable = signals
  .map(({ name, weight, description }) => `- \`${name}\` (${weight}): ${description}`)
  .join("\n");

const { recommendNonprofits, draftRecommendation } = recommendationOperations;
const ranked = {
  ...recommendNonprofits,
  description: `${recommendNonprofits.description}\n\n${rankingTable}`,
};

/** Every operation that the service and its files answer to, in the order of the description. */
export const operations: readonly Operation[] = [
  directoryOperations,
  reconciliationOperations,
  { recommendNonprofits: ranked, draftRecommendation },
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
      },
      securitySchemes: words.securitySchemes,
    },
  };
}

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
  const { method, path, ok, also = [], fresh, tag } = operation;
  const isCached = method === "get" && fresh !== true && tag !== "Operator";
  const common = [...commonHeaders, ...(unlimited.has(path) ? [] : limitHeaders)];
  const answer = (one: Operation["ok"], own: readonly string[] = []): Json => ({
    description: one.description,
    headers: headersOf([...(one.headers ?? []), ...own, ...common]),
    content: contentOf(one),
  });
  // Whatever their order here, statuses are sorted: they are whole numbers.
  return {
    200: answer(ok, isCached ? ["ETag"] : method === "post" ? ["Almoner-Sequence"] : []),
    ...(isCached && {
      304: { description: "The client has it", headers: headersOf(["ETag", ...common]) },
    }),
    ...(path.includes("{slug}") && { 308: reference("responses", "Moved") }),
    ...Object.fromEntries(also.map((one) => [one.status, answer(one)])),
    ...Object.fromEntries(
      refusalsOf(operation).map((status) => [status, reference("responses", `Refusal${status}`)]),
    ),
  };
}

function contentOf({ shape, mediaType = "application/json", example = "", files }: Content): Json {
  const schema = shape === "text" ? { type: "string" } : reference("schemas", idOf(shape));
  const parameter = { schema, example: shape === "text" ? example : exampleOf(shape) };
  const text = (one: string): Json => ({ schema: { type: "string" }, example: one });
  const texts = Object.entries(files ?? {}).map(([type, one]) => [type, text(one)]);
  return { [mediaType]: parameter, ...Object.fromEntries(texts) };
}

type Content = Pick<Operation["ok"], "shape" | "mediaType" | "example" | "files">;

/** What an operation may refuse, by itself and because of what it takes: a query, a body, a name in its path. */
const refusalsOf = ({ query, body, path, tag, ...own }: Operation): readonly Refusal[] => [
  ...(own.refusals ?? []),
  ...Object.values(own.problems ?? {}).map(({ status }) => status),
  ...(query === undefined ? [] : [400 as const]),
  ...(body === undefined ? [] : ([400, 413, 415, 507] as const)),
  ...(path.includes("{") ? [404 as const] : []),
  ...(tag === "Operator" ? [401 as const] : []),
  ...(unlimited.has(path) ? [] : [429 as const]),
  500,
  503,
];

const unlimited: ReadonlySet<string> = new Set(
  Object.values<Address>(addresses).flatMap(({ path, limit }) => (limit === "none" ? [path] : [])),
);

const waits: ReadonlySet<Refusal> = new Set([429, 503, 507]);

const headersOf = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, reference("headers", name)]));

const refusal = (status: Refusal, { code, description }: RefusalWords): Json => ({
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
  },
});
