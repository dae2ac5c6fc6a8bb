import { csvLine } from "#content/contract/base/csv.ts";
import type { FileFormat } from "#content/contract/operations/list-file.ts";

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
