import { csvLine } from "#content/contract/base/csv.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { FileFormat } from "#content/contract/operations/list-file.ts";
import { similarTo } from "#content/nonprofit/near-name.ts";

/** One item of a list. */
type Row = Readonly<Record<string, string | number | null | undefined | readonly string[]>>;

/** How a file begins and writes a row, with these fields in this order. */
type Writer = (fields: readonly string[]) => { head: string; line: (row: Row) => string };
export const writers: Readonly<Record<FileFormat, Writer>> = {
  csv: (fields) => ({
    head: csvLine(fields),
    line: (row) => csvLine(fields.map((field) => row[field])),
  }),
  // With a list of names JSON.stringify writes these members alone, in their order.
  ndjson: (fields) => ({ head: "", line: (row) => `${JSON.stringify(row, [...fields])}\n` }),
};

/** The fields that are asked for, each once; all for none. A failure says what to send. */
export function fieldsAsked(
  asked: string | undefined,
  all: readonly string[],
): Result<readonly string[], string> {
  const names = [...new Set(asked?.split(",").map((name) => name.trim()))].filter(Boolean);
  const unknown = names.find((name) => !all.includes(name));
  if (unknown === undefined) return ok(names.length === 0 ? all : names);
  const similarity = similarTo(unknown);
  const [nearest = ""] = all.toSorted((one, other) => similarity(other) - similarity(one));
  const meant = similarity(nearest) > 0 ? ` The nearest is ${nearest}.` : "";
  return fail(`No field is "${unknown.slice(0, 60)}".${meant} Fields are ${all.join(", ")}.`);
}
