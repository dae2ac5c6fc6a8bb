import { createClient } from "@libsql/client";
import Database, { type Statement } from "libsql";
import { queryable, type Queryable } from "#content/store/open.ts";
import type { Lookup } from "./index-store.ts";

/** Connections of its own that only read, for a thread beside the one that opened the store. */
export type Reader = { store: Queryable; lookup: Lookup; close(): void };

const pageCacheKb = 16_000;

/**
 * Opens an embedded store (`file:`) for reading. Its tables must be up to date already. The index is looked up through
 * prepared statements, which takes half as long for a rare word. libSQL's own library, not Bun's: closing a file that two
 * libraries opened in one process drops the locks of both.
 */
export function openReader(url: string): Reader {
  const client = createClient({ url, timeout: 1_000, concurrency: 1 });
  const database = new Database(url.slice("file:".length), { timeout: 1_000, fileMustExist: true });
  database.exec(`PRAGMA query_only = 1; PRAGMA cache_size = -${pageCacheKb}`);
  const statements = new Map<string, Statement>();
  return {
    store: queryable(client),
    lookup: async (sql, args) => {
      const statement = statements.get(sql) ?? database.prepare(sql);
      statements.set(sql, statement);
      return statement.get(...args);
    },
    close: () => {
      client.close();
      database.close();
    },
  };
}
