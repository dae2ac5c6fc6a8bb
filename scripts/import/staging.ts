import { Database } from "bun:sqlite";
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** One organisation as read and checked, waiting to be applied. `payload` is JSON. */
export type Staged = { key: string; scope: string; payload: string };

/** Rows that were read and checked, in a temporary file: memory stays small, and the store untouched until all is well. */
export type Staging = {
  /** Keeps the row, unless one of greater rank is there already. False when the key was there. */
  put(row: Staged & { rank: string }): boolean;
  /** The next rows in the order of their keys. */
  after(key: string, limit: number): Staged[];
  /** Which of these keys are staged. */
  has(keys: readonly string[]): boolean;
  count(): number;
  /** Size of the file in bytes. */
  bytes(): number;
  /** Removes the file. */
  close(): void;
};

const rowsPerTransaction = 5_000;
const fileName = /^import-(\d+)\.staging$/;

/** Opens an empty staging file in the data folder and sweeps away those of imports that were killed. */
export function openStaging(dataDir: string): Staging {
  mkdirSync(dataDir, { recursive: true });
  sweep(dataDir);
  const file = join(dataDir, `import-${process.pid}.staging`);
  rmSync(file, { force: true });
  const db = new Database(file, { create: true, strict: true });
  // Nothing here outlives the process, so nothing needs to survive a crash.
  db.run("PRAGMA journal_mode = OFF");
  db.run("PRAGMA synchronous = OFF");
  db.run("PRAGMA cache_size = -8000");
  db.run(
    "CREATE TABLE staged (key TEXT PRIMARY KEY, rank TEXT NOT NULL, scope TEXT NOT NULL, payload TEXT NOT NULL) WITHOUT ROWID",
  );
  const known = db.query<{ rank: string }, [string]>("SELECT rank FROM staged WHERE key = ?");
  const insert = db.query("INSERT OR REPLACE INTO staged VALUES (?, ?, ?, ?)");
  const next = db.query<Staged, [string, number]>(
    "SELECT key, scope, payload FROM staged WHERE key > ? ORDER BY key LIMIT ?",
  );
  let open = 0;
  const flush = () => {
    if (open > 0) db.run("COMMIT");
    open = 0;
  };
  return {
    put: ({ key, rank, scope, payload }) => {
      if (open === 0) db.run("BEGIN");
      open += 1;
      const before = known.get(key);
      if (before === null || rank >= before.rank) insert.run(key, rank, scope, payload);
      if (open >= rowsPerTransaction) flush();
      return before === null;
    },
    after: (key, limit) => {
      flush();
      return next.all(key, limit);
    },
    has: (keys) => keys.some((key) => known.get(key) !== null),
    count: () =>
      db.query<{ count: number }, []>("SELECT count(*) AS count FROM staged").get()?.count ?? 0,
    bytes: () => {
      flush();
      return statSync(file).size;
    },
    close: () => {
      db.close();
      rmSync(file, { force: true });
    },
  };
}

const dayMs = 24 * 60 * 60 * 1_000;

function sweep(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    const pid = fileName.exec(name)?.[1];
    if (pid === undefined) continue;
    // A dead process may leave its number to another: no import takes a day.
    const file = join(dataDir, name);
    const isOld = Date.now() - statSync(file).mtimeMs > dayMs;
    if (isOld || !isAlive(Number(pid))) rmSync(file, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
