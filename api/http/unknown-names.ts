import type { z } from "zod";
import { requestIdOf } from "#api/log.ts";
import { type Address, addresses } from "#content/contract/addresses.ts";
import { answerBytes } from "#content/contract/base/json.ts";
import { parametersOf } from "#content/contract/base/request.ts";
import type { Operation } from "#content/contract/operations/operation.ts";
import { nearestName, unknownName } from "#content/contract/other-names.ts";
import { fileAccepted } from "#content/contract/operations/list-file.ts";
import type { IgnoredInput } from "#content/contract/problem.ts";
import { isTracking } from "#content/nonprofit/website.ts";
import { operations } from "#content/openapi/document.ts";
import { type Refusal, RefusalError, unusableParameter } from "./problem.ts";
import { pathOf } from "./route.ts";

const namesMax = 20;
const nameLengthMax = 100;

const addressAt = new Map(
  Object.values<Address>(addresses).map((address) => [address.path, address]),
);

/** What an operation accepts. `strict` ones ask for money or write, so they refuse unknown query parameters. */
const knownBy = (operation: Operation) => {
  const { method, path, query, body, tag } = operation;
  const { limit = "read", takes } = addressAt.get(path) ?? {};
  return {
    // Pages add their language to the address of a form.
    query: [...Object.keys(query?.shape ?? {}), ...(takes === "form" ? ["language"] : [])],
    body: body?.shape,
    strict:
      limit === "donate" || limit === "pay" || (method === "post" && body?.storesNothing !== true),
    // Published protocols define the members of their answers, so no names may be added to them.
    namesIgnored: tag !== "Reconciliation" && tag !== "MCP",
  };
};

const operationByRoute = new Map(
  operations.map((operation) => [
    `${operation.method.toUpperCase()} ${pathOf(operation)}`,
    knownBy(operation),
  ]),
);

const ignoredOf = new WeakMap<Request, IgnoredInput[]>();

/** Whether unknown names go into the answer to this request. It is then rebuilt, so that a cached answer is not altered. */
export const namesIgnored = (request: Request): boolean => ignoredOf.has(request);

/** Lists that can be files. A file has no place for `ignored`, so its reader would take another list for the right one. */
const fileOperations = operations.filter(({ query }) =>
  Object.hasOwn(query?.shape ?? {}, "format"),
);

const isFile = (request: Request, { query }: { query: readonly string[] }): boolean =>
  query.includes("format") &&
  (parametersOf(request)["format"] || fileAccepted(request.headers.get("accept")) || "json") !==
    "json";

/**
 * Notes query parameters and members of the body that the route's operation does not know, each with the nearest known
 * name. Throws RefusalError, 400, for an unknown parameter where it could change money, what is written or a file.
 */
export function refuseOrNoteUnknown(request: Request, route: string, body: unknown): void {
  const operation = operationByRoute.get(`${request.method} ${route}`);
  if (operation === undefined) return;
  const names = Object.keys(parametersOf(request)).filter(
    (name) => !operation.query.includes(name) && !isTracking(name),
  );
  const [first] = names;
  if (first !== undefined && (operation.strict || isFile(request, operation)))
    throw new RefusalError(unknown(first, operation.query));
  if (!operation.namesIgnored) return;
  const unknownInputs = [
    ...names.map((name) => ({ label: name, name, others: operation.query })),
    ...(operation.body === undefined ? [] : unknownMembers(operation.body, body)),
  ];
  // A request may hold thousands of names, and comparing each with all known ones is dear.
  const inputs = unknownInputs.slice(0, namesMax).map(ignoredInput);
  if (inputs.length > 0) ignoredOf.set(request, inputs);
}

/** `label`: the whole path of a member. `others`: the names known in its place. */
type UnknownInput = { label: string; name: string; others: readonly string[] };

const ignoredInput = ({ label, name, others }: UnknownInput): IgnoredInput => ({
  name: label.slice(0, nameLengthMax),
  nearest: nearestName(name, others),
});

function unknown(name: string, others: readonly string[]): Refusal {
  const { name: parameter, nearest } = ignoredInput({ label: name, name, others });
  const files = others.includes("format") ? fileOperations : [];
  const file = files.find(({ query }) => Object.hasOwn(query?.shape ?? {}, name));
  const elsewhere = file === undefined ? "" : ` GET ${file.path} takes it.`;
  const refusal = unusableParameter(parameter, unknownName("parameter", name, others) + elsewhere);
  return { ...refusal, code: "unknown_parameter", extensions: { parameter, nearest } };
}

/** Members of a value, at any depth, that its shape does not have. */
function unknownMembers(shape: z.core.$ZodType, value: unknown, path = ""): UnknownInput[] {
  const {
    _zod: { def },
  } = shape as z.core.$ZodTypes;
  if ("innerType" in def) return unknownMembers(def.innerType, value, path);
  if (def.type === "array" && Array.isArray(value)) {
    return value.flatMap((item, at) => unknownMembers(def.element, item, `${path}[${at}]`));
  }
  if (def.type !== "object" || typeof value !== "object" || value === null) return [];
  // A shape that accepts other members, or refuses them, deals with them itself.
  if (def.catchall !== undefined || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const at = path === "" ? name : `${path}.${name}`;
    const memberShape = Object.hasOwn(def.shape, name) ? def.shape[name] : undefined;
    return memberShape === undefined
      ? [{ label: at, name, others: Object.keys(def.shape) }]
      : unknownMembers(memberShape, member, at);
  });
}

/** Adds what only the request knows: to a refusal its request id, to any JSON answer the names that were not known. */
export function withNotes(response: Response, request: Request): Response | Promise<Response> {
  const type = response.headers.get("content-type");
  const isRefusal = type === "application/problem+json" || response.status === paymentRequired;
  const ignoredInputs = ignoredOf.get(request);
  if (!isRefusal && (ignoredInputs === undefined || type !== "application/json")) return response;
  const { status, headers } = response;
  // The names that were not understood come first, for clients that read only the start.
  const [first, last] = [
    ignoredInputs && { ignored: ignoredInputs },
    isRefusal && { request_id: requestIdOf(request) },
  ];
  return response
    .json()
    .then(
      (answer: object) =>
        new Response(answerBytes({ ...first, ...answer, ...last }), { status, headers }),
    );
}

const paymentRequired = 402;
