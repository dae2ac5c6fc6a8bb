import type { Clock } from "#content/contract/base/time.ts";
import type { NonprofitRecord, RegisterRecord } from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { isPublicChange, planSaves, type Save } from "#content/nonprofit/save.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { doAll, type Statement } from "#content/store/query.ts";
import {
  countSkip,
  type ImportReport,
  type SkipReason,
  idsByOrgId,
  recordsWithoutProfile,
  saveRecordsWithoutProfile,
  giveSlugs,
  type SlugGiver,
} from "./import-store.ts";
import {
  factsWithWaiting,
  isBeatenBy,
  mergedWithRegister,
  newFromRegister,
  recordAfter,
  recordOf,
  type RegisterDraft,
  type RegisterTerms,
} from "./merge.ts";
import { noteDigests } from "./row-digest-store.ts";
import type { Register, StagedRow } from "./stage-rows.ts";
import { scopesRead } from "./standing-store.ts";

/** Decides how many organisations go into a transaction, and lets other writers in between two. */
export type Pace = {
  size: () => number;
  run: <Value>(work: () => Promise<Value>) => Promise<Value>;
};

/** Where rows are applied: a store, or a transaction for all of them. */
export type ApplyStore = Queryable & Pick<Store, "write">;

type ApplyWorld = {
  store: ApplyStore;
  report: ImportReport;
  clock: Clock;
  signal: AbortSignal;
  pace: Pace;
};

/**
 * What a row means for the directory: a profile to save, or a record of an organisation without one. A new nonprofit with
 * the slug "" gets one when saved. "kept": not in the files and nothing to save, so not counted.
 */
export type Outcome =
  | Save
  | { record: RegisterRecord }
  | "recorded"
  | "unchanged"
  | "kept"
  | SkipReason;

export type Planner = {
  /** The origin of changes in the audit log and the change feed. */
  origin: string;
  keepTimes?: boolean;
  /** The outcome of each row, in order. Writes nothing. */
  plan: (store: Queryable, rows: StagedRow[], now: Date) => Promise<Outcome[]>;
  /** Notes rows that were applied, so that they need not be read again. */
  note?: (rows: readonly StagedRow[]) => Statement;
};

/**
 * Applies rows in short transactions, each with what `next` returns, until it returns none. Can be stopped between two.
 * Returns the ids of what was saved.
 */
export async function applyRows(
  { store, report, clock, signal, pace }: ApplyWorld,
  planner: Planner,
  next: (limit: number) => StagedRow[],
): Promise<number[]> {
  const { plan, note } = planner;
  const slugsFor = giveSlugs();
  const changed: number[] = [];
  let changing = false;
  for (let rows = next(pace.size()); rows.length > 0 && !signal.aborted; rows = next(pace.size())) {
    const now = clock();
    // Unchanged rows are found without the write lock; rows that may change are planned again inside. If most rows before
    // changed, as in a first import, or if digests are noted anyway, all are planned inside.
    const isWritten = changing || note !== undefined;
    const looked = isWritten ? [] : await plan(store, rows, now);
    const open = isWritten ? rows : rows.filter((_, at) => typeof looked[at] === "object");
    for (const outcome of looked) if (typeof outcome === "string") count(report, outcome);
    if (open.length === 0) continue;
    const { outcomes, ids } = await pace.run(() =>
      store.write(async (tx) => {
        const { statements, ...applied } = await planRows(tx, planner, {
          rows: open,
          slugsFor,
          now,
        });
        await doAll(tx, statements);
        return applied;
      }),
    );
    for (const outcome of outcomes) count(report, outcome);
    for (const id of ids) changed.push(id);
    changing = areMostChanges(outcomes, rows.length);
  }
  return changed;
}

/** Plans these rows. In a register that lists, each organisation has one row, so rows do not affect each other. */
async function planRows(
  store: Queryable,
  { origin, keepTimes = false, plan, note }: Planner,
  { rows, slugsFor, now }: { rows: StagedRow[]; slugsFor: SlugGiver; now: Date },
) {
  const planned = await plan(store, rows, now);
  const saves = [...new Set(planned.filter(isSave))];
  const records = planned.filter(isRecord).map(({ record }) => record);
  const unnamed = saves.flatMap(({ after }) => (after.slug === "" ? [after] : []));
  const slugs = await slugsFor(store, unnamed.map(nameOf));
  for (const [at, after] of unnamed.entries()) after.slug = slugs[at] ?? "";
  const saved = await planSaves(store, saves, { origin, now, keepTimes });
  return {
    outcomes: [...planned.filter((outcome) => !isSave(outcome)), ...saves],
    ids: saved.records.map(({ id }) => id),
    statements: [
      ...saveRecordsWithoutProfile(records),
      ...saved.statements,
      ...(note === undefined ? [] : [note(rows)]),
    ],
  };
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

/** Plans what the rows of a register change in the directory. */
export const registerPlanner = ({ name: register, lists, parts }: Register): Planner => ({
  origin: `import:${register}`,
  ...(parts?.onceEach === true && { note: (rows) => noteDigests(register, rows) }),
  plan: async (store, rows, now) => {
    const drafts = rows.map(({ payload }): RegisterDraft => JSON.parse(payload));
    const orgIds = drafts.map(({ org_id }) => org_id);
    const noProfile = drafts.filter(({ fields }) => fields === null || !lists);
    const ids = await idsByOrgId(store, orgIds);
    const unlisted = await recordsWithoutProfile(
      store,
      register,
      noProfile.map(({ org_id }) => org_id),
    );
    const scopes = await scopesRead(store);
    const stored = await recordsById(store, [...new Set(ids.values())]);
    const records = new Map(stored.map((record) => [record.id, record]));
    // Two rows may belong to one nonprofit with two registrations: they share one save.
    const saves = new Map<number, Save & { before: NonprofitRecord }>();
    return drafts.map((draft, at): Outcome => {
      const { scope = "", as_of = "" } = rows[at] ?? {};
      const terms = { register, lists, scope, as_of, scopes };
      const before = records.get(ids.get(draft.org_id) ?? 0);
      if (before !== undefined) {
        const save = saves.get(before.id) ?? { before, after: before };
        const after = isBeatenBy(save.after.register_records, draft)
          ? save.after
          : mergedWithRegister(save.after, draft, terms, now.getTime());
        if (after === save.after) return isOfNoRow(draft) ? "kept" : "unchanged";
        save.after = after;
        saves.set(before.id, save);
        return save;
      }
      const outcome = outcomeOfNew(draft, terms, unlisted.get(draft.org_id), now);
      // Another row may be about the same organisation, for another period.
      if (isRecord(outcome)) unlisted.set(draft.org_id, outcome.record);
      return outcome;
    });
  },
});

/** The outcome of a row about an organisation without a profile; `stored` is its record until now. */
function outcomeOfNew(
  draft: RegisterDraft,
  terms: RegisterTerms,
  stored: RegisterRecord | undefined,
  now: Date,
): Outcome {
  if (isOfNoRow(draft)) return "kept";
  if (draft.record !== null && (draft.fields === null || !terms.lists)) {
    if (stored !== undefined && isBeatenBy([stored], draft)) return "recorded";
    const row = { ...draft.record, facts: factsWithWaiting(stored, draft, terms, now.getTime()) };
    const record = recordAfter(stored, recordOf(row, terms));
    return record === stored ? "recorded" : { record };
  }
  if (!terms.lists) return "not_joined";
  return { before: null, after: newFromRegister(draft, terms, now.getTime()) };
}

const isOfNoRow = ({ fields, record }: RegisterDraft): boolean =>
  fields === null && record === null;
