import type { InValue } from "@libsql/client";
import { type Column, type Query, type SQL, getTableColumns, getTableName, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { z } from "zod";
import type { Queryable, WriteTransaction } from "./open.ts";
import { drizzle } from "drizzle-orm/libsql";

/**
 * The rows of a query in SQL, each parsed by its shape: for hot paths that say why drizzle is too slow there, or for
 * what drizzle cannot say. A column that is renamed fails here, with its name. Parsing costs 0.2 to 0.5 µs a row.
 */
export async function query<Row>(
  store: Queryable,
  text: string,
  args: readonly InValue[],
  shape: z.ZodType<Row>,
): Promise<Row[]> {
  const { rows } = await store.raw.execute({ sql: text, args: [...args] });
  return rows.map((row) => shape.parse(row));
}

/**
 * The row that a query answers to these arguments; undefined for none. The query answers many such askings at once:
 * its parameter is a JSON array of their arguments, and each row tells in its column `asked` to which it belongs, from 0.
 */
export async function queryEach<Row>(
  store: Queryable,
  text: string,
  args: InValue[],
  shape: z.ZodType<Row>,
): Promise<Row | undefined> {
  const alone = async () =>
    (await store.raw.execute({ sql: text, args: [JSON.stringify([args])] })).rows[0];
  const row = await (store.each?.(text, args) ?? alone());
  return row === undefined ? undefined : shape.parse(row);
}

/** The shape of these columns of a table, for `query`: the table says what their values are. */
export const rowShape = <
  Table extends SQLiteTable,
  Name extends keyof Table["$inferSelect"] & string,
>(
  table: Table,
  names: readonly Name[],
): z.ZodType<Pick<Table["$inferSelect"], Name>> => rowShapeWith(table, names, {});

/** The same with what a statement computes beside the columns. */
export function rowShapeWith<
  Table extends SQLiteTable,
  Name extends keyof Table["$inferSelect"] & string,
  Others extends Readonly<Record<string, z.ZodType>>,
>(table: Table, names: readonly Name[], others: Others) {
  const columns = getTableColumns(table);
  const valueOf = (name: Name): z.ZodType => {
    const value = columns[name]?.dataType === "number" ? z.number() : z.string();
    return columns[name]?.notNull === true ? value : value.nullable();
  };
  const ownShapes = Object.fromEntries(names.map((name) => [name, valueOf(name)]));
  const shape: z.ZodType = z.object({ ...ownShapes, ...others });
  return shape as z.ZodType<
    Pick<Table["$inferSelect"], Name> & { [Other in keyof Others]: z.infer<Others[Other]> }
  >;
}

/**
 * `column IN (...)` with one JSON parameter: one text of a statement for any number of values, and no limit on their
 * number. For drizzle's `where`.
 */
export const inValues = (column: Column | SQL, values: readonly (string | number)[]): SQL =>
  sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`;

const rowsPerStatement = 1_000;

/** The columns of a table, in its order. */
export const columnNames = <Table extends SQLiteTable>(table: Table) =>
  Object.keys(getTableColumns(table)) as (keyof Table["$inferSelect"] & string)[];

/** Tells of each of these columns whether it holds JSON. */
function kindsOf<Name extends string>(table: SQLiteTable, columns: readonly Name[]) {
  const kinds = getTableColumns(table);
  return columns.map((name) => ({ name, isJson: kinds[name]?.dataType === "json" }));
}

/**
 * The statements that insert many rows, 1,000 each, as one JSON parameter: with an embedded file this took half the time of
 * VALUES lists, and it knows no limit on the number of parameters. The columns are those that any row names: null where
 * a row lacks one; what is no column is left out. `orElse` is a conflict clause.
 */
export function insertsOf<Table extends SQLiteTable>(
  table: Table,
  rows: readonly Table["$inferInsert"][],
  orElse = "",
): Statement[] {
  const named = new Set<string>();
  for (const row of rows) for (const name in row) named.add(name);
  const names = columnNames(table).filter((name) => named.has(name));
  const columns = kindsOf(table, names);
  // Of an object or an array within, `->>` gives its JSON.
  const picked = columns.map((_, at) => `value ->> ${at}`).join(", ");
  const sqlText = `INSERT INTO ${getTableName(table)} (${names.join(", ")}) SELECT ${picked} FROM json_each(?) WHERE true ${orElse}`;
  const cells = (row: Record<string, unknown>) =>
    columns.map(({ name, isJson }) => {
      const value = row[name] ?? null;
      return isJson && value !== null && typeof value !== "object" ? JSON.stringify(value) : value;
    });
  const statements: Statement[] = [];
  for (let at = 0; at < rows.length; at += rowsPerStatement) {
    const json = JSON.stringify(rows.slice(at, at + rowsPerStatement).map(cells));
    statements.push({ sql: sqlText, args: [json] });
  }
  return statements;
}

/** Does `insertsOf`. Answers how many rows were inserted or updated. */
export async function insertMany<Table extends SQLiteTable>(
  tx: WriteTransaction,
  table: Table,
  rows: readonly Table["$inferInsert"][],
  orElse = "",
): Promise<number> {
  let written = 0;
  for (const insert of insertsOf(table, rows, orElse)) {
    written += (await tx.raw.execute(insert)).rowsAffected;
  }
  return written;
}

/** The number that the next row of a table with AUTOINCREMENT gets, for a write that names it. Source: SQLite, "Autoincrement". */
export async function nextId(store: Queryable, table: SQLiteTable): Promise<number> {
  const name = getTableName(table);
  const { rows } = await store.raw.execute(`SELECT 1 + max(
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = '${name}'), 0),
    coalesce((SELECT max(rowid) FROM ${name}), 0)
  ) AS next`);
  return Number(rows[0]?.["next"]);
}

/** Counts what a query finds, at most `max`: a count that an operator sees need not walk through a million rows. */
export async function countUpTo(store: Queryable, max: number, rowsSql: string): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: `SELECT count(*) AS found FROM (${rowsSql} LIMIT ?)`,
    args: [max],
  });
  return Number(rows[0]?.["found"] ?? 0);
}

/** Columns as one JSON object, in SQL. */
export const jsonOf = (columns: readonly string[]): string =>
  `json_object(${columns.map((column) => `'${column}', ${column}`).join(", ")})`;

/** A column of JSON text, parsed. */
export const jsonText = <Shape extends z.ZodType>(shape: Shape) =>
  z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(shape);

/**
 * Many rows as one JSON text of arrays, in SQL, for `rowsFromJson`: over each row and each cell the driver takes longer
 * than over all the rest.
 */
export const rowsAsJson = (columns: readonly string[]): string =>
  `json_group_array(json_array(${columns.join(", ")}))`;

/**
 * The rows of such a text as objects with these columns of a table, which says what their values are: to check each
 * value of a bulk read would take longer than to read it.
 */
export function rowsFromJson<
  Table extends SQLiteTable,
  Name extends keyof Table["$inferSelect"] & string,
>(table: Table, columns: readonly Name[], text: unknown): Pick<Table["$inferSelect"], Name>[] {
  const read = kindsOf(table, columns);
  return (JSON.parse(String(text ?? "[]")) as unknown[][]).map((values) => {
    const row: Record<string, unknown> = {};
    for (const [at, { name, isJson }] of read.entries()) {
      row[name] = isJson ? JSON.parse(String(values[at])) : values[at];
    }
    return row as Pick<Table["$inferSelect"], Name>;
  });
}

/** A statement that changes something, with its values, as libSQL takes it: to be done in a transaction or sent in a batch. */
export type Statement = { readonly sql: string; readonly args: InValue[] };

/** What builds statements in drizzle's words. It has no store, so it does none of them. */
export const builder: Pick<WriteTransaction["db"], "insert" | "update" | "delete" | "select"> =
  drizzle.mock();

/** What was built, as a statement. */
export function statement(built: { toSQL(): Query }): Statement {
  const { sql: text, params } = built.toSQL();
  // They were encoded for the columns they are for.
  return { sql: text, args: params as InValue[] };
}

/** Does statements one after another. */
export async function doAll(tx: WriteTransaction, statements: readonly Statement[]): Promise<void> {
  for (const step of statements) await tx.raw.execute(step);
}
