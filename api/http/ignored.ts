import type { z } from "zod";
import { requestIdOf } from "#api/log.ts";
import { type Address, addresses } from "#content/contract/addresses.ts";
import { answerBytes } from "#content/contract/base/json.ts";
import type { Operation } from "#content/contract/operations/operation.ts";
import { nearestName, unknownName } from "#content/contract/other-names.ts";
import type { IgnoredInput } from "#content/contract/problem.ts";
import { isTracking } from "#content/nonprofit/website.ts";
import { operations } from "#content/openapi/document.ts";
import { type Refusal, RefusalError, unusableParameter } from "./problem.ts";
import { parametersOf, pathOf } from "./route.ts";

const namesMax = 20;
const nameLengthMax = 100;

const addressAt = new Map(
  Object.values<Address>(addresses).map((address) => [address.path, address]),
);

/** What an operation knows of a request; `strict`: it asks for money or writes, so that nothing may be misunderstood. */
const knownBy = (operation: Operation) => {
  const { method, path, query, body, tag } = operation;
  const { limit = "read", takes } = addressAt.get(path) ?? {};
  return {
    // Pages put their language behind the address of a form.
    query: [...Object.keys(query?.shape ?? {}), ...(takes === "form" ? ["language"] : [])],
    body: body?.shape,
    strict:
      limit === "donate" || limit === "pay" || (method === "post" && body?.storesNothing !== true),
    // What a published protocol answers has members of its own.
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

/** Whether an answer to this request names something: it is written anew, so that nothing is spoiled that is kept. */
export const namesIgnored = (request: Request): boolean => ignoredOf.has(request);

/**
 * Notes parameters and members of the body that the operation at this route does not know, each with the known name that
 * is nearest. Throws RefusalError, 400, for a parameter where that could change money or what is written.
 */
export function noteIgnored(request: Request, route: string, body: unknown): void {
  const operation = operationByRoute.get(`${request.method} ${route}`);
  if (operation === undefined) return;
  const names = Object.keys(parametersOf(request)).filter(
    (name) => !operation.query.includes(name) && !isTracking(name),
  );
  const [first] = names;
  if (first !== undefined && operation.strict)
    throw new RefusalError(unknown(first, operation.query));
  if (!operation.namesIgnored) return;
  const inputs = [
    ...names.map((name) => ignoredInput(name, name, operation.query)),
    ...(operation.body === undefined ? [] : membersIgnored(operation.body, body)),
  ];
  if (inputs.length > 0) ignoredOf.set(request, inputs.slice(0, namesMax));
}

const ignoredInput = (label: string, name: string, others: readonly string[]): IgnoredInput => ({
  name: label.slice(0, nameLengthMax),
  nearest: nearestName(name, others),
});

function unknown(name: string, others: readonly string[]): Refusal {
  const { name: parameter, nearest } = ignoredInput(name, name, others);
  const refusal = unusableParameter(parameter, unknownName("parameter", name, others));
  return { ...refusal, code: "unknown_parameter", extensions: { parameter, nearest } };
}

/** Members of a value, at any depth, that its shape does not have. */
function membersIgnored(shape: z.core.$ZodType, value: unknown, path = ""): IgnoredInput[] {
  const {
    _zod: { def },
  } = shape as z.core.$ZodTypes;
  if ("innerType" in def) return membersIgnored(def.innerType, value, path);
  if (def.type === "array" && Array.isArray(value)) {
    return value.flatMap((item, at) => membersIgnored(def.element, item, `${path}[${at}]`));
  }
  if (def.type !== "object" || typeof value !== "object" || value === null) return [];
  // What takes other members, or refuses them, says so itself.
  if (def.catchall !== undefined || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const at = path === "" ? name : `${path}.${name}`;
    const memberShape = Object.hasOwn(def.shape, name) ? def.shape[name] : undefined;
    return memberShape === undefined
      ? [ignoredInput(at, name, Object.keys(def.shape))]
      : membersIgnored(memberShape, member, at);
  });
}

/** Adds to an answer what only the request knows: its id to a refusal, and to any JSON what of it was not known. */
export function completed(response: Response, request: Request): Response | Promise<Response> {
  const type = response.headers.get("content-type");
  const isRefusal = type === "application/problem+json" || response.status === paymentRequired;
  const ignoredInputs = ignoredOf.get(request);
  if (!isRefusal && (ignoredInputs === undefined || type !== "application/json")) return response;
  const { status, headers } = response;
  // What was not understood stands in front, for those who read no more.
  const [first, last] = [
    ignoredInputs && { ignored: ignoredInputs },
    isRefusal && { request_id: requestIdOf(request) },
  ];
  const withNotes = (answer: object) => answerBytes({ ...first, ...answer, ...last });
  return response.json().then((answer) => new Response(withNotes(answer), { status, headers }));
}

const paymentRequired = 402;
