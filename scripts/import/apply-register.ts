import {
  type RegisterDraft,
  type RegisterTerms,
  mergedWithRegister,
  newFromRegister,
} from "#content/register/merge.ts";
import type { Clock } from "#content/contract/time.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { idsByOrgId } from "#content/register/import-store.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { giveSlugs, type SlugGiver } from "#content/register/slug-store.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { type Save, saveNonprofits } from "#content/nonprofit/save.ts";
import { startPace } from "./pace.ts";
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
