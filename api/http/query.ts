import { fail, ok, type Result } from "#content/contract/result.ts";
import { type BadParameter, parameterRefusal, problem } from "./problem.ts";

/** The query string of a request. Of a repeated parameter the first counts; unknown ones are ignored. */
export type Query = {
  /** The value as it came, null when absent: for what must not be read liberally, like money. */
  raw(name: string): string | null;
  /** A text without control characters, trimmed, at most `maxLength` characters; null when absent or empty. */
  text(name: string, maxLength?: number): string | null;
  /** A whole number from 1; above `max` it is capped. */
  limit(options: { fallback: number; max: number }): Result<number, BadParameter>;
  /** A whole number from 0. */
  offset(): Result<number, BadParameter>;
  /** A whole number from 1; null when absent or empty. */
  number(name: string): Result<number | null, BadParameter>;
  /** One of a closed list; `fallback` when absent or empty. */
  choice<const Value extends string, Fallback extends Value | null>(
    name: string,
    options: { values: readonly Value[]; fallback: Fallback },
  ): Result<Value | Fallback, BadParameter>;
  /** True for 1 and true; anything else is not a filter. */
  flag(name: string): boolean;
};

const textLengthMax = 1_000;
const offsetMax = 2 ** 40;

/** Reads the query string of a URL. Any bytes are accepted: what cannot be decoded becomes U+FFFD. */
export function queryOf(url: string): Query {
  const start = url.indexOf("?");
  const params = new URLSearchParams(start === -1 ? "" : url.slice(start + 1).split("#", 1)[0]);
  const first = (name: string) => params.get(name);
  return {
    raw: first,
    text: (name, maxLength = textLengthMax) => cleaned(first(name), maxLength),
    limit: ({ fallback, max }) => {
      const number = whole(first("limit"));
      if (number === null) return ok(fallback);
      if (number >= 1) return ok(Math.min(number, max));
      const message = `limit is a whole number from 1 to ${max}; above that it is capped.`;
      return fail({ kind: "invalid_parameter", parameter: "limit", message });
    },
    offset: () => {
      const number = whole(first("offset"));
      if (number === null) return ok(0);
      if (number >= 0) return ok(Math.min(number, offsetMax));
      const message = "offset is a whole number from 0.";
      return fail({ kind: "invalid_parameter", parameter: "offset", message });
    },
    number: (name) => {
      const number = whole(first(name));
      if (number === null || number >= 1) return ok(number);
      const message = `${name} is a whole number from 1.`;
      return fail({ kind: "invalid_parameter", parameter: name, message });
    },
    choice: (name, { values, fallback }) => {
      const value = cleaned(first(name), textLengthMax);
      if (value === null) return ok(fallback);
      const found = values.find((one) => one === value);
      if (found !== undefined) return ok(found);
      const message = `${name} is one of ${values.join(", ")}.`;
      return fail({ kind: "invalid_parameter", parameter: name, message, allowed: values });
    },
    flag: (name) => ["1", "true"].includes(first(name)?.trim().toLowerCase() ?? ""),
  };
}

/** The answer to a parameter that cannot be used: 400 that names it and, for a closed list, the allowed values. */
export const refuseParameter = (bad: BadParameter): Response => problem(parameterRefusal(bad));

/** -1 for what is no whole number, null for an absent or empty parameter. */
function whole(raw: string | null): number | null {
  const text = raw?.trim() ?? "";
  if (text === "") return null;
  if (!/^\+?\d+$/.test(text)) return -1;
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}

function cleaned(raw: string | null, maxLength: number): string | null {
  if (raw === null) return null;
  // Control characters (and NUL above all) mean nothing in a query; SQLite would cut a text at a NUL.
  const text = raw.replaceAll(/\p{Cc}+/gu, " ").trim();
  const cut = text.slice(0, maxLength).toWellFormed();
  return cut === "" ? null : cut;
}

/** A path with the parameters that have a value. */
export function placeWith(
  path: string,
  query: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}
