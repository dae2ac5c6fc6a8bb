import { z } from "zod";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { unknownName } from "#content/contract/other-names.ts";
import heads from "#content/editorial/operations.json";
import statuses from "#content/editorial/problem-statuses.json";
import { choice, cleanText, parameter } from "./query.ts";

/** A JSON value of a description. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** One operation of the service. Its route, its description, its tool and its tests are made of this. */
export type Operation<
  Path extends string = string,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodObject = z.ZodObject,
  Answer extends z.ZodObject | "text" = z.ZodObject | "text",
> = {
  operationId: string;
  method: "get" | "post";
  /** As the table of addresses has it, with {slug} and its like in the place of values. */
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
  /** `refusal`: the code of the refusal of one that does not fit, where the route itself need not see it; `optional`: the request may come without one. */
  body?: {
    shape: Body;
    refusal?: string;
    optional?: true;
    /** The member that an array in the place of the body is. */
    list?: string;
    /** The request only asks: its refusal does not say that nothing was stored. */
    storesNothing?: true;
    /** Absent: JSON. */
    mediaType?: string;
    /** By name, when one example does not show all. */
    examples?: { [name: string]: Json };
  };
  ok: {
    description: string;
    /** Its id is its name in the description; "text" is not JSON. */
    shape: Answer;
    /** Of one that is not JSON; others are made of the shape. */
    example?: string;
    /** Absent: JSON. */
    mediaType?: string;
    /** Names of components.headers beside those of every answer. */
    headers?: readonly string[];
    /** The same as a text, by media type, with an example. */
    files?: Readonly<Record<string, string>>;
  };
  /** Answers that are no refusals, beside 200. */
  also?: readonly (Pick<Operation["ok"], "description" | "headers"> & {
    status: 202 | 402;
    shape: z.ZodObject;
  })[];
  /** True: the answer is of this moment; no cache keeps it, so it has no ETag. */
  fresh?: boolean;
  /** What each failure of it is answered with. */
  problems?: Problems;
  /** Statuses of refusals beside those of `problems`, of its query, body and path, and those that every operation has. */
  refusals?: readonly Refusal[];
  /** True: for anyone who holds the secret of a status page, sent as a bearer token. */
  secret?: true;
  /** True: an agent whose id is bound sends its secret as a bearer token. */
  agent?: true;
};

/** The values that stand in a path. */
export type ParamsOf<Path extends string> = string extends Path
  ? Record<string, string>
  : Path extends `${string}{${infer Name}}${infer Rest}`
    ? Record<Name, string> & ParamsOf<Rest>
    : unknown;

/** What the query of an operation is read as. */
export type QueryOf<Asked extends { query: z.ZodObject }> = z.output<Asked["query"]>;

/** A page for people, in place of JSON. */
export const htmlPage = {
  description: "The page",
  mediaType: "text/html",
  shape: "text",
  example: "<!doctype html>\n",
} as const;

/** What editors say of an operation; a description that is made of limits stands beside the operation instead. */
const words: { readonly [operationId: string]: { summary: string; description?: string } } = heads;

/** Operations by their ids, GET unless said. The type checker knows the path, query, body and answer of each. */
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

/** Statuses of refusals. */
export const refusalStatuses = [
  400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 429, 500, 503, 507,
] as const;
export type Refusal = (typeof refusalStatuses)[number];

/** What each says, and the code that shows it in an example. */
export const refusals: Readonly<Record<Refusal, RefusalWords>> = statuses.refusals;
export type RefusalWords = { code: string; description: string };

/**
 * What a client reads for each kind of failure of an operation. `detail` may be made of the failure; `members` are those
 * of its fields that stand in the answer. OpenAPI lists the statuses.
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

/** An operation that changes what its body says, as most do that change anything. */
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

/** The names in a parameter, with commas between, each once; all for none. A failure says what to send. */
export function namesAsked(
  what: string,
  text: string,
  all: readonly string[],
): Result<string[], string> {
  const names = [...new Set(text.split(",").map((name) => name.trim()))].filter(Boolean);
  const unknown = names.find((name) => !all.includes(name));
  return unknown === undefined
    ? ok(names.length === 0 ? [...all] : names)
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

/** Which members the items of an answer have; `others` are known beside those of the shape, and left out unless named. */
export const fields = (item: z.ZodObject, others: readonly string[] = []) =>
  listOf(
    "field",
    [...Object.keys(item.shape), ...others],
    `The only members of each item, with commas; all${others.length === 0 ? "" : ` but ${others.join(", ")}`} unless given`,
    "slug,name",
  );

/** Items with these members alone. */
export const withFields = <Item extends object>(
  items: Item[],
  names: readonly string[] | undefined,
): Item[] => {
  if (names === undefined) return items;
  const isNamed = ([name]: [string, unknown]) => names.includes(name);
  return items.map((item) => Object.fromEntries(Object.entries(item).filter(isNamed)) as Item);
};

/** What is long, and answered only to those who ask. */
export const include = listOf(
  "value of include",
  ["facets", "charts"],
  "What is left out unless named: facets (of lists: how many match with each value), charts (of the statistics)",
  "facets,charts",
);

/** Which of two arrays that hold the same an answer leaves out. */
export const shape = choice(
  "shape",
  ["a", "b"],
  "a: without results; b: without nonprofits, which is the same array",
  "a",
);
