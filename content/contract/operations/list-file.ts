import { csvLine } from "#content/contract/base/csv.ts";
import { qualitiesIn } from "#content/contract/base/accept.ts";
import { choice, limit } from "./query.ts";

/** What a whole list is to be had as at once, beside JSON page by page, and the media type of each. */
export const fileTypes = { csv: "text/csv", ndjson: "application/ndjson" } as const;
export type FileFormat = keyof typeof fileTypes;
const formats = ["csv", "ndjson"] as const satisfies readonly FileFormat[];

/** Rows of such a file at most, and how many count as one read. Source: decisions, "lists as files". */
export const [fileRowsMax, rowsPerRead] = [50_000, 1_000] as const;

/** The parameter that asks for a list as a file. */
export const asFile = {
  format: choice(
    "format",
    ["json", ...formats],
    `csv or ndjson: the list as a file, all of it unless limit is given, at most ${fileRowsMax} rows; each ${rowsPerRead} count as one read`,
    "json",
  ),
};

/** Register numbers in org-id form: a field of lists that items have when it is named. */
export const identifiers = "identifiers";

/** The limit of a file: absent means all. */
export const fileLimit = limit(fileRowsMax, fileRowsMax);

/** What such an operation answers beside JSON. */
export const filesAnswered = {
  headers: ["Content-Disposition", "X-Total-Count", "X-Truncated"],
  files: {
    [fileTypes.csv]: "slug,name,country\r\nhope-kitchen,Hope Kitchen,Kenya\r\n",
    [fileTypes.ndjson]: '{"slug":"hope-kitchen","name":"Hope Kitchen","country":"Kenya"}\n',
  },
};

/** The file that a header Accept asks for; null for JSON. JSON that is named stands before a file that is wanted as much. */
export function fileAccepted(accept: string | null): FileFormat | null {
  const types = qualitiesIn(accept ?? "");
  const json = types.get("application/json");
  const others = json ?? types.get("application/*") ?? types.get("*/*") ?? 0;
  // Many still write x-ndjson; generated clients take an answer that may be of that name for a stream.
  const qualityOf = (format: FileFormat) =>
    types.get(fileTypes[format]) ?? types.get(fileTypes[format].replace("/", "/x-")) ?? 0;
  const best = qualityOf("ndjson") > qualityOf("csv") ? "ndjson" : "csv";
  const quality = qualityOf(best);
  const isWanted = json === undefined ? quality >= others : quality > others;
  return quality > 0 && isWanted ? best : null;
}

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
