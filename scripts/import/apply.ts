import type { Clock } from "#content/contract/base/time.ts";
import { isPublicChange, type Save, saveNonprofits } from "#content/nonprofit/save.ts";
import type { RegisterRecord } from "#content/nonprofit/record.ts";
import { saveRecordsWithoutProfile } from "#content/register/import-store.ts";
import { giveSlugs } from "#content/register/slug-store.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { countSkip, type ImportReport, type SkipReason } from "./report.ts";

export type Applying = {
  store: Store;
  report: ImportReport;
  /** The ids of what was saved: registers are linked over them at the end. */
  changed: number[];
  clock: Clock;
  signal: AbortSignal;
};

/**
 * What one row means for the directory: a profile to save, or what a register says of an organisation without one. A new nonprofit whose slug is "" is given one as it is saved. "kept": no row of
 * the files, and nothing to save, so it is counted nowhere.
 */
export type Outcome =
  | Save
  | { record: RegisterRecord }
  | "recorded"
  | "unchanged"
  | "kept"
  | SkipReason;

export type Planner<Row> = {
  /** Named in the audit log and the change feed as where a change came from. */
  origin: string;
  keepTimes?: boolean;
  /** The outcome of each row, in their order. Writes nothing. */
  plan: (store: Queryable, rows: Row[], now: Date) => Promise<Outcome[]>;
};

/** Applies rows in short transactions, as many as `next` gives for each, none at the end. Stops between two when asked to. */
export async function applyRows<Row>(
  { store, report, changed, clock, signal }: Applying,
  { origin, keepTimes = false, plan }: Planner<Row>,
  next: (limit: number) => Row[],
): Promise<void> {
  const pace = startPace();
  const slugsFor = giveSlugs();
  let changing = false;
  for (let rows = next(pace.size()); rows.length > 0 && !signal.aborted; rows = next(pace.size())) {
    const now = clock();
    // What does not change is found without the write lock; what may change is looked at again inside. Where most of the
    // rows before changed, as in a first import, most of these will.
    const looked = changing ? [] : await plan(store, rows, now);
    const open = changing ? rows : rows.filter((_, at) => typeof looked[at] === "object");
    for (const outcome of looked) if (typeof outcome === "string") count(report, outcome);
    if (open.length === 0) continue;
    const { outcomes, ids } = await pace.run(() =>
      store.write(async (tx) => {
        const planned = await plan(tx, open, now);
        const saves = [...new Set(planned.filter(isSave))];
        await saveRecordsWithoutProfile(
          tx,
          planned.filter(isRecord).map(({ record }) => record),
        );
        const unnamed = saves.flatMap(({ after }) => (after.slug === "" ? [after] : []));
        const slugs = await slugsFor(tx, unnamed.map(nameOf));
        for (const [at, after] of unnamed.entries()) after.slug = slugs[at] ?? "";
        const stored = await saveNonprofits(tx, saves, { origin, now, keepTimes });
        const others = planned.filter((outcome) => !isSave(outcome));
        return { outcomes: [...others, ...saves], ids: stored.map(({ id }) => id) };
      }),
    );
    for (const outcome of outcomes) count(report, outcome);
    for (const id of ids) changed.push(id);
    changing = areMostChanges(outcomes, rows.length);
  }
}

const areMostChanges = (outcomes: readonly Outcome[], of: number): boolean =>
  outcomes.filter((outcome) => typeof outcome === "object").length > of / 2;

const isSave = (outcome: Outcome): outcome is Save =>
  typeof outcome === "object" && "after" in outcome;
const isRecord = (outcome: Outcome): outcome is { record: RegisterRecord } =>
  typeof outcome === "object" && "record" in outcome;

const nameOf = ({ name, registrations, city, region }: Save["after"]) => ({
  slug_name: name,
  org_id: registrations[0]?.org_id ?? "",
  city,
  region,
});

function count(report: ImportReport, outcome: Outcome): void {
  if (outcome === "kept") return;
  if (outcome === "unchanged") report.unchanged += 1;
  else if (outcome === "recorded" || isRecord(outcome)) report.recorded += 1;
  else if (isSave(outcome)) countSave(report, outcome);
  else countSkip(report, outcome);
}

function countSave(report: ImportReport, save: Save): void {
  const { before, after } = save;
  if (before === null) report.added += 1;
  else if (after.status === "withdrawn" && before.status !== "withdrawn") report.withdrawn += 1;
  else if (isPublicChange(save)) report.changed += 1;
  else report.unchanged += 1;
  if (before?.status === "withdrawn" && after.status !== "withdrawn") report.restored += 1;
}

/** How long one transaction of an import should hold the store's write lock, in milliseconds: each costs 10 ms of its own. */
const transactionMs = 140;
const sizeMin = 10;
const sizeMax = 1_500;
/** As long as others wait between two looks for the lock, on the whole: a shorter pause they would meet by luck alone. */
const pauseMs = 30;

/** Finds the number of organisations that fit into one short transaction, and leaves room between two. */
function startPace() {
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
