import { z } from "zod";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { unknownName } from "#content/contract/other-names.ts";
import heads from "#content/editorial/operations.json";
import statuses from "#content/editorial/problem-statuses.json";
import { choice, cleanText, parameter } from "./query.ts";

/** A JSON value of a description. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** One operation of the service. Its route, description, tool and tests are derived from this. */
export type Operation<
  Path extends string = string,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodObject = z.ZodObject,
  Answer extends z.ZodObject | "text" = z.ZodObject | "text",
> = {
  operationId: string;
  method: "get" | "post";
  /** As in the table of addresses, with placeholders such as {slug}. */
  path: Path;
  tag:
    | "Directory"
    | "Reconciliation"
    | "Recommendation"
    | "Enrichment"
    | "Donation"
    | "Onboarding"
    | "Changes"
    | "Operator"
    | "Files"
    | "MCP"
    | "Service";
  summary: string;
  description: string;
  query?: Query;
  /** Names of components.parameters that are headers. */
  headers?: readonly string[];
  /** `refusal`: the code for a body that does not fit, if the route need not see it; `optional`: it may be absent. */
  body?: {
    shape: Body;
    refusal?: string;
    optional?: true;
    /** The member that a body stands for when it is an array. */
    list?: string;
    /** The request only reads, so its refusal does not say that nothing was stored. */
    storesNothing?: true;
    /** Absent: JSON. */
    mediaType?: string;
    /** Named examples, when one does not show everything. */
    examples?: { [name: string]: Json };
  };
  ok: {
    description: string;
    /** Its id is its name in the description; "text" is not JSON. */
    shape: Answer;
    /** An example of an answer that is not JSON; others are derived from the shape. */
    example?: string;
    /** Absent: JSON. */
    mediaType?: string;
    /** Names of components.headers in addition to those of every answer. */
    headers?: readonly string[];
    /** The same answer as text, by media type, with an example. */
    files?: Readonly<Record<string, string>>;
  };
  /** Answers other than 200 that are not refusals. */
  also?: readonly (Pick<Operation["ok"], "description" | "headers"> & {
    status: 202 | 402;
    shape: z.ZodObject;
  })[];
  /** True: the answer is valid only at this moment; it is not cached and has no ETag. */
  fresh?: boolean;
  /** The answer for each of its failures. */
  problems?: Problems;
  /** Statuses of refusals in addition to those of `problems`, of its query, body and path, and of every operation. */
  refusals?: readonly Refusal[];
  /** True: requires the secret of a status page as a bearer token. */
  secret?: true;
  /** True: an agent with a bound id sends its secret as a bearer token. */
  agent?: true;
};

export type ParamsOf<Path extends string> = string extends Path
  ? Record<string, string>
  : Path extends `${string}{${infer Name}}${infer Rest}`
    ? Record<Name, string> & ParamsOf<Rest>
    : unknown;

/** The parsed query of an operation. */
export type QueryOf<Asked extends { query: z.ZodObject }> = z.output<Asked["query"]>;

/** A page for people instead of JSON. */
export const htmlPage = {
  description: "The page",
  mediaType: "text/html",
  shape: "text",
  example: "<!doctype html>\n",
} as const;

/** Texts about operations by editors. A description that contains limits is written at the operation instead. */
const words: { readonly [operationId: string]: { summary: string; description?: string } } = heads;

/** Operations by id, GET by default. The type checker knows each one's path, query, body and answer. */
export const operations = <const Table extends Record<string, OperationBody>>(
  tag: Operation["tag"],
  table: Table & Record<Exclude<keyof Table, keyof typeof heads>, Pick<OperationHead, "summary">>,
) =>
  Object.fromEntries(
    Object.entries<OperationBody>(table).map(([operationId, body]) => [
      operationId,
      { operationId, tag, method: "get", ...words[operationId], ...body },
    ]),
  ) as { [Id in keyof Table]: Table[Id] & OperationHead };

type OperationHead = Pick<Operation, "operationId" | "tag" | "method" | "summary" | "description">;
type OperationBody = Omit<Operation, keyof OperationHead> &
  Partial<Omit<OperationHead, "operationId">>;

export const refusalStatuses = [
  400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 429, 500, 503, 507,
] as const;
export type Refusal = (typeof refusalStatuses)[number];

/** The words for each status, and a code for its example. */
export const refusals: Readonly<Record<Refusal, RefusalWords>> = statuses.refusals;
export type RefusalWords = { code: string; description: string };

/**
 * The answer for each kind of failure. `detail` may be derived from the failure; `members` are its fields that go into the
 * answer. OpenAPI lists the statuses.
 */
export type Problems = Readonly<
  Record<
    string,
    {
      status: Refusal;
      detail: string | ((failure: never) => string);
      members?: readonly string[];
      headers?: Readonly<Record<string, string>>;
    }
  >
>;

/** An operation that makes the change in its body; most operations that change something are of this kind. */
export const change = <
  const Path extends string,
  Body extends z.ZodObject,
  Answer extends z.ZodObject,
>(
  { path }: { path: Path },
  body: Body,
  [description, shape]: readonly [string, Answer],
  also: readonly Refusal[] = [],
) =>
  ({
    method: "post",
    path,
    body: { shape: body },
    ok: { description, shape },
    refusals: also,
  }) as const;

/** Parses names separated by commas, each once; no names at all count as absent. A failure says what to send. */
export function namesAsked(
  what: string,
  text: string,
  all: readonly string[],
): Result<string[] | undefined, string> {
  const names = [...new Set(text.split(",").map((name) => name.trim()))].filter(Boolean);
  const unknown = names.find((name) => !all.includes(name));
  return unknown === undefined
    ? ok(names.length === 0 ? undefined : names)
    : fail(unknownName(what, unknown, all));
}

const listOf = (what: string, all: string[], description: string, example: string) =>
  parameter(
    cleanText,
    z
      .string()
      .transform((text, { issues }) => {
        const read = namesAsked(what, text, all);
        if (read.ok) return read.value;
        issues.push({ code: "invalid_value", values: all, input: text, message: read.failure });
        return z.NEVER;
      })
      .optional(),
    description,
    example,
  );

/** The members of an answer's items; `others` are known besides those of the shape, but left out by default. */
export const fields = (item: z.ZodObject, others: readonly string[] = []) =>
  listOf(
    "field",
    [...Object.keys(item.shape), ...others],
    `The only members of each item, with commas; all${others.length === 0 ? "" : ` but ${others.join(", ")}`} unless given`,
    "slug,name",
  );

/** Items reduced to these members. */
export const withFields = <Item extends object>(
  items: Item[],
  names: readonly string[] | undefined,
): Item[] => {
  if (names === undefined) return items;
  const isNamed = ([name]: [string, unknown]) => names.includes(name);
  return items.map((item) => Object.fromEntries(Object.entries(item).filter(isNamed)) as Item);
};

/** Long parts of an answer, included only on request. */
export const include = listOf(
  "value of include",
  ["facets", "charts"],
  "What is left out unless named: facets (of lists: how many match with each value), charts (of the statistics)",
  "facets,charts",
);

/** Which of two equal arrays an answer leaves out. */
export const shape = choice(
  "shape",
  ["a", "b"],
  "a: without results; b: without nonprofits, which is the same array",
  "a",
);
