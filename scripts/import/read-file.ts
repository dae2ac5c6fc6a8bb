import { isUtf8 } from "node:buffer";
import { createReadStream, readdirSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { pipeline, type Readable, Transform } from "node:stream";
import { crc32, createGunzip } from "node:zlib";
import { CsvError, parse } from "csv-parse";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import type { Place, UnreadableRow } from "#content/register/stage-rows.ts";
import type { CsvFormat, Row } from "./format.ts";
import { forTerminal } from "./report.ts";

/** Called with the number of bytes read since the last call. */
export type OnBytes = (bytes: number) => void;

/** No register has a longer row, and no record of ours a longer line. Checked before anything is held in memory. */
const recordBytesMax = 2 ** 20;

/** The day of a file's last change in UTC; by default its contents are as of that day. */
export const fileDay = (file: string): string => statSync(file).mtime.toISOString().slice(0, 10);

/**
 * The files with such a name in these folders and below, sorted by name; other paths unchanged. Throws BadInput for a
 * folder without any.
 */
export const filesIn = (paths: readonly string[], pattern = /^[^.]/): string[] =>
  paths.flatMap((path) => {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
    const inside = readdirSync(path, { recursive: true, withFileTypes: true });
    const files = inside.filter((entry) => entry.isFile() && pattern.test(entry.name));
    if (files.length === 0) throw new BadInput(path, null, "no file of this format is in it");
    return files.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  });

/** The size of a file in bytes. Throws BadInput if it is missing, no file or empty. */
export function fileSize(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new BadInput(file, null, "no such file");
  if (!stats.isFile()) throw new BadInput(file, null, "this is not a file");
  if (stats.size === 0) throw new BadInput(file, null, "the file is empty");
  return stats.size;
}

/**
 * The rows of a CSV file, gzipped or not, each with the line on which it ends, and the faults of unreadable rows. Only the
 * columns of the format are read; a header without them is refused. A format with its own delimiter has neither header nor
 * quotes. Memory does not grow with the file.
 */
export async function* readCsv(
  file: string,
  { columns: alternatives, delimiter }: Pick<CsvFormat, "columns" | "delimiter">,
  onBytes: OnBytes,
): AsyncGenerator<{ row: Row; line: number } | UnreadableRow> {
  let readTo = 0;
  let hasHeader = delimiter !== undefined;
  let skippedRows = 0;
  let skippedLine = 0;
  const unreadable: UnreadableRow[] = [];
  let openQuote: unknown;
  const inputError = (error: CsvError) => new BadInput(file, lineOf(error, readTo), explain(error));
  const parser = parse({
    bom: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    record_delimiter: ["\r\n", "\n"],
    ...(delimiter === undefined
      ? {
          columns: (header: string[]) => {
            hasHeader = true;
            return columnsOf(file, header, alternatives);
          },
        }
      : { columns: [...(alternatives[0] ?? [])], delimiter, quote: false }),
    // The line is passed with its row, because the parser is ahead of its readers.
    on_record: (row: Row, { lines: line }) => {
      readTo = line;
      return { row, line };
    },
    on_skip: (error) => {
      if (error === undefined) return;
      // An open quote swallowed all rows after it, so the fault is not one row that can be left out.
      if (error.code === "CSV_QUOTE_NOT_CLOSED") {
        openQuote = inputError(error);
        return;
      }
      // One row may have several errors.
      if (parser.info.lines === skippedLine) return;
      skippedLine = parser.info.lines;
      skippedRows += 1;
      const row = { line: lineOf(error, readTo), problem: explain(error) };
      unreadable.push(row);
      // Wakes the reader, so that a file of only bad rows does not fill memory.
      parser.push(row);
    },
  });
  const bytes = await bytesOf(file, onBytes);
  let line = 1;
  bytes.on("error", (error) => parser.destroy(new BadInput(file, line, brokenFile(error))));
  const recordsRead = () => parser.info.records + parser.info.empty_lines + skippedRows;
  boundRecords(bytes, recordsRead, () => parser.destroy(new BadInput(file, readTo + 1, tooLong)));
  bytes.pipe(parser);
  try {
    for await (const result of parser) {
      const row: { row: Row; line: number } | UnreadableRow = result;
      line = row.line;
      // The parser is ahead, so its unreadable rows come before the rows that wait here.
      yield* unreadable.splice(0);
      if (openQuote !== undefined) throw openQuote;
      if ("row" in row) yield row;
    }
  } catch (error) {
    if (error instanceof CsvError) throw inputError(error);
    throw error;
  } finally {
    bytes.destroy();
  }
  if (openQuote !== undefined) throw openQuote;
  if (!hasHeader) throw new BadInput(file, 1, "the file has no header");
}

const tooLong = `no row ends within ${recordBytesMax / 2 ** 20} MB; a quote or a line break may be missing`;

/**
 * Calls `stop` when more bytes than a record may have were read without ending one. The parser's own limit adds up lengths
 * of fields, so a packed file of a few kB could hold a row of millions of empty fields.
 */
function boundRecords(bytes: Readable, recordsRead: () => number, stop: () => void): void {
  let before = 0;
  let since = 0;
  bytes.on("data", (chunk: Buffer) => {
    const now = recordsRead();
    since = now === before ? since + chunk.length : 0;
    before = now;
    if (since > recordBytesMax) stop();
  });
}

/**
 * The rows of a file with tabs between cells, a header and no quotes, like readCsv. A line that does not begin as rows do
 * continues the previous one, because texts contain line breaks.
 */
export async function* readTabs(
  file: string,
  { columns, begins }: Pick<CsvFormat, "columns"> & { begins: RegExp },
  onBytes: OnBytes,
): AsyncGenerator<{ row: Record<string, string>; line: number } | UnreadableRow> {
  let names: (string | false)[] = [];
  let record: { text: string; line: number } | null = null;
  const rowOf = ({ text, line }: { text: string; line: number }) => {
    const cells = text.split("\t");
    const problem = `the row has ${cells.length} fields, the header another number`;
    if (cells.length !== names.length) return { line, problem };
    const entries = names.flatMap((name, at) => (name === false ? [] : [[name, cells[at] ?? ""]]));
    return { line, row: Object.fromEntries(entries) as Record<string, string> };
  };
  for await (const { text, line } of readLines(file, onBytes)) {
    if (names.length === 0) {
      names = columnsOf(file, text.replace(/^\uFEFF/, "").split("\t"), columns);
    } else if (record === null || begins.test(text)) {
      if (record !== null) yield rowOf(record);
      record = { text, line };
    } else if (record.text.length + text.length > recordBytesMax) {
      throw new BadInput(file, record.line, tooLong);
    } else record.text += ` ${text}`;
  }
  if (record !== null) yield rowOf(record);
}

/**
 * The lines of a text file, gzipped or not, counted from 1, without empty lines and lines of spaces. Throws BadInput for a
 * line that is too long.
 */
export async function* readLines(
  file: string,
  onBytes: OnBytes,
): AsyncGenerator<{ text: string; line: number }> {
  const bytes = await bytesOf(file, onBytes);
  let line = 1;
  let pieces: Buffer[] = [];
  let size = 0;
  const keep = (piece: Buffer) => {
    size += piece.length;
    if (size > recordBytesMax) throw new BadInput(file, line, tooLong);
    if (piece.length > 0) pieces.push(piece);
  };
  const takeLine = () => {
    if (size === 0) return { text: "", line: line++ };
    const text = Buffer.concat(pieces).toString().replace(/\r$/, "");
    [pieces, size] = [[], 0];
    return { text, line: line++ };
  };
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        keep(chunk.subarray(from, end));
        from = end + 1;
        const read = takeLine();
        if (isSaid(read)) yield read;
      }
      keep(chunk.subarray(from));
    }
  } catch (error) {
    if (error instanceof BadInput || !(error instanceof Error)) throw error;
    throw new BadInput(file, line, brokenFile(error));
  }
  const last = takeLine();
  if (isSaid(last)) yield last;
}

const isSaid = ({ text }: { text: string }): boolean => /[^ ]/.test(text);

/** The bytes of a text file, unpacked, as UTF-8. */
const bytesOf = async (file: string, onBytes: OnBytes): Promise<Readable> =>
  pipeline(await unpackedBytes(file, onBytes), asUtf8(), () => {});

/**
 * Converts text to UTF-8: a line that is not valid UTF-8 is read as Windows-1252, which some registers use, and zero bytes
 * are dropped. Holds at most one record in memory.
 */
function asUtf8(): Transform {
  const windows = new TextDecoder("windows-1252");
  const clean = (line: Buffer) => (isUtf8(line) ? line : Buffer.from(windows.decode(line)));
  let tail = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const text = chunk.includes(0) ? chunk.filter((byte) => byte !== 0) : chunk;
      const bytes = Buffer.concat([tail, text]);
      const end = bytes.length > recordBytesMax ? bytes.length : bytes.lastIndexOf(10) + 1;
      // Most registers are valid UTF-8 and pass unchanged.
      const isClean = isUtf8(bytes.subarray(0, end));
      for (let from = 0, to = end; from < end; from = to) {
        to = isClean ? end : bytes.indexOf(10, from) + 1 || end;
        this.push(clean(bytes.subarray(from, to)));
      }
      tail = bytes.subarray(end);
      done();
    },
    flush: (done) => done(null, clean(tail)),
  });
}

/** Whether a file is a zip file, by its first bytes, because downloads get renamed. */
export const isZip = async (file: string): Promise<boolean> =>
  (await startOf(file)).toString() === "PK";

async function startOf(file: string): Promise<Buffer> {
  const handle = await open(file).catch((error: Error) => {
    throw new BadInput(file, null, `cannot be read (${error.message})`);
  });
  const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
  await handle.close();
  return buffer;
}

/** The bytes of a file, unpacked if it is gzipped or a zip file with one file. */
export async function unpackedBytes(file: string, onBytes: OnBytes): Promise<Readable> {
  const buffer = await startOf(file);
  if (buffer.toString() === "PK") return zippedBytes(file, onBytes);
  const stream = createReadStream(file);
  stream.on("data", (chunk) => onBytes(chunk.length));
  if (buffer[0] !== 0x1f || buffer[1] !== 0x8b) return stream;
  const gunzip = createGunzip();
  stream.on("error", (error) => gunzip.destroy(error));
  return stream.pipe(gunzip);
}

/** No register unpacks to more. */
const unpackedBytesMax = 8 * 2 ** 30;

/** The files in a zip file, at most two of them. */
async function tablesIn(zip: ZipFile): Promise<Entry[]> {
  const tables: Entry[] = [];
  for await (const entry of zip.eachEntry()) {
    if (!entry.fileName.endsWith("/")) tables.push(entry);
    if (tables.length > 1) break;
  }
  return tables;
}

/** The only file of a zip file; its checksum is compared at the end. */
async function zippedBytes(file: string, onBytes: OnBytes): Promise<Readable> {
  const refuse = (problem: string) => new BadInput(file, null, problem);
  const zip = await openPromise(file, { autoClose: false }).catch((error: Error) => {
    throw refuse(`the zip file is cut short or damaged (${error.message})`);
  });
  const refuseBroken = (error: Error) => {
    zip.close();
    throw refuse(brokenFile(error));
  };
  const tables = await tablesIn(zip).catch(refuseBroken);
  const [table] = tables;
  if (table === undefined || tables.length > 1) {
    zip.close();
    throw refuse("a zip file has to hold one file; unpack it, and give the right one");
  }
  if (table.uncompressedSize > unpackedBytesMax) {
    zip.close();
    throw refuse(`it unpacks to more than ${unpackedBytesMax / 2 ** 30} GB`);
  }
  const share = table.compressedSize / Math.max(table.uncompressedSize, 1);
  let checksum = 0;
  const checksumCheck = new Transform({
    transform: (chunk: Buffer, _, done) => {
      checksum = crc32(chunk, checksum);
      onBytes(chunk.length * share);
      done(null, chunk);
    },
    flush: (done) => done(checksum === table.crc32 ? null : new Error("its checksum is wrong")),
  });
  const packedStream = await zip.openReadStreamPromise(table).catch(refuseBroken);
  return pipeline(packedStream, checksumCheck, () => zip.close());
}

/** The columns to read, under their names; the parser omits the others. */
function columnsOf(
  file: string,
  header: readonly string[],
  alternatives: readonly (readonly string[])[],
): (string | false)[] {
  const names = header.map((column) => column.trim());
  const columnSet = alternatives.find((columns) =>
    columns.every((column) => names.includes(column)),
  );
  if (columnSet !== undefined) {
    return names.map(
      (name, at) => columnSet.includes(name) && names.lastIndexOf(name) === at && name,
    );
  }
  const missingColumns = [...new Set(alternatives[0])].filter((column) => !names.includes(column));
  throw new BadInput(
    file,
    1,
    `wrong columns for this format: ${missingColumns.slice(0, 5).join(", ")}${missingColumns.length > 5 ? ", …" : ""} missing`,
  );
}

// An open quote swallows the rest of the file, so the row after the last good one is to blame.
const lineOf = (error: CsvError, readTo: number): number =>
  error.code === "CSV_QUOTE_NOT_CLOSED" || typeof error["lines"] !== "number"
    ? readTo + 1
    : error["lines"];

const explain = (error: CsvError): string =>
  error.code === "CSV_RECORD_INCONSISTENT_COLUMNS"
    ? `the row has ${String((error["record"] as unknown[] | undefined)?.length ?? "another number of")} fields, the header another number`
    : error.message.replace(/ at line \d+.*$/, "");

export const brokenFile = (error: Error & { code?: string }): string =>
  error.code === "Z_BUF_ERROR" || error.message.includes("unexpected end")
    ? "the gzip file is cut short"
    : `cannot be read (${error.message})`;

/** Input that cannot be imported. The message names the file and, if known, the line or the document. */
export class BadInput extends Error {
  override name = "BadInput";

  constructor(file: string, place: Place, problem: string) {
    const where = typeof place === "number" ? `line ${place}` : place;
    const message = where === null ? `${file}: ${problem}` : `${file}, ${where}: ${problem}`;
    super(forTerminal(message));
  }
}
