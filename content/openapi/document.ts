import type { z } from "zod";
import {
  directoryOperations,
  fileOperations,
  serviceOperations,
} from "#content/contract/operations/directory.ts";
import { donationOperations } from "#content/contract/operations/donation.ts";
import { enrichmentOperations } from "#content/contract/operations/enrichment.ts";
import {
  onboardingOperations,
  verificationOperations,
} from "#content/contract/operations/onboarding.ts";
import { exampleOf } from "#content/contract/example.ts";
import {
  everywhere,
  type Json,
  type Operation,
  type Refusal,
  refusals,
  refusalsOf,
} from "#content/contract/operations/operation.ts";
import { problemTitles } from "#content/contract/problem.ts";
import { operatorOperations } from "#content/contract/operations/operator.ts";
import {
  pickOperations,
  recommendationOperations,
} from "#content/contract/operations/recommendation.ts";
import { signals } from "#content/recommendation/ranking.ts";
import { componentSchemas, describedParameter, idOf } from "./schemas.ts";
import {
  commonHeaders,
  documentHead,
  headerComponents,
  limitHeaders,
  parameterComponents,
} from "./parts.ts";

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
  { recommendNonprofits: ranked, draftRecommendation },
  enrichmentOperations,
  donationOperations,
  onboardingOperations,
  fileOperations,
  operatorOperations,
  pickOperations,
  verificationOperations,
  serviceOperations,
].flatMap((table): Operation[] => Object.values(table));

export type OpenApiDocument = { [name: string]: Json };

/** The OpenAPI 3.1.0 description of the service at this origin (without a trailing slash). */
export function openApiDocument(baseUrl: string): OpenApiDocument {
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method] = described(operation);
  }
  return {
    ...documentHead(baseUrl),
    paths,
    components: {
      schemas: componentSchemas(operations),
      parameters: parameterComponents,
      headers: headerComponents,
      responses: Object.fromEntries(
        Object.entries(refusals).map(([status, description]) => [
          `Refusal${status}`,
          refusal(Number(status) as Refusal, description),
        ]),
      ),
      securitySchemes: {
        operator: { type: "http", scheme: "bearer", description: "A token of an operator" },
        submission: {
          type: "http",
          scheme: "bearer",
          description: "What stands after # in a status_url",
        },
      },
    },
  };
}

const reference = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });

function described(operation: Operation): Json {
  const { operationId, tag, summary, description, body, secret } = operation;
  const parameters = parametersOf(operation);
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(body) }),
    responses: responsesOf(operation),
    security: [
      ...(tag === "Operator" ? [{ operator: [] }] : []),
      ...(secret === true ? [{ submission: [] }] : []),
    ],
  };
}

const requestBody = ({ shape, optional }: NonNullable<Operation["body"]>): Json => ({
  required: optional !== true,
  content: {
    "application/json": { schema: reference("schemas", idOf(shape)), example: exampleOf(shape) },
  },
});

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
  const { method, also = [], problems = {}, refusals: own = [] } = operation;
  const { limited, fresh, tag } = operation;
  const names: readonly Refusal[] = [
    ...own,
    ...refusalsOf(operation),
    ...Object.values(problems).map(({ status }) => status),
    ...(limited === false ? [] : [429 as const]),
    ...everywhere,
  ];
  const kept = method === "get" && fresh !== true && tag !== "Operator";
  const common = [...commonHeaders, ...(limited === false ? [] : limitHeaders)];
  const refused = [...new Set(names)]
    .toSorted((a, b) => a - b)
    .map((status): [string, Json] => [String(status), reference("responses", `Refusal${status}`)]);
  return {
    ...okResponse(operation, [...(kept ? ["ETag"] : []), ...common]),
    ...Object.fromEntries(
      also.map(({ status, description, shape, headers }): [string, Json] => [
        String(status),
        {
          description,
          headers: headersOf([...headers, ...common]),
          content: {
            "application/json": {
              schema: reference("schemas", idOf(shape)),
              example: exampleOf(shape),
            },
          },
        },
      ]),
    ),
    ...(kept
      ? { "304": { description: "The client has it", headers: headersOf(["ETag", ...common]) } }
      : {}),
    ...Object.fromEntries(refused),
  };
}

function okResponse({ ok }: Operation, common: readonly string[]): { [status: string]: Json } {
  if (ok === undefined) return {};
  const { description, shape, example = "", mediaType = "application/json", headers = [] } = ok;
  const content: Json =
    shape === "text"
      ? { schema: { type: "string" }, example }
      : { schema: reference("schemas", idOf(shape)), example: exampleOf(shape) };
  return {
    "200": {
      description,
      headers: headersOf([...headers, ...common]),
      content: { [mediaType]: content },
    },
  };
}

const waits: ReadonlySet<Refusal> = new Set([429, 503, 507]);

const headersOf = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, reference("headers", name)]));

const refusal = (status: Refusal, description: string): Json => ({
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
        type: `urn:almoner:problem:${exampleCodes[status]}`,
        title: problemTitles[status],
        status,
        detail: description,
        code: exampleCodes[status],
        error: description,
      },
    },
  },
});

const exampleCodes: Record<Refusal, string> = {
  400: "invalid_parameter",
  401: "not_an_operator",
  403: "drafts_not_open",
  404: "nonprofit_not_found",
  409: "idempotency_key_reused",
  410: "nonprofit_withdrawn",
  413: "body_too_large",
  415: "not_json",
  422: "nonprofit_without_wallet",
  429: "rate_limited",
  500: "internal",
  503: "store_busy",
  507: "storage_full",
};
