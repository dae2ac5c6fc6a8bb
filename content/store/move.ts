import type { InValue } from "@libsql/client";
import { getTableName, is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { z } from "zod";
import type { Queryable, Store, WriteTransaction } from "./open.ts";
import { columnNames } from "./query.ts";
import * as enrichment from "./tables/enrichment.ts";
import * as giving from "./tables/giving.ts";
import * as nonprofits from "./tables/nonprofits.ts";
import * as onboarding from "./tables/onboarding.ts";
import * as operations from "./tables/operations.ts";
import * as publishing from "./tables/publishing.ts";
import * as recommendations from "./tables/recommendations.ts";

/** All tables. `listings` is last, because inserting into it fills the search index from the others. */
export const tables = [
  ...[enrichment, giving, nonprofits, onboarding, operations, publishing, recommendations]
    .flatMap((file): unknown[] => Object.values(file))
    .filter(
      (table): table is SQLiteTable => is(table, SQLiteTable) && table !== nonprofits.listings,
    ),
  nonprofits.listings,
];

/** The file is not a full export, is cut short, or is of another version; or the store is not empty. */
export class NotMovable extends Error {
  override name = "NotMovable";
}

const Header = z.object({
  almoner: z.literal("everything"),
  /** The newest migration of the writer: it must be this version's or that of 0.4.6. */
  schema: z.int(),
  /** The greatest ids that were ever assigned. */
  sequences: z.record(z.string(), z.int()),
});
type Header = z.infer<typeof Header>;
const TableLine = z.object({ table: z.string(), columns: z.array(z.string()) });
const EndLine = z.object({ end: z.literal(true), rows: z.int() });
const Row = z.array(z.union([z.string(), z.number(), z.null()]));

/**
 * The export format of 0.4.6: its newest migration, the tables of 0.4 that no longer exist, and the columns that may no
 * longer be null, with a remedy. All other tables have the same names and columns.
 */
const lastBeforeBaseline = {
  schema: 1_795_758_590_877,
  gone: new Set(["webhook_cursors", "webhook_deliveries"]),
  needed: new Map([
    ["audit_log.hash", "start 0.4.6 once, which puts old entries in the chain, and export again"],
  ]),
};

const rowsAtOnce = 1_000;

/**
 * Every row of every table as lines of JSON: a header; for each table its name, columns and rows; then the number of rows.
 * Reads by primary key; pass a transaction to get the state of one moment. The search index is left out.
 */
export async function* exportTables(
  store: Queryable,
  onRows: (count: number) => void = () => {},
): AsyncGenerator<string> {
  const sequences = await rowsOf(store, "SELECT name, seq FROM sqlite_sequence");
  const header: Header = {
    almoner: "everything",
    schema: await schemaOf(store),
    sequences: Object.fromEntries(sequences.map(([name, seq]) => [String(name), Number(seq)])),
  };
  yield `${JSON.stringify(header)}\n`;
  let count = 0;
  for (const table of tables) {
    const columns = columnNames(table);
    yield `${JSON.stringify({ table: getTableName(table), columns })}\n`;
    for await (const rows of pagesOf(store, table)) {
      count += rows.length;
      onRows(rows.length);
      yield `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`;
    }
  }
  yield `${JSON.stringify({ end: true, rows: count })}\n`;
}

/** All rows of a table, by primary key. SQL, because drizzle cannot compare rows of several columns. */
async function* pagesOf(store: Queryable, table: SQLiteTable): AsyncGenerator<InValue[][]> {
  const columns = columnNames(table);
  const { primaryKeys, columns: described } = getTableConfig(table);
  const primaryColumns = described.filter(({ primary }) => primary);
  const key = (primaryKeys[0]?.columns ?? primaryColumns).map(({ name }) => name);
  const at = key.map((name) => columns.indexOf(name));
  const from = `SELECT ${columns.join(", ")} FROM ${getTableName(table)}`;
  const order = `ORDER BY ${key.join(", ")} LIMIT ${rowsAtOnce}`;
  const after = `WHERE (${key.join(", ")}) > (${key.map(() => "?").join(", ")})`;
  let rows = await rowsOf(store, `${from} ${order}`);
  for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
    yield rows;
    const values = last;
    rows = await rowsOf(
      store,
      `${from} ${after} ${order}`,
      at.map((column) => values[column] ?? null),
    );
  }
}

async function rowsOf({ raw }: Queryable, sql: string, args: InValue[] = []): Promise<InValue[][]> {
  const { rows, columns } = await raw.execute({ sql, args });
  return rows.map((row) => columns.map((_, at) => row[at] ?? null));
}

const schemaOf = async (store: Queryable): Promise<number> =>
  Number((await rowsOf(store, "SELECT max(created_at) FROM __drizzle_migrations"))[0]?.[0] ?? 0);

/**
 * Fills an empty store from an export, row by row, in one transaction, and rebuilds the search index. Returns the number of
 * rows. Throws NotMovable, and then nothing is written.
 */
export const importTables = (
  store: Store,
  lines: AsyncIterable<string>,
  onRows: (count: number) => void = () => {},
): Promise<number> =>
  store.write(async (tx) => {
    const triggers = await rowsOf(
      tx,
      // Drop these triggers meanwhile: they would count rows again or refuse them.
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name NOT LIKE 'search%'",
    );
    await refuseUsed(tx);
    for (const [name] of triggers) await tx.raw.execute(`DROP TRIGGER ${String(name)}`);
    const rows = await readLines(tx, lines, onRows);
    for (const [, sql] of triggers) await tx.raw.execute(String(sql));
    return rows;
  });

async function refuseUsed(tx: WriteTransaction): Promise<void> {
  for (const table of tables) {
    const name = getTableName(table);
    const [[found] = []] = await rowsOf(tx, `SELECT EXISTS (SELECT 1 FROM ${name})`);
    if (found === 1) {
      throw new NotMovable(`the store is not empty: ${name} has rows. Name an empty data folder`);
    }
  }
}

async function readLines(
  tx: WriteTransaction,
  lines: AsyncIterable<string>,
  onRows: (count: number) => void,
): Promise<number> {
  let header: Header | null = null;
  let filling: TableFilling | null = null;
  let count = 0;
  for await (const line of lines) {
    const value = parsed(line);
    if (header === null) {
      header = await headerOf(tx, value);
    } else if (Array.isArray(value)) {
      if (filling === null) throw new NotMovable("a row stands before its table");
      await filling.add(shaped(Row, value));
      if (++count % rowsAtOnce === 0) onRows(count);
    } else {
      await filling?.end();
      const end = EndLine.safeParse(value);
      if (end.success) {
        if (end.data.rows !== count) throw new NotMovable("rows are missing");
        await setSequences(tx, header);
        return count;
      }
      const table = shaped(TableLine, value);
      filling = isGone(header, table.table) ? leftOut : fillTable(tx, table);
    }
  }
  throw new NotMovable("the file is empty or cut short");
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new NotMovable("the file is cut short, or holds a line that is not JSON");
  }
}

function shaped<Value>(shape: z.ZodType<Value>, value: unknown): Value {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  throw new NotMovable("the file holds a line that is neither a table nor a row");
}

async function headerOf(tx: WriteTransaction, value: unknown): Promise<Header> {
  const header = Header.safeParse(value);
  if (!header.success) throw new NotMovable("the file was not written by `bun run export --all`");
  if (![lastBeforeBaseline.schema, await schemaOf(tx)].includes(header.data.schema)) {
    throw new NotMovable(
      "the file was written by another version: export with this one, or with 0.4.6",
    );
  }
  return header.data;
}

const isGone = ({ schema }: Header, table: string): boolean =>
  schema === lastBeforeBaseline.schema && lastBeforeBaseline.gone.has(table);

/** Ignores the rows of a table that no longer exists. */
const leftOut: TableFilling = { add: async () => {}, end: async () => {} };

/** The number of parameters that every SQLite allows in a statement. */
const parametersMax = 999;

type TableFilling = { add(row: InValue[]): Promise<void>; end(): Promise<void> };

/** Does not use `insertMany`, which sends numbers as JSON and could change them. */
function fillTable(
  tx: WriteTransaction,
  { table, columns }: z.infer<typeof TableLine>,
): TableFilling {
  const sqlTable = tables.find((each) => getTableName(each) === table);
  const names = new Set<string>(sqlTable === undefined ? [] : columnNames(sqlTable));
  if (columns.length === 0 || columns.some((name) => !names.has(name))) {
    throw new NotMovable(`${table} is no table of this version, or has other columns`);
  }
  const perStatement = Math.floor(parametersMax / columns.length);
  const places = `(${columns.map(() => "?").join(", ")})`;
  const needed = columns.flatMap((column, at): [number, string][] => {
    const remedy = lastBeforeBaseline.needed.get(`${table}.${column}`);
    return remedy === undefined ? [] : [[at, remedy]];
  });
  let waiting: InValue[][] = [];
  const flush = async () => {
    if (waiting.length === 0) return;
    const values = waiting.map(() => places).join(", ");
    const sql = `INSERT INTO ${table} (${columns.join(", ")}) VALUES ${values}`;
    await tx.raw.execute({ sql, args: waiting.flat() });
    waiting = [];
  };
  return {
    add: async (row: InValue[]) => {
      if (row.length !== columns.length) throw new NotMovable(`a row of ${table} is cut short`);
      for (const [at, remedy] of needed) {
        if (row[at] === null) throw new NotMovable(`${table}.${columns[at]} is missing: ${remedy}`);
      }
      waiting.push(row);
      if (waiting.length === perStatement) await flush();
    },
    end: flush,
  };
}

/** Ids of deleted rows must not be assigned again. */
async function setSequences(tx: WriteTransaction, header: Header) {
  await tx.raw.execute("DELETE FROM sqlite_sequence");
  for (const [name, seq] of Object.entries(header.sequences)) {
    if (isGone(header, name)) continue;
    const args = [name, seq];
    // The column has no type, and the driver binds numbers as REAL.
    const sql = "INSERT INTO sqlite_sequence (name, seq) VALUES (?, CAST(? AS INTEGER))";
    await tx.raw.execute({ sql, args });
  }
}
