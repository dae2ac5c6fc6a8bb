import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { type Clock, dayMs } from "#content/contract/base/time.ts";
import { countLists } from "#content/nonprofit/list-store.ts";
import { inBulk } from "#content/store/fill.ts";
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
  /** Merges the segments of the search index: it is then faster to search. */
  mergeIndex: () => Promise<void>;
  /** Bytes that the disk under the store and the staging still takes. */
  freeBytes: () => number;
  /** Called with the organisations that are done, while applying and linking. */
  onProgress: (step: "applying" | "linking", done: number, total: number) => void;
  /** Called when all is read and checked, before anything is written, with what the run covers and would withdraw. */
  onCovered: (report: ImportReport) => void;
  /** Called with each malformed row that is left out. */
  onSkipped: (row: BadRow) => void;
};

/** The files of a register, or of our own records. */
export type ImportSource =
  | { register: Register; read: () => Iterable<RegisterFile> }
  | { register: null; read: () => Iterable<RecordFile> };

export type ImportInput = {
  source: ImportSource;
  format: string;
  /** Names of the files. */
  files: string[];
  /** Noted beside them where none of their rows was bad, to know them by when they come again. */
  marks?: string[];
  /** All files that the register publishes, in the versions that are here now; null for files of an operator's own. */
  fetched: FetchedVersion[] | null;
  /** Count and leave out malformed rows; else the first one ends the import. */
  skipBad: boolean;
  /** Check the files and write nothing. */
  checkOnly: boolean;
  /** The parts of the register that the run covers, with commas between; "all", "none", or null for those of its rows. */
  scope: string | null;
  /** Withdraw even when much of what the run covers is absent. */
  allowManyWithdrawals: boolean;
};

/** Unless it was interrupted while it stored nonprofits, the store is as it was. */
export type ImportFailure =
  | StageFailure
  | UnknownParts
  | { kind: "disk_too_small"; needed: number; free: number }
  | { kind: "older"; part: string; as_of: string; read: string }
  | { kind: "too_many_withdrawals"; part: string; gone: number; had: number }
  /** `stored` is null before anything was written. Running the import again finishes the work. */
  | { kind: "interrupted"; stored: number | null };

/** Registers are published every month. */
const editionDaysMax = 31;
/** The store grows by about this many times the bytes staged, and its write-ahead log by as much as this before. */
const growth = 5;
const logGrowth = 15;
const logBytesMax = 80 * 2 ** 20;
/** Merging writes the whole search index again, which a few changes are not worth. */
const mergedFrom = 20_000;

/** Reads, checks and stages the files; then, only when all is well, applies them. */
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

  // A malformed row that was left out may be the very one that lists a nonprofit: nothing is withdrawn then.
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

/** Free bytes that an import of what is staged may need. */
export const bytesNeeded = (staging: Staging): number => {
  const { bytes } = staging.size();
  return bytes * growth + Math.min(bytes * logGrowth, logBytesMax);
};

function diskShortage({ store, staging, freeBytes }: Run) {
  const [needed, free] = [bytesNeeded(staging), freeBytes()];
  return store.embedded && free < needed ? { needed, free } : null;
}

/**
 * A part of which a newer file was read before: what it said would be lost. A file of an operator's own bears the day of
 * its download, so what the register publishes itself is older only when that is longer ago than an edition.
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
  if (filled === "interrupted") return fail({ kind: "interrupted", stored: null });
  const saved = filled ?? (await applyRows(run, planner, nextStaged));
  if (signal.aborted) return fail({ kind: "interrupted", stored: report.added + report.changed });
  // What an interrupted run had saved is not among what this one changed.
  const changed = wasInterrupted ? null : saved;
  // Our own records come as their directory decided; what an operator kept apart there is in no export.
  const links =
    register === null
      ? []
      : await linkRegisters(run, changed, (at, of) => onProgress("linking", at, of));
  report.linked = links.filter(({ waits }) => !waits).length;
  report.links_waiting = links.length - report.linked;
  await store.write(async (tx) => {
    await finishImport(tx, id, report, clock());
    await saveScopes(tx, { register: format, asOf: readWhole(report), now: clock() });
  });
  if (report.added + report.changed > mergedFrom) await run.mergeIndex();
  return ok(report);
}

/** Large enough to cost little each, small enough for memory. */
const organisationsAtOnce = 250;

/**
 * Applies all rows to a store without profiles that no one else uses, in one transaction: the store has all of them then, or
 * it is as it was. Null, and nothing is done, for any other store.
 */
async function fillEmpty(
  run: Run,
  planner: Planner,
  next: (limit: number) => StagedRow[],
): Promise<number[] | "interrupted" | null> {
  const { store, signal } = run;
  if (await hasProfiles(store)) return null;
  const pace: Pace = { size: () => organisationsAtOnce, run: (work) => work() };
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

/** The date of each part that was covered: what a selection does not name, it does not confirm, and does not lack. */
const readWhole = (report: ImportReport): Record<string, string> =>
  Object.fromEntries(report.covers.map(({ part }) => [part, dayOfPart(report, part)]));
