import { createReadStream } from "node:fs";
import { Database } from "bun:sqlite";
import about from "#content/editorial/data-package.json";
import { detailFields, type Field, flatValue, type Row, schemaOf } from "./detail-fields.ts";
import { type Line, pack } from "./table-files.ts";

/** Goes up when a query of today would fail. */
const version = 1;
const types: Readonly<Record<string, string>> = about.types.sqlite;

/** `fields` are without those of the primary key. */
type Table = { name: string; keys: Field[]; fields: Field[]; rows: number };
type AddRow = (key: readonly (number | string)[], row: Row) => void;

/**
 * Writes details as a packed SQLite file: items stand in tables of their own, other lists and objects
 * are JSON. Leaves `${to}-plain` behind. Equal details give equal bytes from one version of SQLite. Answers the schemas.
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
  // Half of a file is thrown away: nothing is kept to go back to. Bun's SQLite refuses OFF.
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

/** Makes a table and those of the items in it; answers what adds a row with its items. */
function openTable(db: Database, tables: Table[], of: Omit<Table, "rows">): AddRow {
  const { name, keys } = of;
  const fields = of.fields.filter((field) => !isTable(field));
  const table = { name, keys, fields, rows: 0 };
  tables.push(table);
  const columns = [...keys, ...fields].map(
    ({ name: column, kind }) => `"${column}" ${types[kind] ?? "TEXT"}`,
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
