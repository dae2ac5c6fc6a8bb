import { ValidationError } from "elysia";
import { type Log, requestIdOf } from "#api/log.ts";
import { problemTitles, type Wrong, wrongsInWords } from "#content/contract/problem.ts";
import type { Allowance } from "#content/operation/limit-store.ts";
import storeRefusals from "#content/editorial/store-refusals.json";
import { atMostEvery } from "#content/runtime/timing.ts";
import { codeOf, isStoreAway, isStoreDamage, StoreBusy, StoreLost } from "#content/store/busy.ts";

/** What a client reads when a request is refused. `code` is the stable name of the failure. */
export type Refusal = {
  status: number;
  code: string;
  detail: string;
  errors?: Wrong[];
  /** Further members of the body, for example allowed values. */
  extensions?: Record<string, unknown>;
  headers?: Record<string, string>;
};

/** The answer for each kind of failure of a verb. `satisfies FailureTable<…>` finds a missing one. */
export type FailureTable<Failure extends { kind: string }> = {
  [Kind in Failure["kind"]]:
    | Answer<Extract<Failure, { kind: Kind }>>
    | ((failure: Extract<Failure, { kind: Kind }>) => Omit<Refusal, "code">);
};

/** `detail` may be computed from the failure; `members` are the fields of the failure that the answer repeats. */
type Answer<Failure> = Omit<Refusal, "code" | "detail"> & {
  detail: string | ((failure: Failure) => string);
  members?: readonly (keyof Failure)[];
};

/** The value of Retry-After: whole seconds, at least 1. */
export const retryAfter = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1_000)));

/** The refusal for a client whose window is full. */
export const rateLimited = ({ limit, windowMs, resetMs, policy }: Allowance): Refusal => ({
  status: 429,
  code: "rate_limited",
  detail: `At most ${limit} requests of this kind (${policy}) in ${windowMs / 1_000} seconds. Retry-After says when to send the next.`,
  headers: { "retry-after": retryAfter(resetMs) },
});

export const refuse = <Failure extends { kind: string }>(
  table: FailureTable<Failure>,
  failure: Failure,
): Response => problem(refusalOf(table, failure));

/** The refusal for a verb's failure; the kind of the failure becomes the problem's code. */
export function refusalOf<Failure extends { kind: string }>(
  table: FailureTable<Failure>,
  failure: Failure,
): Refusal {
  const entry = table[failure.kind as Failure["kind"]] as
    | Answer<Failure>
    | ((failure: Failure) => Answer<Failure>);
  const { detail, members = [], ...answer } = typeof entry === "function" ? entry(failure) : entry;
  const extensions = Object.fromEntries(members.map((name) => [name, failure[name]]));
  return {
    ...answer,
    code: failure.kind,
    detail: typeof detail === "function" ? detail(failure) : detail,
    extensions: { ...answer.extensions, ...extensions },
  };
}

/** The answer to a body with unusable members. It names each of them. */
export const unusableBody = (errors: Wrong[], storesNothing = false): Omit<Refusal, "code"> => ({
  status: 400,
  detail: `${storesNothing ? "" : "Nothing was stored. "}${wrongsInWords(errors).slice(0, 1_000)}`,
  errors,
});

/** A refusal to throw where no answer can be returned: in parsers that run before a route. Caught in api/app.ts. */
export class RefusalError extends Error {
  override name = "RefusalError";
  readonly refusal: Refusal;
  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(refusal.detail, options);
    this.refusal = refusal;
  }
}

const titles: Readonly<Record<number, string>> = problemTitles;

/** RFC 9457 problem+json, never cached. `error` repeats `detail`, because published clients read that name. */
export function problem({
  status,
  code,
  detail,
  errors = [],
  extensions,
  headers,
}: Refusal): Response {
  const body = {
    // A URN, not an address: RFC 9457, 3.1.1 allows a type that cannot be dereferenced.
    type: `urn:almoner:problem:${code}`,
    title: titles[status] ?? "Refused",
    status,
    detail,
    code,
    error: detail,
    errors,
    ...extensions,
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...headers,
    },
  });
}

/** The answer for a page when no site is compiled beside the service. */
export const noPages = (): Response =>
  problem({ status: 404, code: "no_such_path", detail: "There are no pages here." });

/** Failures of the store; the first match counts. */
const storeTroubles: readonly [keyof typeof storeRefusals, (error: unknown) => boolean][] = [
  ["store_busy", (error) => error instanceof StoreBusy],
  ["store_corrupt", isStoreDamage],
  ["store_lost", (error) => error instanceof StoreLost],
  ["store_away", isStoreAway],
  ["storage_full", (error) => /^(?:SQLITE_FULL|ENOSPC)$/.test(codeOf(error) ?? "")],
];

/** The refusal for a failure of the store; null for any other error, which is a bug. */
export function storeRefusal(error: unknown): Refusal | null {
  const [code] = storeTroubles.find(([, isIt]) => isIt(error)) ?? [];
  return code === undefined ? null : { code, ...storeRefusals[code] };
}

/**
 * The answer to anything that was thrown. An unexpected error is logged once with its cause; the client gets only the id
 * of the request. `help` is added to the refusal of a request, for example a body that could be sent.
 */
export function answerError(
  log: Log,
  error: unknown,
  code: unknown,
  { help, request }: { help?: Record<string, unknown>; request?: Request } = {},
): Response {
  const refusalError =
    error instanceof RefusalError ? error : error instanceof Error ? error.cause : null;
  const helpful = (refusal: Refusal) =>
    problem({ ...refusal, extensions: { ...refusal.extensions, ...help } });
  if (refusalError instanceof RefusalError) return helpful(refusalError.refusal);
  if (code === "NOT_FOUND") return unknownPath();
  // Elysia answers 422; the contract says 400.
  if (error instanceof ValidationError) return helpful(invalidParameter(error));
  const request_id = request === undefined ? crypto.randomUUID() : requestIdOf(request);
  const refusal = storeRefusal(error);
  if (refusal !== null) {
    // The log may be on the disk that is full.
    if (refusal.code !== "storage_full" || isFullLogged())
      log.warn({ code: refusal.code, request_id }, "the store refused");
  } else log.error({ err: error, request_id }, "unexpected error");
  return problem(refusal ?? internal);
}

const isFullLogged = atMostEvery(60_000);

export const internal: Refusal = {
  status: 500,
  code: "internal",
  detail: "An unexpected error occurred on the server. Send the request again later.",
};

/** Marked by a header, which sets it apart from a route's own 404: api/app.ts then says which methods the path knows. */
const unknownPath = (): Response =>
  new Response(null, { status: 404, headers: { "x-no-such-path": "1" } });

/** Names the unusable query parameter and, for a closed list, the values that it may have. */
function invalidParameter({ all, valueError }: ValidationError): Refusal {
  const { values } = (valueError ?? {}) as { values?: readonly string[] };
  const [first] = all;
  const parameter = first !== undefined && "path" in first ? first.path : "";
  return unusableParameter(parameter, first?.summary ?? "The query is not valid.", values);
}

export const unusableParameter = (
  parameter: string,
  message: string,
  values?: readonly string[],
): Refusal => ({
  status: 400,
  code: "invalid_parameter",
  detail: message,
  errors: [{ path: parameter, message }],
  extensions: { parameter, ...(values === undefined ? {} : { allowed: values }) },
});
