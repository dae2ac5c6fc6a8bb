import type { Clock } from "#content/contract/time.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { type Save, saveNonprofits } from "#content/nonprofit/save.ts";
import { idsByOrgId, listedInScopes } from "#content/register/import-store.ts";
import {
  mergedWithRegister,
  newFromRegister,
  type RegisterDraft,
  type RegisterTerms,
  withdrawnByRegister,
} from "#content/register/merge.ts";
import { giveSlugs, type SlugGiver } from "#content/register/slug-store.ts";
import { retry } from "#content/runtime/retry.ts";
import { StoreBusy } from "#content/store/busy.ts";
import type { Queryable, Store } from "#content/store/open.ts";
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

/** Applies what is staged in short transactions, in the order of the org-ids. Stops between two when asked to. */
export async function applyRegister(
  { store, staging, report, clock, signal, onDone }: Applying,
  terms: Omit<RegisterTerms, "scope">,
): Promise<void> {
  const pace = startPace();
  const slugsFor = giveSlugs();
  let done = 0;
  for (let key = ""; !signal.aborted;) {
    const staged = staging.after(key, pace.size());
    const last = staged.at(-1);
    if (last === undefined) return;
    key = last.key;
    const rows = staged.map(draftOf);
    const now = clock();
    // What does not change is found without the write lock; what may change is looked at again inside.
    const open = await standing(store, rows, terms, now);
    report.unchanged += open.unchanged;
    for (let count = 0; count < open.unknown; count++) countSkip(report, "not_joined");
    if (open.rows.length > 0) {
      const counted = await pace.run(() =>
        store.write(async (tx) => {
          const found = await standing(tx, open.rows, terms, now);
          const saves = [
            ...found.saves,
            ...(await additions(tx, slugsFor, found.added, terms, now)),
          ];
          await saveNonprofits(tx, saves, { origin: `import:${terms.register}`, now });
          return found;
        }),
      );
      report.added += counted.added.length;
      report.changed += counted.saves.length;
      report.unchanged += counted.unchanged;
      report.restored += counted.saves.filter(isRestored).length;
    }
    done += rows.length;
    onDone(done);
  }
}

type Drafted = { draft: RegisterDraft; scope: string };

const draftOf = ({ payload, scope }: Staged): Drafted => ({ draft: JSON.parse(payload), scope });

type Standing = {
  saves: Save[];
  added: Drafted[];
  /** Rows that need writing. */
  rows: Drafted[];
  unchanged: number;
  unknown: number;
};

/** How the directory stands to these rows: what they change, add, leave, or do not concern. */
async function standing(
  store: Queryable,
  rows: readonly Drafted[],
  terms: Omit<RegisterTerms, "scope">,
  now: Date,
): Promise<Standing> {
  const ids = await idsByOrgId(
    store,
    rows.map(({ draft }) => draft.org_id),
  );
  const stored = await recordsById(store, [...new Set(ids.values())]);
  const records = new Map(stored.map((record) => [record.id, record]));
  const found: Standing = { saves: [], added: [], rows: [], unchanged: 0, unknown: 0 };
  for (const row of rows) {
    const { draft, scope } = row;
    const before = records.get(ids.get(draft.org_id) ?? 0);
    if (before === undefined && !terms.lists) {
      found.unknown += 1;
      continue;
    }
    if (before === undefined) found.added.push(row);
    else {
      const after = mergedWithRegister(before, draft, { ...terms, scope }, now.getTime());
      if (after === before) {
        found.unchanged += 1;
        continue;
      }
      found.saves.push({ before, after });
    }
    found.rows.push(row);
  }
  return found;
}

async function additions(
  store: Queryable,
  slugsFor: SlugGiver,
  added: Standing["added"],
  terms: Omit<RegisterTerms, "scope">,
  now: Date,
): Promise<Save[]> {
  if (added.length === 0) return [];
  const slugs = await slugsFor(
    store,
    added.map(({ draft: { slug_name, org_id, fields } }) => ({
      slug_name,
      org_id,
      city: fields.city ?? null,
      region: fields.region ?? null,
    })),
  );
  return added.map(({ draft, scope }, at): Save => {
    const after: NonprofitRecord = newFromRegister(
      draft,
      slugs[at] ?? "",
      { ...terms, scope },
      now.getTime(),
    );
    return { before: null, after };
  });
}

const isRestored = ({ before, after }: Save): boolean =>
  before?.status === "withdrawn" && after.status !== "withdrawn";

/** How long one transaction of an import should hold the store's write lock, in milliseconds. */
const transactionMs = 70;
const sizeMin = 10;
const sizeMax = 1_500;
const pauseMs = 4;

/** Finds the number of organisations that fit into one short transaction, and leaves room between two. */
export function startPace(): {
  size(): number;
  run<Value>(work: () => Promise<Value>): Promise<Value>;
} {
  let size = 100;
  return {
    size: () => size,
    run: async <Value>(work: () => Promise<Value>) => {
      let startedMs = 0;
      const attempt = async (): Promise<{ value: Value } | { busy: StoreBusy }> => {
        startedMs = performance.now();
        try {
          return { value: await work() };
        } catch (error) {
          if (error instanceof StoreBusy) return { busy: error };
          throw error;
        }
      };
      const waits = { triesMax: 20, firstMs: pauseMs, waitMaxMs: 50 };
      const outcome = await retry(attempt, (one) => "busy" in one, waits);
      if ("busy" in outcome) throw outcome.busy;
      const tookMs = Math.max(performance.now() - startedMs, 1);
      // Half the way toward the size that would have taken the time wanted: one slow commit is no trend.
      size = Math.round((size + size * Math.min(transactionMs / tookMs, 2)) / 2);
      size = Math.min(Math.max(size, sizeMin), sizeMax);
      // Others get the lock now; without a pause they would only find it free by luck.
      await Bun.sleep(pauseMs);
      return outcome.value;
    },
  };
}

const lookedAtAtOnce = 1_000;

/** What the files would withdraw: ids, and how many nonprofits their scopes hold. */
export type Absent = { ids: number[]; listed: number };

/**
 * The nonprofits that the same parts of the register listed before and that no staged row names. One that moved to
 * another file of the same run is staged, and one of a file that is not imported now is in another scope.
 */
export async function findAbsent(
  store: Store,
  staging: Staging,
  register: string,
  scopes: readonly string[],
): Promise<Absent> {
  const absent: Absent = { ids: [], listed: 0 };
  for (let after = 0; ;) {
    const part = await listedInScopes(store, register, scopes, {
      after,
      limit: lookedAtAtOnce,
    });
    const last = part.at(-1);
    if (last === undefined) return absent;
    after = last.id;
    absent.listed += part.length;
    absent.ids.push(...part.filter((one) => !staging.has(one.org_ids)).map(({ id }) => id));
  }
}

/** Withdraws them in short transactions. Their slugs stay taken, and they come back when the register lists them again. */
export async function withdrawAbsent(
  { store, report, clock, signal }: Omit<Applying, "staging" | "onDone">,
  ids: readonly number[],
  register: string,
): Promise<void> {
  const pace = startPace();
  for (let at = 0; at < ids.length && !signal.aborted;) {
    const part = ids.slice(at, at + pace.size());
    at += part.length;
    report.withdrawn += await pace.run(() =>
      store.write(async (tx) => {
        const records = await recordsById(tx, part);
        const saves = records.flatMap((before) => {
          const after = before.register === register ? withdrawnByRegister(before) : null;
          return after === null ? [] : [{ before, after }];
        });
        await saveNonprofits(tx, saves, { origin: `import:${register}`, now: clock() });
        return saves.length;
      }),
    );
  }
}
