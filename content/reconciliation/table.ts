// The browser build, because the page /match loads it too.
import { CsvError, parse } from "csv-parse/browser/esm/sync";
import { csvLine } from "#content/contract/base/csv.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { Candidate } from "#content/contract/reconciliation.ts";

/** A table that someone sent, and each row as a query of version 0.2. */
export type Table = {
  delimiter: string;
  header: string[];
  rows: string[][];
  queries: TableQuery[];
};
export type TableQuery = {
  query?: string;
  properties?: { pid: string; v: string }[];
  limit: number;
};

export type TableFault = "not_text" | "not_csv" | "no_rows" | "too_many";

/** The titles of columns by content. */
const headings = new Map(
  Object.entries({
    name: ["name", "organisation", "organization", "charity", "nonprofit", "recipient"],
    country: ["country", "country_code"],
    region: ["region", "state", "province"],
    city: ["city", "town"],
    org_id: ["org_id", "orgid", "ein", "charity_number", "registration_number", "abn"],
  }).flatMap(([kind, words]) => words.map((word) => [word, kind] as const)),
);

/** The answer fills every row up to the widest one: 60,000 columns would make 30 MB of 64 kB. */
export const tableColumnsMax = 500;
/** The most characters of a cell in a query, and the most cells besides the name. */
const cellMax = 500;
const cellsMax = 10;

/** Decodes UTF-8, UTF-16 with a byte order mark ("Unicode text"), or the older Windows encoding of spreadsheets. */
export function tableText(bytes: ArrayBuffer | Uint8Array<ArrayBuffer>): string {
  const [first, second] = new Uint8Array(bytes);
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/**
 * Reads CSV with a header, separated by commas, semicolons or tabs. Without a column titled name or similar, the first has
 * the names. A failure is the name of a text in the group "table", which says what to send instead.
 */
export function readTable(text: string, rowsMax: number): Result<Table, TableFault> {
  if (text.includes("\0")) return fail("not_text");
  const delimiter = delimiterOf(text);
  let records: string[][];
  try {
    records = parse(text, {
      bom: true,
      delimiter,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      to: rowsMax + 2,
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return fail("not_csv");
  }
  const [header, ...rows] = records;
  if (header === undefined || rows.length === 0) return fail("no_rows");
  const isTooWide = records.some(({ length }) => length > tableColumnsMax);
  if (rows.length > rowsMax || isTooWide) return fail("too_many");
  const kinds = header.map((title) =>
    headings.get(
      title
        .trim()
        .toLowerCase()
        .replaceAll(/[\s-]+/g, "_"),
    ),
  );
  if (!kinds.includes("name")) kinds[0] ??= "name";
  return ok({ delimiter, header, rows, queries: rows.map((row) => queryOf(row, kinds)) });
}

const delimiters = [",", ";", "\t"] as const;

/** The delimiter that makes the most columns of the first line. */
function delimiterOf(text: string): string {
  const [line = ""] = text.slice(0, 10_000).split("\n", 1);
  const marks = delimiters.map((mark) => ({ mark, count: line.split(mark).length }));
  return marks.reduce((best, mark) => (mark.count > best.count ? mark : best)).mark;
}

function queryOf(row: readonly string[], kinds: readonly (string | undefined)[]): TableQuery {
  const cellTexts = row.flatMap((cell, at) => {
    const v = cell.trim().slice(0, cellMax).toWellFormed();
    const pid = kinds[at];
    return v === "" || pid === undefined ? [] : [{ pid, v }];
  });
  const name = cellTexts.find(({ pid }) => pid === "name");
  const properties = cellTexts.filter(({ pid }) => pid !== "name").slice(0, cellsMax);
  return { ...(name && { query: name.v }), ...(properties.length > 0 && { properties }), limit: 1 };
}

/** How many of the next queries fit into `bytesMax` bytes of a form; at least one, whose cells are cut to fit. */
export function batchFitting(queries: readonly TableQuery[], bytesMax: number): number {
  let bytes = 0;
  const over = queries.findIndex((query) => {
    bytes += new URLSearchParams({ q: `"q00":${JSON.stringify(query)},` }).toString().length;
    return bytes > bytesMax;
  });
  return over === -1 ? queries.length : Math.max(over, 1);
}

/** The columns added to each row: ids for a match, else only the nearest name. */
const added = ["almoner_id", "org_id", "matched_name", "score", "match"] as const;
export type RowMatch = { best: Candidate | undefined; orgIds: readonly string[] };

const addedTo = ({ best, orgIds }: RowMatch): string[] =>
  best === undefined
    ? ["", "", "", "", "no"]
    : best.match
      ? [best.id, orgIds.join(" "), best.name, String(best.score), "yes"]
      : ["", "", best.name, String(best.score), "no"];

/** The title, or another one if the table has a column of that title: programs read columns by title. */
const freeTitle = (title: string, header: readonly string[]): string =>
  header.includes(title) ? freeTitle(`almoner_${title}`, header) : title;

/**
 * The table with the results, as CSV with the file's delimiter. A spreadsheet runs nothing in it, even if it uses another
 * delimiter. Cells beyond the header stay, below empty titles.
 */
export function writtenTable(
  { delimiter, header, rows }: Omit<Table, "queries">,
  matches: readonly RowMatch[],
): string {
  const width = rows.reduce((most, row) => Math.max(most, row.length), header.length);
  const whole = (row: readonly string[]) => Array.from({ length: width }, (_, at) => row[at] ?? "");
  const lines = rows.map((row, at) => [
    ...whole(row),
    ...addedTo(matches[at] ?? { best: undefined, orgIds: [] }),
  ]);
  return [[...whole(header), ...added.map((title) => freeTitle(title, header))], ...lines]
    .map((cells) => csvLine(cells, delimiter))
    .join("");
}
