import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import type { CauseMapping } from "#content/register/cause-mapping.ts";
import type { CsvFormat } from "./format.ts";
import { BadInput, readCsv, type ReadOptions, scopeOf } from "./read-file.ts";
import { countSkip, type ImportReport } from "./report.ts";

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

/** Where rows go as they are read, and who hears of them. */
export type StageOptions = {
  staging: Staging;
  report: ImportReport;
  options: ReadOptions;
  signal: AbortSignal;
};

/** No register has a longer cell; one that does has lost a quote somewhere. */
const cellLengthMax = 50_000;

/**
 * Reads and checks the files of a register into the staging file. Of several rows of one organisation the newest counts
 * (the later one, where rows bear no date). Throws BadInput for a file without any row: it would withdraw all it covers.
 */
export async function stageCsv(
  format: CsvFormat,
  files: readonly string[],
  { staging, report, options, signal }: StageOptions,
  mapping: CauseMapping,
): Promise<void> {
  for (const file of files) {
    const scope = scopeOf(file);
    const rowsBefore = report.rows;
    for await (const { row, line } of readCsv(file, format.columns, options)) {
      if (signal.aborted) return;
      report.rows += 1;
      const long = Object.entries(row).find(([, cell]) => cell.length > cellLengthMax);
      const outcome: ReturnType<typeof format.read> =
        long === undefined
          ? format.read(row, mapping)
          : { kind: "bad", problem: `${long[0]} has more than ${cellLengthMax} characters` };
      if (outcome.kind === "bad") options.onBad(new BadInput(file, line, outcome.problem));
      if (outcome.kind === "skip") countSkip(report, outcome.why);
      if (outcome.kind !== "draft") continue;
      const { draft, rank, mapped } = outcome;
      const isNew = staging.put({ key: draft.org_id, rank, scope, payload: JSON.stringify(draft) });
      if (!isNew) countSkip(report, "duplicate");
      if (isNew && mapped !== undefined) report.causes_by[mapped] += 1;
    }
    if (report.rows === rowsBefore)
      throw new BadInput(file, null, "there is no row under the header");
  }
}
