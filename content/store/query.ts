import type { InValue } from "@libsql/client";
import {
  type Column,
  type GetColumnData,
  type Query,
  type SQL,
  getTableColumns,
  getTableName,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { z } from "zod";
import type { Queryable, WriteTransaction } from "./open.ts";
import { drizzle } from "drizzle-orm/libsql";

/**
 * The rows of an SQL query, each parsed by its shape: for hot paths where drizzle is too slow, and for what drizzle cannot
 * express. A renamed column fails here with its name. Parsing costs 0.2 to 0.5 µs a row.
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
 * The row that a query returns for these arguments; undefined if there is none. Calls at the same time share one execution:
 * its parameter is a JSON array of their arguments, and the column `call_index` of each row is the index of its call.
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

/** The shape of some columns of a table, for `query`; the table determines the types. */
export const rowShape = <
  Table extends SQLiteTable,
  Name extends keyof Table["$inferSelect"] & string,
>(
  table: Table,
  names: readonly Name[],
): z.ZodType<Pick<Table["$inferSelect"], Name>> => rowShapeWith(table, names, {});

/** `rowShape` with values that the statement computes. */
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
 * `column IN (...)` with one JSON parameter, for drizzle's `where`: the SQL is the same for any number of values, and their
 * number is unlimited.
 */
export const inValues = (column: Column | SQL, values: readonly (string | number)[]): SQL =>
  sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`;

/** The values of a column in the rows that match, in the order of `by`. */
export async function valuesOf<Of extends SQLiteColumn>(
  { db }: Pick<Queryable, "db">,
  column: Of,
  which?: SQL,
  { by, limit = -1 }: { by?: SQL | SQLiteColumn; limit?: number } = {},
): Promise<GetColumnData<Of>[]> {
  const rows = await db
    .select({ value: column })
    .from(column.table)
    .where(which)
    .orderBy(...(by === undefined ? [] : [by]))
    .limit(limit);
  return rows.map(({ value }) => value as GetColumnData<Of>);
}

const rowsPerStatement = 1_000;

/** The columns of a table, in its order. */
export const columnNames = <Table extends SQLiteTable>(table: Table) =>
  Object.keys(getTableColumns(table)) as (keyof Table["$inferSelect"] & string)[];

/** Whether each of these columns holds JSON. */
function kindsOf<Name extends string>(table: SQLiteTable, columns: readonly Name[]) {
  const kinds = getTableColumns(table);
  return columns.map((name) => ({ name, isJson: kinds[name]?.dataType === "json" }));
}

/**
 * Statements that insert many rows, 1,000 each, as one JSON parameter. With an embedded file this takes half the time of
 * VALUES lists, and the number of parameters is unlimited. The columns are those that any row has; missing values are null,
 * other members are ignored. `orElse` is a conflict clause.
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
  // `->>` returns nested objects and arrays as JSON.
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

/** Runs `insertsOf`. Returns how many rows were inserted or updated. */
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

/** The next id of a table with AUTOINCREMENT, for a write that needs it in advance. Source: SQLite, "Autoincrement". */
export async function nextId(store: Queryable, table: SQLiteTable): Promise<number> {
  const name = getTableName(table);
  const { rows } = await store.raw.execute(`SELECT 1 + max(
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = '${name}'), 0),
    coalesce((SELECT max(rowid) FROM ${name}), 0)
  ) AS next`);
  return Number(rows[0]?.["next"]);
}

/** Counts the rows of a query up to `max`, so that a count for operators does not walk through a million rows. */
export async function countUpTo(store: Queryable, max: number, rowsSql: string): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: `SELECT count(*) AS found FROM (${rowsSql} LIMIT ?)`,
    args: [max],
  });
  return Number(rows[0]?.["found"] ?? 0);
}

/** SQL for columns as one JSON object. */
export const jsonOf = (columns: readonly string[]): string =>
  `json_object(${columns.map((column) => `'${column}', ${column}`).join(", ")})`;

export const jsonText = <Shape extends z.ZodType>(shape: Shape) =>
  z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(shape);

/**
 * SQL for many rows as one JSON text of arrays, read by `rowsFromJson`: handling each row and cell in the driver takes
 * longer than everything else.
 */
export const rowsAsJson = (columns: readonly string[]): string =>
  `json_group_array(json_array(${columns.join(", ")}))`;

/**
 * Parses such a text into objects with these columns. The table determines the types; values are not checked, which would
 * take longer than reading them.
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

/** A statement that changes something, with its values: to run in a transaction or send in a batch. */
export type Statement = { readonly sql: string; readonly args: InValue[] };

/** Builds statements with drizzle. It has no store, so it cannot run them. */
export const builder: Pick<WriteTransaction["db"], "insert" | "update" | "delete" | "select"> =
  drizzle.mock();

/** Converts a drizzle statement. */
export function statement(built: { toSQL(): Query }): Statement {
  const { sql: text, params } = built.toSQL();
  // Drizzle has already encoded them for their columns.
  return { sql: text, args: params as InValue[] };
}

export async function doAll(tx: WriteTransaction, statements: readonly Statement[]): Promise<void> {
  for (const step of statements) await tx.raw.execute(step);
}
