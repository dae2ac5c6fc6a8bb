import { csvLine } from "#content/contract/base/csv.ts";
import { qualitiesIn } from "#content/contract/base/request.ts";
import { choice, limit } from "./query.ts";

/** The formats in which a whole list can be fetched at once, besides paged JSON, and their media types. */
export const fileTypes = { csv: "text/csv", ndjson: "application/ndjson" } as const;
export type FileFormat = keyof typeof fileTypes;
const formats = ["csv", "ndjson"] as const satisfies readonly FileFormat[];

/** The most rows of such a file, and how many rows count as one read. */
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

/** Register numbers in org-id form: a field of list items that is included only on request. */
export const identifiers = "identifiers";

/** The limit of a file: absent means all. */
export const fileLimit = limit(fileRowsMax, fileRowsMax);

/** The answers of such an operation besides JSON. */
export const filesAnswered = {
  headers: ["Content-Disposition", "X-Total-Count", "X-Truncated"],
  files: {
    [fileTypes.csv]: "slug,name,country\r\nhope-kitchen,Hope Kitchen,Kenya\r\n",
    [fileTypes.ndjson]: '{"slug":"hope-kitchen","name":"Hope Kitchen","country":"Kenya"}\n',
  },
};

/** The file format that an Accept header asks for; null for JSON. At equal quality, explicitly named JSON wins. */
export function fileAccepted(accept: string | null): FileFormat | null {
  const types = qualitiesIn(accept ?? "");
  const json = types.get("application/json");
  const others = json ?? types.get("application/*") ?? types.get("*/*") ?? 0;
  // Many still write x-ndjson; it is undocumented, because generated clients would expect a stream.
  const qualityOf = (format: FileFormat) =>
    types.get(fileTypes[format]) ?? types.get(fileTypes[format].replace("/", "/x-")) ?? 0;
  const best = qualityOf("ndjson") > qualityOf("csv") ? "ndjson" : "csv";
  const quality = qualityOf(best);
  const isWanted = json === undefined ? quality >= others : quality > others;
  return quality > 0 && isWanted ? best : null;
}

/** One item of a list. */
type Row = Readonly<Record<string, string | number | null | undefined | readonly string[]>>;

/** Returns the head of a file and a function that writes a row, with these fields in this order. */
type Writer = (fields: readonly string[]) => { head: string; line: (row: Row) => string };
export const writers: Readonly<Record<FileFormat, Writer>> = {
  csv: (fields) => ({
    head: csvLine(fields),
    line: (row) => csvLine(fields.map((field) => row[field])),
  }),
  // Given a list of names, JSON.stringify writes only these members, in this order.
  ndjson: (fields) => ({ head: "", line: (row) => `${JSON.stringify(row, [...fields])}\n` }),
};
