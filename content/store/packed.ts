import type { Row } from "@libsql/client";

/**
 * Columns packed into one, for statements that run thousands of times a second: the embedded driver describes each
 * column of each statement to JavaScript, 3.5 µs apiece, which for a table of 19 is more than the query itself.
 */
export const packed = (columns: readonly string[]): string => `${jsonOf(columns)} AS packed`;

/** Columns as one JSON object, in SQL. */
export const jsonOf = (columns: readonly string[]): string =>
  `json_object(${columns.map((column) => `'${column}', ${column}`).join(", ")})`;

/** The rows that were packed. The caller names the columns and so the type. */
export const unpacked = <Packed>(rows: readonly Row[]): Packed[] =>
  rows.map((row) => JSON.parse(String(row["packed"])) as Packed);
