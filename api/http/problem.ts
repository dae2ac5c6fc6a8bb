import { StoreBusy } from "#content/store/busy.ts";

/** What a client is told when a request is refused. `code` is our stable name of the failure. */
export type Refusal = {
  status: number;
  code: string;
  detail: string;
  /** What is wrong where: bodies only. */
  errors?: { path: string; message: string }[];
  /** Extra members of the body, for example allowed values. */
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
};

/** Every kind of failure of a verb, and what a client is told. `satisfies FailureTable<…>` finds a forgotten one. */
export type FailureTable<Failure extends { kind: string }> = {
  [Kind in Failure["kind"]]:
    | Omit<Refusal, "code">
    | ((failure: Extract<Failure, { kind: Kind }>) => Omit<Refusal, "code">);
};

/** Turns a verb's failure into its answer. */
export const refuse = <Failure extends { kind: string }>(
  table: FailureTable<Failure>,
  failure: Failure,
): Response => problem(refusalOf(table, failure));

/** What a client is told of a verb's failure; the failure's kind is the problem's code. */
export function refusalOf<Failure extends { kind: string }>(
  table: FailureTable<Failure>,
  failure: Failure,
): Refusal {
  const entry = table[failure.kind as Failure["kind"]] as
    | Omit<Refusal, "code">
    | ((failure: Failure) => Omit<Refusal, "code">);
  const refusal = typeof entry === "function" ? entry(failure) : entry;
  return { ...refusal, code: failure.kind };
}

/** A refusal thrown where no answer can be returned: in parsers that run before a route. Caught in api/app.ts. */
export class Refused extends Error {
  override name = "Refused";
  readonly refusal: Refusal;
  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(refusal.detail, options);
    this.refusal = refusal;
  }
}

const titles: Record<number, string> = {
  400: "Bad request",
  401: "Not authorised",
  402: "Payment required",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  410: "Gone",
  413: "Body too large",
  414: "Address too long",
  415: "Unsupported media type",
  422: "Not acceptable as it stands",
  429: "Too many requests",
  500: "Internal error",
  503: "Temporarily unavailable",
  507: "Storage full",
};

/**
 * RFC 9457 problem+json. `error` repeats `detail`, because published clients read that name. Never cached.
 * Source: decisions.md, "Errors".
 */
export function problem({ status, code, detail, errors, extra, headers }: Refusal): Response {
  const body = {
    // A name, not an address: RFC 9457, 3.1.1 allows a type that is not dereferenceable.
    type: `urn:almoner:problem:${code}`,
    title: titles[status] ?? "Refused",
    status,
    detail,
    code,
    error: detail,
    ...(errors === undefined ? {} : { errors }),
    ...extra,
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

/** What the store's own troubles say to a client; null for an error that is a bug. */
export function storeRefusal(error: unknown): Refusal | null {
  if (error instanceof StoreBusy) {
    return {
      status: 503,
      code: "store_busy",
      detail: "The directory is being written to by another process. Send the request again.",
      headers: { "retry-after": "1" },
    };
  }
  if (hasCode(error, "SQLITE_FULL") || hasCode(error, "ENOSPC")) {
    return {
      status: 507,
      code: "storage_full",
      detail: "Nothing can be stored at the moment. Reads go on; send the request again later.",
      headers: { "retry-after": "60" },
    };
  }
  return null;
}

const causesMax = 8;

function hasCode(error: unknown, code: string): boolean {
  let at: unknown = error;
  for (let depth = 0; depth < causesMax && at instanceof Error; depth++) {
    if ("code" in at && at.code === code) return true;
    at = at.cause;
  }
  return false;
}
