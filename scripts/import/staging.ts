import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import type { StagedRow, Staging } from "#content/register/stage-rows.ts";

/** A database whose file is unlinked as soon as it is open, so that it is gone when the process ends in any way. */
function openNameless(dataDir: string): Database {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, `import-${process.pid}.staging`);
  rmSync(file, { force: true });
  const db = new Database(file, { create: true, strict: true });
  rmSync(file);
  // The data need not survive the process or a crash, and nothing is ever committed.
  db.run("PRAGMA journal_mode = MEMORY");
  db.run("PRAGMA synchronous = OFF");
  db.run("PRAGMA cache_size = -8000");
  return db;
}

/** Characters of rows after which memory is collected; otherwise it would grow by a hundred megabytes. */
const takenMax = 2 ** 20;

/** Holds rows that were read and checked: memory stays small, and the store unchanged until all rows are read. */
export function openStaging(dataDir: string): Staging & { close(): void } {
  const db = openNameless(dataDir);
  db.run(
    "CREATE TABLE staged (key TEXT PRIMARY KEY, rank TEXT NOT NULL, scope TEXT NOT NULL, as_of TEXT NOT NULL, payload TEXT NOT NULL, read_at TEXT NOT NULL) WITHOUT ROWID",
  );
  db.run("BEGIN");
  const stagedRow = db.query<{ rank: string; read_at: string }, [string]>(
    "SELECT rank, read_at FROM staged WHERE key = ?",
  );
  const insertFirst = db.query(
    "INSERT INTO staged VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const insert = db.query("INSERT OR REPLACE INTO staged VALUES (?, ?, ?, ?, ?, ?)");
  const next = db.query<StagedRow, [string, number]>(
    "SELECT key, scope, as_of, payload FROM staged WHERE key > ? AND payload <> '' ORDER BY key LIMIT ?",
  );
  const size = db.query<{ count: number; bytes: number }, []>(
    "SELECT (SELECT count(*) FROM staged WHERE payload <> '') AS count, page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size",
  );
  let takenBytes = 0;
  return {
    scopes: new Set(),
    put: ({ key, rank, scope, as_of, payload }, { readAt = "", once = false } = {}) => {
      const values = [key, rank, scope, as_of, payload, readAt] as const;
      if (insertFirst.run(...values).changes > 0) return null;
      const before = stagedRow.get(key);
      if (!once && rank >= (before?.rank ?? "")) insert.run(...values);
      return before?.read_at ?? null;
    },
    after: (key, limit) => {
      const rows = next.all(key, limit);
      for (const { payload } of rows) takenBytes += payload.length;
      if (takenBytes > takenMax) Bun.gc(true);
      takenBytes %= takenMax;
      return rows;
    },
    has: (keys) => keys.some((key) => stagedRow.get(key) !== null),
    size: () => size.get() ?? { count: 0, bytes: 0 },
    close: () => db.close(),
  };
}

/** Rows of side tables, read before the rows they belong to: JSON arrays by table name and key. */
export function openSideTables(dataDir: string) {
  const db = openNameless(dataDir);
  // Numeric keys are stored as numbers: files are sorted by them, and neighbours share a page.
  db.run("CREATE TABLE side (name, key INTEGER, rows, PRIMARY KEY (name, key)) WITHOUT ROWID");
  db.run("BEGIN");
  const add = db.query(
    "INSERT INTO side VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET rows = rows || ',' || excluded.rows",
  );
  const find = db.query<{ rows: string }, [string, string]>(
    "SELECT rows FROM side WHERE name = ? AND key = ?",
  );
  return {
    put: (table: string, key: string, row: string) => add.run(table, key, row),
    rowsOf: (table: string, key: string) => `[${find.get(table, key)?.rows ?? ""}]`,
    close: () => db.close(),
  };
}
