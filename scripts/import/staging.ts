import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import { isAlive } from "#api/operator/running-service.ts";
import type { Clock } from "#content/contract/base/time.ts";
import type { Staged } from "#content/register/import.ts";
import type { CauseMapping, MappedBy } from "#content/register/cause-mapping.ts";
import { bad, type CsvFormat, dateFault, type Row, type RowOutcome } from "./format.ts";
import { BadInput, fileDay, readCsv, type ReadOptions } from "./read-file.ts";
import { countSkip, type ImportReport } from "#content/register/import-report.ts";

export type Staging = ReturnType<typeof openStaging>;

/**
 * Rows that were read and checked, in a file of the data folder: memory stays small, and the store untouched until all
 * is well. The file loses its name as soon as it is open, so it is gone when the process ends, however that ends.
 */
export function openStaging(dataDir: string) {
  mkdirSync(dataDir, { recursive: true });
  // Those of earlier versions kept their names, and stayed when the import was killed.
  for (const name of readdirSync(dataDir)) {
    const pid = /^import-(\d+)\.staging$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(dataDir, name), { force: true });
  }
  const file = join(dataDir, `import-${process.pid}.staging`);
  rmSync(file, { force: true });
  const db = new Database(file, { create: true, strict: true });
  rmSync(file);
  // Nothing here outlives the process, so nothing needs to survive a crash, and nothing is ever committed.
  db.run("PRAGMA journal_mode = MEMORY");
  db.run("PRAGMA synchronous = OFF");
  db.run("PRAGMA cache_size = -8000");
  db.run(
    "CREATE TABLE staged (key TEXT PRIMARY KEY, rank TEXT NOT NULL, scope TEXT NOT NULL, as_of TEXT NOT NULL, payload TEXT NOT NULL, read_at TEXT NOT NULL) WITHOUT ROWID",
  );
  db.run("BEGIN");
  const known = db.query<{ rank: string; read_at: string }, [string]>(
    "SELECT rank, read_at FROM staged WHERE key = ?",
  );
  const insert = db.query("INSERT OR REPLACE INTO staged VALUES (?, ?, ?, ?, ?, ?)");
  const next = db.query<Staged, [string, number]>(
    "SELECT key, scope, as_of, payload FROM staged WHERE key > ? AND payload <> '' ORDER BY key LIMIT ?",
  );
  const size = db.query<{ count: number; bytes: number }, []>(
    "SELECT (SELECT count(*) FROM staged) AS count, page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size",
  );
  return {
    /** Parts of the register in which rows stand, staged or not. */
    scopes: new Set<string>(),
    /**
     * Keeps the row, unless one of greater rank is there already, or any one where there may be one only. Answers where an
     * earlier one was read, null for none.
     */
    put: (
      { key, rank, scope, as_of, payload }: Staged & { rank: string },
      { readAt = "", once = false } = {},
    ): string | null => {
      const before = known.get(key);
      const counts = before === null || (!once && rank >= before.rank);
      if (counts) insert.run(key, rank, scope, as_of, payload, readAt);
      return before?.read_at ?? null;
    },
    /** The next rows in the order of their keys, without those that have no payload. */
    after: (key: string, limit: number): Staged[] => next.all(key, limit),
    /** Whether one of these keys is staged. */
    has: (keys: readonly string[]): boolean => keys.some((key) => known.get(key) !== null),
    /** How many rows there are, and how many bytes they take. */
    size: () => size.get() ?? { count: 0, bytes: 0 },
    close: () => db.close(),
  };
}

/** Where rows go as they are read, and who hears of them. */
export type StageOptions = {
  staging: Staging;
  report: ImportReport;
  options: ReadOptions;
  signal: AbortSignal;
  clock: Clock;
  /** YYYY-MM-DD, for all files; null: each file's own date. */
  asOf: string | null;
};

const dayMs = 86_400_000;
const yearMs = 366 * dayMs;
/** No register has a longer cell; one that does has lost a quote somewhere. */
const cellLengthMax = 50_000;

/**
 * Reads and checks the files of a register into the staging file. Of several rows of one organisation the newest counts
 * (the later one, where rows bear no date). Throws BadInput for a row that may stand there only once, and for a file
 * without any row.
 */
export async function stageCsv(
  format: CsvFormat,
  files: readonly string[],
  { staging, report, options, signal, asOf, clock }: StageOptions,
  mapping: CauseMapping,
): Promise<void> {
  const stageRow = (outcome: Said, from: RowOrigin) => {
    const { file, line, scope, as_of } = from;
    const { draft, rank, mapped } = draftOf(outcome);
    if (as_of > (report.as_of[scope] ?? "")) report.as_of[scope] = as_of;
    const once = format.parts?.onceEach ?? false;
    const staged = { key: draft.org_id, rank, scope, as_of, payload: JSON.stringify(draft) };
    const earlier = staging.put(staged, { readAt: `line ${line} of ${file}`, once });
    if (earlier === null) countCause(report, mapped);
    else if (!once) countSkip(report, "duplicate");
    else options.onBad(new BadInput(file, line, `${draft.org_id} stands on ${earlier} already`));
  };
  const now = clock();
  // Where the file was made it may be the next day already.
  const tomorrow = new Date(now.getTime() + dayMs).toISOString().slice(0, 10);
  // A year from now no register knows anything.
  const latest = new Date(now.getTime() + yearMs).toISOString();
  for (const file of files) {
    const as_of = asOf ?? fileDay(file);
    if (as_of > tomorrow) {
      throw new BadInput(file, null, `it is as of ${as_of}, which is yet to come; see --as-of`);
    }
    const rowsBefore = report.rows;
    for await (const { row, line } of readCsv(file, format, options)) {
      if (signal.aborted) return;
      report.rows += 1;
      const outcome = readRow(format, row, { mapping, latest });
      const scope = partOf(format, row);
      if (outcome.kind === "bad") options.onBad(new BadInput(file, line, outcome.problem));
      else staging.scopes.add(scope);
      if (outcome.kind === "skip") countSkip(report, outcome.why);
      else if (outcome.kind !== "bad") stageRow(outcome, { file, line, scope, as_of });
    }
    if (report.rows === rowsBefore)
      throw new BadInput(file, null, "there is no row under the header");
  }
}

function readRow(
  format: CsvFormat,
  row: Row,
  { mapping, latest }: { mapping: CauseMapping; latest: string },
): RowOutcome {
  for (const column in row) {
    if ((row[column] ?? "").length > cellLengthMax)
      return bad(`${column} has more than ${cellLengthMax} characters`);
  }
  const fault = dateFault(row, format.dates ?? [], latest);
  return fault === null ? format.read(row, mapping) : bad(fault);
}

const partOf = ({ parts }: CsvFormat, row: Row): string => parts?.ofRow(row) ?? "";

function countCause(report: ImportReport, mapped: MappedBy | undefined): void {
  if (mapped !== undefined) report.causes_by[mapped] += 1;
}

type RowOrigin = { file: string; line: number; scope: string; as_of: string };
type Said = Exclude<RowOutcome, { kind: "bad" } | { kind: "skip" }>;

/** A record without a profile is staged as a draft that fills nothing. */
function draftOf(outcome: Said): Extract<Said, { kind: "draft" }> {
  if (outcome.kind === "draft") return outcome;
  const { record, rank = "" } = outcome;
  const draft = { org_id: record.org_id, fields: null, source_url: null, record };
  return { kind: "draft", draft, rank };
}
