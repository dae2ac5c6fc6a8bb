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

/** A detail, as who reads its JSON has it, and that JSON. */
export type Line<Detail = Row> = { line: string; detail: Detail };

export async function* detailsIn<Detail = Row>(file: string): AsyncGenerator<Line<Detail>> {
  for await (const line of linesIn(file)) yield { line, detail: JSON.parse(line) as Detail };
}

/** Packs what is read. Node's gzip header holds no time: equal content gives equal bytes. */
export const pack = (from: AsyncIterable<string | Uint8Array>, to: string): Promise<void> =>
  pipeline(from, createGzip({ level: 6 }), createWriteStream(to));

/** Writes details as packed CSV, one line each. Answers the schema. */
export async function writeCsv(from: AsyncIterable<Line>, to: string) {
  async function* text() {
    yield csvLine(csvFields.map(({ name }) => name));
    for await (const { detail } of from) yield csvRow(detail);
  }
  await pack(text(), to);
  return schemaOf(csvFields);
}

/** Rows and characters of JSON in a row group at most: these are in memory. */
const groupMax = { rows: 5_000, characters: 6_000_000 };
const { text: asText, ...types } = about.types.parquet;

/** Writes details as Parquet. Answers the schema. */
export async function writeParquet(from: AsyncIterable<Line>, to: string) {
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
  for await (const { line, detail } of from) {
    rows.push(detail);
    characters += line.length;
    if (rows.length >= groupMax.rows || characters >= groupMax.characters) await flush();
  }
  await flush();
  await parquet.finish();
  return schemaOf(detailFields);
}
