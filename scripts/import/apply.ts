import type { Clock } from "#content/contract/time.ts";
import { type Save, saveNonprofits } from "#content/nonprofit/save.ts";
import type { Queryable, Store, WriteTransaction } from "#content/store/open.ts";
import type { SkipReason } from "./format.ts";
import { countSkip, type ImportReport } from "./report.ts";
import type { Staged, Staging } from "./staging.ts";

export type Applying = {
  store: Store;
  staging: Staging;
  report: ImportReport;
  clock: Clock;
  signal: AbortSignal;
  /** Called with the organisations applied so far. */
  onDone: (count: number) => void;
};

/** What rows mean for the directory: what to write, and how many of them change nothing or are left out. */
export type Plan = { saves: Save[]; unchanged: number; skipped: SkipReason[] };

export type Planner = {
  /** Named in the audit log and the change feed as where a change came from. */
  origin: string;
  keepTimes?: boolean;
  /** Sorts rows without writing; `open` are those that need writing. */
  look?: (store: Queryable, rows: Staged[], now: Date) => Promise<Plan & { open: Staged[] }>;
  plan: (tx: WriteTransaction, rows: Staged[], now: Date) => Promise<Plan>;
};

/** Applies what is staged in short transactions, in the order of the keys. Stops between two when asked to. */
export async function applyStaged(
  { store, staging, report, clock, signal, onDone }: Applying,
  { origin, keepTimes = false, look, plan }: Planner,
): Promise<void> {
  const pace = startPace();
  let done = 0;
  for (let key = ""; !signal.aborted;) {
    const rows = staging.after(key, pace.size()).filter(({ payload }) => payload !== "");
    const last = rows.at(-1);
    if (last === undefined) return;
    key = last.key;
    const now = clock();
    // What does not change is found without the write lock; what may change is looked at again inside.
    const looked = await look?.(store, rows, now);
    if (looked !== undefined) count(report, { ...looked, saves: [] });
    const open = looked?.open ?? rows;
    if (open.length > 0) {
      const planned = await pace.run(() =>
        store.write(async (tx) => {
          const found = await plan(tx, open, now);
          await saveNonprofits(tx, found.saves, { origin, now, keepTimes });
          return found;
        }),
      );
      count(report, planned);
    }
    done += rows.length;
    onDone(done);
  }
}

function count(report: ImportReport, { saves, unchanged, skipped }: Plan): void {
  report.unchanged += unchanged;
  for (const why of skipped) countSkip(report, why);
  for (const { before, after } of saves) {
    if (before === null) report.added += 1;
    else if (after.status === "withdrawn" && before.status !== "withdrawn") report.withdrawn += 1;
    else report.changed += 1;
    if (before?.status === "withdrawn" && after.status !== "withdrawn") report.restored += 1;
  }
}

/** How long one transaction of an import should hold the store's write lock, in milliseconds. */
const transactionMs = 70;
const sizeMin = 10;
const sizeMax = 1_500;
const pauseMs = 4;

/** Finds the number of organisations that fit into one short transaction, and leaves room between two. */
export function startPace() {
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
      // Others get the lock now; without a pause they would only find it free by luck.
      await Bun.sleep(pauseMs);
      return value;
    },
  };
}
