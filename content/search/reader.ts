import type { InArgs, InStatement, ResultSet } from "@libsql/client";
import Database, { type Statement } from "libsql";
import { LRUCache } from "lru-cache";
import { queryable, type Queryable } from "#content/store/open.ts";

const pageCacheKb = 16_000;
const statementsMax = 100;

/**
 * Opens an embedded store (`file:`) for reading only, on a connection of its own, for a thread beside the one that
 * opened the store; its tables must be up to date already. Statements are prepared once: that halves what a search
 * takes. libSQL's own library, not Bun's: closing a file that two libraries opened in one process drops the locks of both.
 */
export function openReader(url: string): Queryable & { close(): void } {
  const database = new Database(url.slice("file:".length), { timeout: 1_000, fileMustExist: true });
  database.exec(`PRAGMA query_only = 1; PRAGMA cache_size = -${pageCacheKb}`);
  const statements = new LRUCache<string, Statement>({
    max: statementsMax,
    memoMethod: (sql) => database.prepare(sql),
  });
  const execute = async (statement: InStatement, more?: InArgs): Promise<ResultSet> => {
    const { sql, args = more ?? [] } =
      typeof statement === "string" ? { sql: statement } : statement;
    const rows = statements.memo(sql).all(args) as ResultSet["rows"];
    return {
      rows,
      columns: [],
      columnTypes: [],
      rowsAffected: 0,
      lastInsertRowid: undefined,
      toJSON: () => rows,
    };
  };
  return { ...queryable({ execute }), close: () => database.close() };
}
