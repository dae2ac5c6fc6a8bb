import { readFileSync, statfsSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "csv-parse/sync";
import type { Clock } from "#content/contract/base/time.ts";
import {
  causeMapping,
  type CauseMapping,
  type MappingTables,
} from "#content/register/cause-mapping.ts";
import { type Covered, dayOfPart, partLosingTooMuch, stageGone } from "#content/register/gone.ts";
import {
  finishImport,
  lastWasInterrupted,
  saveScopes,
  startImport,
} from "#content/register/import-store.ts";
import { scopesRead } from "#content/register/standing-store.ts";
import { applyRows, type Pace, registerPlanner } from "#content/register/import.ts";
import { countSkip, emptyReport, type ImportReport } from "#content/register/import-report.ts";
import { linkRegisters } from "#content/register/link-registers.ts";
import { mergeIndex } from "#content/find/index-store.ts";
import type { Store } from "#content/store/open.ts";
import type { FetchedVersion } from "#content/store/tables/publishing.ts";
import { acnc } from "./acnc.ts";
import type { CsvFormat } from "./format.ts";
import { irs1023ez, irs990, irsBmf } from "./irs.ts";
import { irsPub78, irsRevocations } from "./irs-lists.ts";
import { recordPlanner, stageRecords } from "./ndjson.ts";
import { BadInput, fileSize, type ReadOptions } from "./read-file.ts";
import { openStaging, stageCsv, type Staging } from "./staging.ts";
import { ukcat } from "./ukcat.ts";

export type ImportRequest = {
  store: Store;
  dataDir: string;
  /** One of formatNames. */
  format: string;
  files: string[];
  /** All files that the register publishes, in the versions that are here now; absent for files of an operator's own. */
  fetched?: FetchedVersion[];
  skipBad: boolean;
  /** Check the files and write nothing. */
  checkOnly: boolean;
  /** The parts of the register that the run covers, with commas between; "all", "none", or null for those of its rows. */
  scope: string | null;
  /** YYYY-MM-DD, the date of what the files say; null: when each file was last changed. */
  asOf: string | null;
  /** Withdraw even when much of what the run covers is absent. */
  allowManyWithdrawals: boolean;
  clock: Clock;
  signal: AbortSignal;
  /** Called while fetching and reading (bytes), and while applying and linking (organisations). */
  onProgress: (
    step: "fetching" | "reading" | "applying" | "linking",
    done: number,
    total: number,
  ) => void;
  /** Called when all is read and checked, before anything is written, with what the run covers and would withdraw. */
  onCovered: (report: ImportReport) => void;
  /** Called with each malformed row that is left out. */
  onSkipped: (problem: string) => void;
};

/** An import that ended before all was applied. What is applied stays, and running it again finishes the work. */
export class Interrupted extends Error {
  override name = "Interrupted";
}

/** Registers are published every month. */
const editionDaysMax = 31;
const dayMs = 86_400_000;
/** The store grows by about this many times the bytes staged, and its write-ahead log by as much as this before. */
const growth = 5;
const logGrowth = 15;
const logBytesMax = 80 * 2 ** 20;
/** Merging writes the whole search index again, which a few changes are not worth. */
const mergedFrom = 20_000;

/** An import that is under way. `csv` is null for our own records. */
type Running = ImportRequest & {
  csv: CsvFormat | null;
  staging: Staging;
  report: ImportReport;
  changed: number[];
};

/**
 * Reads, checks and stages the files; then, only when all is well, applies them. Throws BadInput (the store is as it
 * was) or Interrupted.
 */
export async function runImport(request: ImportRequest): Promise<ImportReport> {
  const startedMs = performance.now();
  const { format, files, dataDir } = request;
  const report = emptyReport(
    format,
    files.map((file) => basename(file)),
  );
  const staging = openStaging(dataDir);
  try {
    const csv = csvFormats.find(({ name }) => name === format) ?? null;
    const running = { ...request, csv, staging, report, changed: [] };
    await stage(running);
    if (request.signal.aborted) throw new Interrupted("interrupted; nothing was written");
    checkDisk(running);
    // A malformed row that was left out may be the very one that lists a nonprofit: nothing is withdrawn then.
    const unsure = report.skipped_because.bad > 0 && !request.allowManyWithdrawals;
    const covered = csv === null || unsure ? [] : await coveredBy(running, csv);
    report.covers = covered.map(({ part, nonprofits: { had, gone } }) => ({
      part,
      listed: had,
      to_withdraw: gone,
    }));
    request.onCovered(report);
    await refuseOlder(running);
    if (!request.allowManyWithdrawals) refuseMany(running, covered);
    if (!request.checkOnly) await apply(running);
    report.seconds = (performance.now() - startedMs) / 1_000;
    return report;
  } finally {
    staging.close();
  }
}

function stage(running: Running): Promise<void> {
  const { csv, files, skipBad, report, onProgress, onSkipped } = running;
  const total = files.map(fileSize).reduce((sum, size) => sum + size, 0);
  let read = 0;
  const options: ReadOptions = {
    onBytes: (bytes) => onProgress("reading", (read += bytes), total),
    onBad: (problem) => {
      if (!skipBad) throw problem;
      countSkip(report, "bad");
      onSkipped(problem.message);
    },
  };
  const how = { ...running, options };
  return csv === null ? stageRecords(files, how) : stageCsv(csv, files, how, loadCauseMapping());
}

function checkDisk({ store, dataDir, staging }: Running): void {
  const disk = statfsSync(dataDir);
  const free = disk.bavail * disk.bsize;
  const { bytes } = staging.size();
  const needed = bytes * growth + Math.min(bytes * logGrowth, logBytesMax);
  if (!store.embedded || free >= needed) return;
  const mega = (size: number) => `${Math.ceil(size / 2 ** 20).toLocaleString("en")} MB`;
  const problem = `${mega(needed)} of free disk space are needed, ${mega(free)} are there`;
  throw new BadInput(dataDir, null, problem);
}

/**
 * Throws BadInput when a newer file of a part was read before: what it said would be lost. A file of an operator's own bears
 * the day of its download, so what the register publishes itself is older only when that is longer ago than an edition.
 */
async function refuseOlder({ store, format, files, fetched, report }: Running): Promise<void> {
  const read = (await scopesRead(store)).get(format);
  const dates = Object.entries({ ...readWhole(report), ...report.as_of });
  const editionMs = fetched === undefined ? 0 : editionDaysMax * dayMs;
  const [part, as_of] =
    dates.find(
      ([scope, day]) => Date.parse(day) + editionMs < Date.parse(read?.get(scope) ?? day),
    ) ?? [];
  if (part === undefined) return;
  const problem = `this is as of ${as_of}, and ${part} was read as of ${read?.get(part)} already; give a newer file, or the right date with --as-of`;
  throw new BadInput(files.join(", "), null, problem);
}

/** What the run covers. Throws BadInput for a part that neither rows nor store know. */
async function coveredBy(running: Running, csv: CsvFormat): Promise<Covered[]> {
  const covered = await stageGone(running, csv);
  if (covered.ok) return covered.value;
  const { unknown, known } = covered.failure;
  const problem = `no row and no profile stands in ${unknown.join(", ")}; send some of ${known.join(", ")}`;
  throw new BadInput("--scope", null, problem);
}

/** Throws BadInput when much too much of a part would vanish. */
function refuseMany({ csv, files }: Running, covered: readonly Covered[]): void {
  const loss = partLosingTooMuch(covered, { lists: csv?.lists === true });
  if (loss === null) return;
  const [many, all] = [loss.gone, loss.had].map((n) => n.toLocaleString("en"));
  const problem = `${many} of the ${all} organisations of ${loss.part} would be withdrawn; the file seems incomplete. --scope none withdraws none of them, --withdraw-many all`;
  throw new BadInput(files.join(", "), null, problem);
}

async function apply(running: Running): Promise<void> {
  const { csv, format, fetched, staging, report, store, clock, signal, onProgress } = running;
  const { files } = report;
  const wasInterrupted = await lastWasInterrupted(store, format);
  const started = { format, files, fetched: fetched ?? null, now: clock() };
  const id = await store.write((tx) => startImport(tx, started));
  const { count: total } = staging.size();
  let key = "";
  let done = 0;
  const nextStaged = (limit: number) => {
    const rows = staging.after(key, limit);
    onProgress("applying", done, total);
    done += rows.length;
    key = rows.at(-1)?.key ?? key;
    return rows;
  };
  const planner =
    csv === null ? recordPlanner : registerPlanner({ register: csv.name, lists: csv.lists });
  await applyRows({ ...running, pace: startPace() }, planner, nextStaged);
  if (signal.aborted) {
    throw new Interrupted(
      `interrupted; ${(report.added + report.changed).toLocaleString("en")} nonprofits are stored. Run the same command again to finish`,
    );
  }
  // What an interrupted run had saved is not among what this one changed.
  const changed = wasInterrupted ? null : running.changed;
  // Our own records come as their directory decided; what an operator kept apart there is in no export.
  const links =
    csv === null
      ? []
      : await linkRegisters(running, changed, (at, of) => onProgress("linking", at, of));
  report.linked = links.filter(({ waits }) => !waits).length;
  report.links_waiting = links.length - report.linked;
  await store.write(async (tx) => {
    await finishImport(tx, id, report, clock());
    await saveScopes(tx, { register: format, asOf: readWhole(report), now: clock() });
  });
  if (report.added + report.changed > mergedFrom) await mergeIndex(store);
}

/** How long one transaction of an import should hold the store's write lock, in milliseconds: each costs 10 ms of its own. */
const transactionMs = 140;
const sizeMin = 10;
const sizeMax = 1_500;
/** As long as others wait between two looks for the lock, on the whole: a shorter pause they would meet by luck alone. */
const pauseMs = 30;

/** Finds the number of organisations that fit into one short transaction, and leaves room between two. */
function startPace(): Pace {
  let size = 100;
  return {
    size: (): number => size,
    run: async <Value>(work: () => Promise<Value>): Promise<Value> => {
      const startedMs = performance.now();
      const value = await work();
      const tookMs = Math.max(performance.now() - startedMs, 1);
      // Half the way toward the size that would have taken the time wanted: one slow commit is no trend.
      size = Math.round((size + size * Math.min(transactionMs / tookMs, 2)) / 2);
      size = Math.min(Math.max(size, sizeMin), sizeMax);
      await Bun.sleep(pauseMs);
      return value;
    },
  };
}

/** The date of each part that was covered: what a selection does not name, it does not confirm, and does not lack. */
const readWhole = (report: ImportReport): Record<string, string> =>
  Object.fromEntries(report.covers.map(({ part }) => [part, dayOfPart(report, part)]));

export const csvFormats: readonly CsvFormat[] = [
  irsBmf,
  irsPub78,
  irsRevocations,
  irs990,
  irs1023ez,
  ukcat,
  acnc,
];

/** All names that `import` knows, ours last. */
export const formatNames = [...csvFormats.map(({ name }) => name), "ndjson"];

const folder = join(import.meta.dirname, "../../content/editorial/mapping");

/** The mapping of registers' codes to causes, from the tables in content/editorial/mapping. */
export const loadCauseMapping = (): CauseMapping =>
  causeMapping({
    ntee: table("ntee", "NTEE_TO_CAUSES"),
    activity: table("activity", "ACTIVITY_TO_NTEE"),
    keywords: table("keywords", "NAME_KEYWORDS_TO_CAUSES"),
    ukcat: table("ukcat", "UKCAT_TO_CAUSES"),
    icnptso: table("icnptso", "ICNPTSO_TO_CAUSES"),
    acnc: table("acnc", "ACNC_TO_CAUSES"),
  });

type Tables = { [Name in keyof MappingTables]: MappingTables[Name][number] };

// Type of a row by the name of its table; causeMapping refuses a cause that does not exist.
const table = <Name extends keyof Tables>(_: Name, file: string): Tables[Name][] =>
  parse<Tables[Name]>(readFileSync(join(folder, `${file}.csv`)), { columns: true, bom: true });
