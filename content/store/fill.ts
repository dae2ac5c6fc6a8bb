import type { Client, Transaction } from "@libsql/client";
import { retryWhileBusy, StoreBusy } from "./busy.ts";

/** A command that has just ended may still hold the file. */
const othersMayEndMs = 1_000;

/**
 * Takes an embedded file for one connection alone, with a rollback journal in place of the log: pages that the file did not
 * have before are then written once, and a process that ends amid a transaction leaves the file as it was. Answers false,
 * and changes nothing, where another process has the file open.
 */
export async function takeFile(writer: Client): Promise<boolean> {
  const take = () =>
    // SQLite ends the log only for the one connection that uses the store. Sorting may take more than memory has.
    writer.executeMultiple(`
      PRAGMA journal_mode = DELETE;
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA temp_store = FILE;
      BEGIN EXCLUSIVE;
      COMMIT;
    `);
  // What this process has closed itself is let go when its statements are collected.
  const collect = async () => Bun.gc(true);
  try {
    await retryWhileBusy(take, othersMayEndMs, collect);
    return true;
  } catch (error) {
    if (error instanceof StoreBusy) return false;
    throw error;
  }
}

/** Gives the file back to all. Its log begins again with the next pragmas of its writer. */
export const giveFileBack = (writer: Client): Promise<void> =>
  writer.executeMultiple(`
    PRAGMA locking_mode = NORMAL;
    PRAGMA temp_store = DEFAULT;
    SELECT 1 FROM sqlite_schema LIMIT 1;
  `);

/**
 * Does work that adds very many rows to these tables without what slows each of them down: indexes that are not unique are
 * made afterwards, each in one go, and triggers do not fire. `work` does itself what they would do.
 */
export async function withIndexesAtEnd<Value>(
  { raw }: { readonly raw: Transaction },
  tables: readonly string[],
  work: () => Promise<Value>,
): Promise<Value> {
  const { rows } = await raw.execute({
    sql: `
      SELECT type, name, sql
      FROM sqlite_schema
      WHERE tbl_name IN (SELECT value FROM json_each(?))
        AND (type = 'trigger' OR (type = 'index' AND sql LIKE 'CREATE INDEX%'))
      ORDER BY rowid`,
    args: [JSON.stringify(tables)],
  });
  for (const { type, name } of rows) await raw.execute(`DROP ${String(type)} ${String(name)}`);
  const value = await work();
  for (const { sql } of rows) await raw.execute(String(sql));
  return value;
}
