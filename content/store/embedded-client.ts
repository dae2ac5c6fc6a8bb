import type { Client } from "@libsql/client";
import { ConnectionPool, Sqlite3Client } from "@libsql/client/sqlite3";
import type Database from "libsql";
import { LRUCache } from "lru-cache";

const statementsMax = 200;
/** Pragmas and changes of tables may take effect while they are prepared, so each is prepared again. */
const isReusable = /^\s*(?:select|insert|update|delete|with)\b/i;

/**
 * A client of one connection to a file that prepares each statement once. The library's own prepares it at every
 * execution, which takes longer than the execution: 180 of 220 µs to insert a submission, whose triggers are compiled too.
 */
export const openEmbeddedClient = (path: string, options: { timeout: number }): Client =>
  new Sqlite3Client(new PreparingPool(path, options, 1), "number");

class PreparingPool extends ConnectionPool {
  override acquireSync(forTransaction?: boolean): Database.Database {
    const database = super.acquireSync(forTransaction);
    if (!Object.hasOwn(database, "prepare")) prepareOnce(database);
    return database;
  }
}

/** An execution is synchronous and reads all rows, so no two use one statement at a time. */
function prepareOnce(database: Database.Database): void {
  const prepare = database.prepare.bind(database);
  const statements = new LRUCache<string, Database.Statement>({
    max: statementsMax,
    memoMethod: (sql) => prepare(sql),
  });
  const prepared = (sql: string) => (isReusable.test(sql) ? statements.memo(sql) : prepare(sql));
  database.prepare = prepared as typeof database.prepare;
}
