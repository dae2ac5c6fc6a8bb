import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { type Clock, dayMs } from "#content/contract/base/time.ts";
import { countLists } from "#content/nonprofit/list-store.ts";
import { inBulk } from "#content/store/bulk-load.ts";
import type { Store } from "#content/store/open.ts";
import type { FetchedVersion } from "#content/store/tables/publishing.ts";
import {
  applyRows,
  type ApplyStore,
  type Pace,
  type Planner,
  registerPlanner,
} from "./apply-rows.ts";
import {
  type Coverage,
  dayOfPart,
  partLosingTooMuch,
  stageGone,
  type UnknownParts,
} from "./gone.ts";
import {
  emptyReport,
  type ImportReport,
  finishImport,
  forgetImport,
  hasProfiles,
  lastWasInterrupted,
  saveScopes,
  startImport,
} from "./import-store.ts";
import { linkRegisters } from "./link-registers.ts";
import { knownRows } from "./row-digest-store.ts";
import { type RecordFile, recordPlanner, stageRecords } from "./own-records.ts";
import {
  type BadRow,
  type Register,
  type RegisterFile,
  type StageContext,
  type StagedRow,
  type StageFailure,
  stageRows,
  type Staging,
} from "./stage-rows.ts";
import { scopesRead } from "./standing-store.ts";

export type ImportWorld = {
  store: Store;
  clock: Clock;
  signal: AbortSignal;
  staging: Staging;
  pace: Pace;
  /** Merges the segments of the search index, which makes searches faster. */
  mergeIndex: () => Promise<void>;
  /** Free bytes of the disk under the store and the staging. */
  freeBytes: () => number;
  /** Called while applying and linking, with the number of organisations done. */
  onProgress: (step: "applying" | "linking", done: number, total: number) => void;
  /** Called when everything is read and checked, before anything is written, with what the run covers and would withdraw. */
  onCovered: (report: ImportReport) => void;
  /** Called with each malformed row that is skipped. */
  onSkipped: (row: BadRow) => void;
};

/** The files of a register, or of our own records. */
export type ImportSource =
  | { register: Register; read: () => Iterable<RegisterFile> }
  | { register: null; read: () => Iterable<RecordFile> };

export type ImportInput = {
  source: ImportSource;
  format: string;
  files: string[];
  /** Marks recorded with the file names if no row was bad, to recognise the files later. */
  marks?: string[];
  /** The local versions of all files that the register publishes; null for an operator's own files. */
  fetched: FetchedVersion[] | null;
  /** Count and skip malformed rows; otherwise the first one ends the import. */
  skipBad: boolean;
  /** Check the files and write nothing. */
  checkOnly: boolean;
  /** The parts that the run covers, separated by commas; "all", "none", or null for those of its rows. */
  scope: string | null;
  /** Withdraw even if much of what the run covers is absent. */
  allowManyWithdrawals: boolean;
};

/** Unless the import was interrupted while it stored nonprofits, the store is unchanged. */
export type ImportFailure =
  | StageFailure
  | UnknownParts
  | { kind: "disk_too_small"; needed: number; free: number }
  | { kind: "older"; part: string; as_of: string; read: string }
  | { kind: "too_many_withdrawals"; part: string; gone: number; had: number }
  /** `stored` is null if nothing was written. Running the import again finishes the work. */
  | { kind: "interrupted"; stored: number | null };

/** Registers are published every month. */
const editionDaysMax = 31;
/** The store grows by about this many times the staged bytes, and before that its log by about as much. */
const growth = 5;
const logGrowth = 15;
const logBytesMax = 80 * 2 ** 20;
/** Merging rewrites the whole search index, which is not worth it for fewer changes. */
const mergedFrom = 20_000;

/** Reads, checks and stages the files; applies them only if all is well. */
export async function importRegister(
  world: ImportWorld,
  input: ImportInput,
): Promise<Result<ImportReport, ImportFailure>> {
  const { format, source, allowManyWithdrawals } = input;
  const report = emptyReport(format, input.files);
  const has = await knownRows(world.store, format, source.register);
  const run = { ...input, ...world, report, known: { has, unchanged: 0, recorded: 0 } };
  const staged = await stage(run);
  if (!staged.ok) return staged;
  if (world.signal.aborted) return fail({ kind: "interrupted", stored: null });

  const shortage = diskShortage(run);
  if (shortage !== null) return fail({ kind: "disk_too_small", ...shortage });

  // A skipped row may be the one that lists a nonprofit, so nothing is withdrawn.
  const unsure = report.skipped_because.bad > 0 && !allowManyWithdrawals;
  const { register } = source;
  const gone: Result<Coverage[], UnknownParts> =
    register === null || unsure ? ok([]) : await stageGone(run, register);
  if (!gone.ok) return gone;
  const covered = gone.value;
  report.covers = covered.map(({ part, nonprofits: { had, gone: to_withdraw } }) => ({
    part,
    listed: had,
    to_withdraw,
  }));
  world.onCovered(report);

  const older = await olderPart(run);
  if (older !== null) return fail({ kind: "older", ...older });
  const loss = allowManyWithdrawals ? null : partLosingTooMuch(covered, register);
  if (loss !== null) return fail({ kind: "too_many_withdrawals", ...loss });
  return input.checkOnly ? ok(report) : apply(run);
}

type Run = ImportWorld & ImportInput & Pick<StageContext, "known" | "report">;

function stage(run: Run): Promise<Result<null, StageFailure>> {
  const { source } = run;
  return source.register === null
    ? stageRecords(source.read(), run)
    : stageRows(source.register, source.read(), run);
}

/** Free bytes that an import of the staged rows may need. */
export const bytesNeeded = (staging: Staging): number => {
  const { bytes } = staging.size();
  return bytes * growth + Math.min(bytes * logGrowth, logBytesMax);
};

function diskShortage({ store, staging, freeBytes }: Run) {
  const needed = bytesNeeded(staging);
  const free = freeBytes();
  return store.embedded && free < needed ? { needed, free } : null;
}

/**
 * The first part for which a newer file was read before, whose content would be lost. An operator's file has the day of its
 * download, so a file that the register publishes itself counts as older only if it is more than one edition older.
 */
async function olderPart({ store, format, fetched, report }: Run) {
  const scopes = (await scopesRead(store)).get(format);
  const editionMs = fetched === null ? 0 : editionDaysMax * dayMs;
  for (const [part, as_of] of Object.entries({ ...readWhole(report), ...report.as_of })) {
    const read = scopes?.get(part) ?? as_of;
    if (Date.parse(as_of) + editionMs < Date.parse(read)) return { part, as_of, read };
  }
  return null;
}

async function apply(run: Run): Promise<Result<ImportReport, ImportFailure>> {
  const { source, format, fetched, staging, report, store, clock, signal, onProgress } = run;
  const { register } = source;
  const wasInterrupted = await lastWasInterrupted(store, format);
  const marks = report.skipped_because.bad > 0 ? [] : (run.marks ?? []);
  const started = { format, files: [...report.files, ...marks], fetched, now: clock() };
  const id = await store.write((tx) => startImport(tx, started));
  const { count: total } = staging.size();
  report.unchanged += run.known.unchanged;
  report.recorded += run.known.recorded;
  let key = "";
  let done = 0;
  const nextStaged = (limit: number) => {
    const rows = staging.after(key, limit);
    onProgress("applying", done, total);
    done += rows.length;
    key = rows.at(-1)?.key ?? key;
    return rows;
  };
  const planner = register === null ? recordPlanner : registerPlanner(register);
  const filled = await fillEmpty(run, planner, nextStaged);
  if (filled === "interrupted") {
    await store.write((tx) => forgetImport(tx, id));
    return fail({ kind: "interrupted", stored: null });
  }
  const saved = filled ?? (await applyRows(run, planner, nextStaged));
  // After an interrupted run, link all profiles: what that run saved is not in `saved`.
  const changed = wasInterrupted ? null : saved;
  // Our own records are as their directory decided; links that an operator undid there are in no export.
  const links =
    register === null
      ? []
      : await linkRegisters(run, changed, (at, of) => onProgress("linking", at, of));
  if (signal.aborted) return fail({ kind: "interrupted", stored: report.added + report.changed });
  report.linked = links.filter(({ waits }) => !waits).length;
  report.links_waiting = links.length - report.linked;
  await store.write(async (tx) => {
    await finishImport(tx, id, report, clock());
    await saveScopes(tx, { register: format, asOf: readWhole(report), now: clock() });
  });
  if (report.added + report.changed > mergedFrom) await run.mergeIndex();
  return ok(report);
}

/** Large enough to be cheap, small enough for memory. */
const organisationsAtOnce = 250;

/**
 * Applies all rows in one transaction to a store without profiles that no one else uses: it then has all of them or is
 * unchanged. Returns null, and does nothing, for any other store.
 */
async function fillEmpty(
  run: Run,
  planner: Planner,
  next: (limit: number) => StagedRow[],
): Promise<number[] | "interrupted" | null> {
  const { store, signal } = run;
  if (await hasProfiles(store)) return null;
  // Without a pause the signal to stop would arrive only after the last row.
  const pace: Pace = { size: () => organisationsAtOnce, run: (work) => Bun.sleep(0).then(work) };
  const filling = store.writeAlone((tx) =>
    inBulk(tx, async () => {
      const inside: ApplyStore = { ...tx, write: (work) => work(tx) };
      const saved = await applyRows({ ...run, store: inside, pace }, planner, next);
      signal.throwIfAborted();
      await countLists(tx);
      return saved;
    }),
  );
  return filling.catch((error: unknown) => {
    if (signal.aborted) return "interrupted";
    throw error;
  });
}

/** The dates of the covered parts: a selection neither confirms nor misses what it does not name. */
const readWhole = (report: ImportReport): Record<string, string> =>
  Object.fromEntries(report.covers.map(({ part }) => [part, dayOfPart(report, part)]));
