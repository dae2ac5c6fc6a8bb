import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import type { SchemaElement } from "hyparquet";
import about from "#content/editorial/data-package.json";
import { csvLine } from "#content/contract/base/csv.ts";
import {
  csvFields,
  csvRow,
  detailFields,
  type Field,
  flatValue,
  type Row,
  schemaOf,
} from "./detail-fields.ts";

/** The lines of a gzip file of text. Only a line feed ends one: JSON may hold other separators. */
export async function* linesIn(file: string): AsyncGenerator<string> {
  const text = createGunzip();
  pipeline(createReadStream(file), text).catch(() => {}); // Reading `text` throws it, too.
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of text) {
    const lines = (rest + decoder.decode(piece as Uint8Array, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

/** The details of such a file, as who reads their JSON has them. */
export async function* detailsIn<Detail = Row>(file: string): AsyncGenerator<Detail> {
  for await (const line of linesIn(file)) yield JSON.parse(line) as Detail;
}

/** Packs what is read. Node's gzip header holds no time: equal content gives equal bytes. */
export const pack = (from: AsyncIterable<string | Uint8Array>, to: string): Promise<void> =>
  pipeline(from, createGzip({ level: 6 }), createWriteStream(to));

/** Writes the details of a file as CSV, one line each; both are packed. Answers the schema. */
export async function writeCsv(from: string, to: string) {
  async function* text() {
    yield csvLine(csvFields.map(({ name }) => name));
    for await (const detail of detailsIn(from)) yield csvRow(detail);
  }
  await pack(text(), to);
  return schemaOf(csvFields);
}

/** Rows and characters of JSON in a row group at most: these are in memory. */
const groupMax = { rows: 5_000, characters: 16_000_000 };
const { text: asText, ...types } = about.types.parquet;

/** Writes the details of a packed file as Parquet. Answers the schema. */
export async function writeParquet(from: string, to: string) {
  const columns = detailFields.map(({ name, kind }) => ({
    name,
    repetition_type: "OPTIONAL",
    ...(new Map<string, object>(Object.entries(types)).get(kind) ?? asText),
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
  for await (const line of linesIn(from)) {
    rows.push(JSON.parse(line) as Row);
    characters += line.length;
    if (rows.length >= groupMax.rows || characters >= groupMax.characters) await flush();
  }
  await flush();
  await parquet.finish();
  return schemaOf(detailFields);
}
