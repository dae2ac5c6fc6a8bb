import { Database } from "bun:sqlite";
import type { SchemaElement } from "hyparquet";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { createReadStream, createWriteStream, mkdirSync, rmSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { csvLine } from "#content/contract/base/csv.ts";
import {
  type DataPackage,
  type DataResource,
  type DataSource,
  feedPaths,
} from "#content/contract/feed.ts";
import type { NonprofitDetail, RegisterFacts } from "#content/contract/nonprofit.ts";
import about from "#content/editorial/data-package.json";
import { countryCode } from "#content/nonprofit/country.ts";
import { sha256OfFile } from "#content/runtime/digest.ts";
import type { Blobs, StoredContent } from "#site/bundle/blobs.ts";
import type { Manifest, NewFile } from "#site/bundle/manifest.ts";
import { snapshotParts, snapshotPieces, snapshotState } from "#site/bundle/snapshot.ts";
import {
  type Field,
  type Row,
  detailFields,
  flatValue,
  schemaOf,
  csvFields,
  csvRow,
} from "./detail-fields.ts";

/** Files of /data in the blobs, not published yet; `parts` is the mark of the snapshot from which they were made. */
export type DataFileSet = { parts: string; files: NewFile[]; dataPackage: DataPackage };

/** A larger directory also has files for each country and register with at least a twentieth of this many profiles. */
const splitAboveDefault = 20_000;

/** Each writes a file from details, and returns what the data package says about its content. */
const writers = { csv: writeCsv, ndjson: writeLines, parquet: writeParquet, sqlite: writeSqlite };
const allFormats = Object.keys(writers) as (keyof typeof writers)[];

/** NDJSON comes first: the other files of a slice are made from it. */
const sliceFormats = ["ndjson", "csv", "parquet"] as const;
type Format = keyof typeof writers;

/** A task to write files, named from `to`, of the details in a slice; `from` holds all details as packed NDJSON. */
export type DataTask = { from: string; slice: string; formats: readonly Format[]; to: string };
/** `content`: what the data package says about it. */
export type DataFile = StoredContent & {
  slice: string;
  format: Format;
  file: string;
  content: object;
};

/** Writes files of /data, with at most some thousand details in memory. */
export async function writeDataFiles({ from, slice, formats, to }: DataTask): Promise<DataFile[]> {
  const files: DataFile[] = [];
  let details = () => (slice === whole ? detailsIn(from) : within(slice, from));
  for (const format of formats) {
    const file = `${to}.${format}`;
    const content = await writers[format](details(), file);
    if (format === "ndjson") details = () => detailsIn(file);
    const digest = await sha256OfFile(file);
    files.push({ slice, format, file, content, digest, size: Bun.file(file).size });
  }
  return files;
}

async function writeHere(tasks: readonly DataTask[]): Promise<DataFile[]> {
  const files: DataFile[] = [];
  for (const task of tasks) files.push(...(await writeDataFiles(task)));
  return files;
}

type DataOptions = {
  splitAbove?: number;
  /** Writes the files of a directory above `splitAbove`, for example in other processes. */
  writeLarge?: typeof writeHere;
};

/** Makes the files of /data from the parts of the snapshot, so they contain all details. */
export async function makeData(
  { manifest, blobs, baseUrl }: { manifest: Manifest; blobs: Blobs; baseUrl: string },
  { splitAbove = splitAboveDefault, writeLarge = writeHere }: DataOptions = {},
): Promise<DataFileSet> {
  const folder = blobs.draftPath();
  mkdirSync(folder);
  const files: NewFile[] = [];
  const resources: DataResource[] = [];
  const { mark } = snapshotState(manifest);
  try {
    const from = `${folder}/all`;
    await pipeline(snapshotPieces(blobs, snapshotParts(manifest)), createWriteStream(from));
    const slices = await slicesIn(from, splitAbove);
    const tasks = [...slices.keys()].flatMap((slice): DataTask[] => {
      const to = `${from}-${slice.replace("/", "-")}`;
      return slice === whole
        ? allFormats.map((format) => ({ from, slice, formats: [format], to }))
        : [{ from, slice, formats: sliceFormats, to }];
    });
    const write = (slices.get(whole)?.rows ?? 0) > splitAbove ? writeLarge : writeHere;
    for (const file of await write(tasks)) {
      const resource = resourceOf(file, slices.get(file.slice) ?? emptySlice());
      resources.push(resource);
      files.push({ ...blobs.adopt(file.file, file), path: feedPaths.data + resource.path });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const dataPackage = { ...about.package, homepage: `${baseUrl}/data`, resources };
  const body = Buffer.from(`${JSON.stringify(dataPackage, null, 1)}\n`);
  files.push({ path: feedPaths.dataPackage, ...blobs.put(body, feedPaths.dataPackage) });
  return { parts: mark, files, dataPackage };
}

/** The data package's entry for a file. */
function resourceOf(
  { slice, format, digest, size, content }: DataFile,
  { title, rows, sources: tally }: Slice,
): DataResource {
  const sources = [...tally.values()].sort((a, b) => b.rows - a.rows);
  const licenses = [...new Map(sources.map(({ licence }) => [licence.path, licence])).values()];
  const { ending, ...kind } = about.formats[format];
  return {
    name: `${slice.replace("/", "-")}-${format}`,
    path: slice + ending,
    title,
    format,
    ...kind,
    rows,
    sources,
    ...content,
    // A Data Package may not have an empty list.
    ...(licenses.length > 0 && { licenses }),
    bytes: size,
    hash: `sha256:${digest}`,
  };
}

async function writeLines(details: AsyncIterable<Line>, to: string) {
  async function* text() {
    for await (const { line } of details) yield `${line}\n`;
  }
  await pack(text(), to);
  return schemaOf(detailFields, { json: true });
}

/** A part of the directory with files of its own: the whole, a country or a register. */
type Slice = { title: string; rows: number; sources: Map<string, DataSource> };
const emptySlice = (title = ""): Slice => ({ title, rows: 0, sources: new Map() });
const whole = "nonprofits";

/** The slices that contain a nonprofit: the path of their files, and their title. The whole is the first. */
function slicesOf({ country, register_facts }: NonprofitDetail): Map<string, string> {
  const code = countryCode(country ?? "")?.toLowerCase();
  return new Map([
    [whole, ""],
    ...(code && country ? [[`countries/${code}`, country] as const] : []),
    ...register_facts.map((fact) => [`registers/${fact.register}`, fact.register_name] as const),
  ]);
}

async function* within(slice: string, file: string): AsyncGenerator<Line> {
  for await (const { line, detail } of detailsIn<NonprofitDetail>(file))
    if (slicesOf(detail).has(slice)) yield { line, detail };
}

/** The slices that get files, the whole first. */
async function slicesIn(file: string, splitAbove: number): Promise<Map<string, Slice>> {
  const slices = new Map<string, Slice>([[whole, emptySlice()]]);
  for await (const { detail } of detailsIn<NonprofitDetail>(file)) {
    const facts = new Map(detail.register_facts.map((fact) => [fact.register, fact]));
    for (const [path, title] of slicesOf(detail)) {
      const slice = slices.getOrInsert(path, emptySlice(title));
      slice.rows++;
      for (const [id, fact] of facts)
        slice.sources.set(id, sourceOf(fact, (slice.sources.get(id)?.rows ?? 0) + 1));
    }
  }
  const all = slices.get(whole)?.rows ?? 0;
  const isSplit = (rows: number) => all > splitAbove && rows >= splitAbove / 20 && rows < all;
  const sorted = [...slices]
    .filter(([path, { rows }]) => path === whole || isSplit(rows))
    .toSorted(([a], [b]) => Number(b === whole) - Number(a === whole) || (a < b ? -1 : 1));
  return new Map(sorted);
}

const sourceOf = (fact: RegisterFacts, rows: number): DataSource => ({
  name: fact.register,
  title: fact.register_name,
  rows,
  attribution: fact.attribution,
  licence: { title: fact.licence.name, path: fact.licence.url },
});

/** Raise it when a query for today's tables would fail. */
const version = 1;
const sqliteTypes: Readonly<Record<string, string>> = about.types.sqlite;

/** `fields` excludes those of the primary key. */
type Table = { name: string; keys: Field[]; fields: Field[]; rows: number };
type AddRow = (key: readonly (number | string)[], row: Row) => void;

/**
 * Writes details as a packed SQLite file: items get tables of their own, other lists and objects are JSON. Leaves
 * `${to}-plain` behind. Equal details give equal bytes with one version of SQLite. Returns the schemas.
 */
export async function writeSqlite(from: AsyncIterable<Line>, to: string) {
  const tables = await fillDatabase(from, `${to}-plain`);
  await pack(createReadStream(`${to}-plain`), to);
  return {
    tables: tables.map(({ name, rows, keys, fields }) => {
      const primaryKey = keys.map((key) => key.name);
      return { name, rows, ...schemaOf([...keys, ...fields], { primaryKey }) };
    }),
  };
}

async function fillDatabase(from: AsyncIterable<Line>, file: string): Promise<Table[]> {
  using db = new Database(file, { create: true, strict: true });
  // An unfinished file is thrown away, so no journal is needed on disk. Bun's SQLite refuses OFF.
  db.run(
    `PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA user_version = ${version}`,
  );
  db.run("BEGIN");
  const tables: Table[] = [];
  const fields = detailFields.filter(({ name }) => name !== "id");
  const add = openTable(db, tables, { name: "nonprofits", keys: [keyOf("id")], fields });
  for await (const { detail } of from) add([Number(detail["id"])], detail);
  for (const index of about.indexes) db.run(`CREATE ${index}`);
  db.run("COMMIT");
  return tables;
}

const keyOf = (name: string, kind = "integer"): Field => ({ name, kind });
const isTable = ({ kind }: Field) => kind === "items" || kind === "record";

/** Makes a table and the tables of its items; returns a function that adds a row with its items. */
function openTable(db: Database, tables: Table[], of: Omit<Table, "rows">): AddRow {
  const { name, keys } = of;
  const fields = of.fields.filter((field) => !isTable(field));
  const table = { name, keys, fields, rows: 0 };
  tables.push(table);
  const columns = [...keys, ...fields].map(
    ({ name: column, kind }) => `"${column}" ${sqliteTypes[kind] ?? "TEXT"}`,
  );
  const primaryKey = `PRIMARY KEY (${keys.map((key) => key.name).join(", ")})`;
  db.run(`CREATE TABLE ${name} (${[...columns, primaryKey].join(", ")}) STRICT, WITHOUT ROWID`);
  const adding = db.query(`INSERT INTO ${name} VALUES (${columns.map(() => "?").join(", ")})`);
  const isRoot = keys.length === 1;
  const inner = of.fields.filter(isTable).map((field) => {
    const position = keyOf(isRoot ? "position" : "item");
    const items = {
      name: isRoot ? field.name : `${name}_${field.name}`,
      keys: [
        ...(isRoot ? [keyOf("nonprofit_id")] : keys),
        field.kind === "record" ? keyOf("field", "string") : position,
      ],
      fields: field.fields ?? [],
    };
    return { list: field.name, add: openTable(db, tables, items) };
  });
  return (key, row) => {
    adding.run(...key, ...fields.map((field) => flatValue(field, row[field.name])));
    table.rows++;
    for (const { list, add } of inner) {
      const isList = Array.isArray(row[list]);
      for (const [at, item] of Object.entries((row[list] ?? {}) as Record<string, Row>)) {
        add([...key, isList ? Number(at) : at], item);
      }
    }
  };
}

/** The lines of a gzip file of text. Only a line feed ends a line, because JSON may contain other separators. */
export async function* linesIn(file: string): AsyncGenerator<string> {
  const text = createGunzip({ chunkSize: 2 ** 17 });
  pipeline(createReadStream(file), text).catch(() => {}); // Reading `text` throws the same error.
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of text) {
    const lines = (rest + decoder.decode(piece as Uint8Array, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

/** A line of JSON and the detail in it, which is parsed only when it is read. */
export type Line<Detail = Row> = { line: string; readonly detail: Detail };

export async function* detailsIn<Detail = Row>(file: string): AsyncGenerator<Line<Detail>> {
  for await (const line of linesIn(file)) {
    yield {
      line,
      get detail() {
        return JSON.parse(line) as Detail;
      },
    };
  }
}

/** Compresses to a gzip file. Node's gzip header has no time, so equal content gives equal bytes. */
export const pack = (from: AsyncIterable<string | Uint8Array>, to: string): Promise<void> =>
  pipeline(from, createGzip({ level: 6 }), createWriteStream(to));

/** Writes details as packed CSV, one line each. Returns the schema. */
export async function writeCsv(from: AsyncIterable<Line>, to: string) {
  async function* text() {
    yield csvLine(csvFields.map(({ name }) => name));
    for await (const { detail } of from) yield csvRow(detail);
  }
  await pack(text(), to);
  return schemaOf(csvFields);
}

/** The most rows and characters of JSON in a row group, which is held in memory. */
const groupMax = { rows: 5_000, characters: 6_000_000 };
const { text: asText, ...parquetTypes } = about.types.parquet;

/** Writes details as Parquet. Returns the schema. */
export async function writeParquet(from: AsyncIterable<Line>, to: string) {
  const columns = detailFields.map(({ name, kind }) => ({
    name,
    repetition_type: "OPTIONAL",
    ...(new Map<string, object>(Object.entries(parquetTypes)).get(kind) ?? asText),
  }));
  const root = { name: "nonprofits", num_children: columns.length };
  const schema = [root, ...columns] as SchemaElement[];
  const parquet = new ParquetWriter({ writer: fileWriter(to), schema, createdBy: "almoner" });
  let rows: Row[] = [];
  let characters = 0;
  const valueOf = (field: Field, row: Row) => {
    const value = flatValue(field, row[field.name]);
    return field.kind === "integer" && value !== null ? BigInt(value) : value;
  };
  const flush = async () => {
    const dataOf = (field: Field) => rows.map((row) => valueOf(field, row));
    const columnData = detailFields.map((field) => ({ name: field.name, data: dataOf(field) }));
    await parquet.write({ columnData, rowGroupSize: groupMax.rows });
    [rows, characters] = [[], 0];
  };
  for await (const { line, detail } of from) {
    rows.push(detail);
    characters += line.length;
    if (rows.length >= groupMax.rows || characters >= groupMax.characters) await flush();
  }
  await flush();
  await parquet.finish();
  return schemaOf(detailFields);
}
