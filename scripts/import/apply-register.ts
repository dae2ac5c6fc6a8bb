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
import { giveSlugs } from "#content/register/slug-store.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { type Applying, type Plan, type Planner, startPace } from "./apply.ts";
import type { Staged, Staging } from "./staging.ts";

type Drafted = { draft: RegisterDraft; terms: RegisterTerms };

/** What the rows of a register change in the directory and add to it. */
export function registerPlanner(terms: Omit<RegisterTerms, "scope">): Planner {
  const slugsFor = giveSlugs();
  const look = async (store: Queryable, rows: Staged[], now: Date) => {
    const drafted = rows.map((row): { row: Staged } & Drafted => ({
      row,
      draft: JSON.parse(row.payload),
      terms: { ...terms, scope: row.scope },
    }));
    const orgIds = drafted.map(({ draft }) => draft.org_id);
    const ids = await idsByOrgId(store, orgIds);
    const stored = await recordsById(store, [...new Set(ids.values())]);
    const records = new Map(stored.map((record) => [record.id, record]));
    const found: Plan & { open: Staged[]; added: Drafted[] } = {
      saves: [],
      unchanged: 0,
      skipped: [],
      open: [],
      added: [],
    };
    for (const { row, ...one } of drafted) {
      const before = records.get(ids.get(one.draft.org_id) ?? 0);
      if (before === undefined) {
        if (!terms.lists) {
          found.skipped.push("not_joined");
          continue;
        }
        found.added.push(one);
      } else {
        const after = mergedWithRegister(before, one.draft, one.terms, now.getTime());
        if (after === before) {
          found.unchanged += 1;
          continue;
        }
        found.saves.push({ before, after });
      }
      found.open.push(row);
    }
    return found;
  };
  const additions = async (
    store: Queryable,
    added: readonly Drafted[],
    now: Date,
  ): Promise<Save[]> => {
    const unnamed = added.map(({ draft: { slug_name, org_id, fields } }) => {
      const { city = null, region = null } = fields;
      return { slug_name, org_id, city, region };
    });
    const slugs = added.length === 0 ? [] : await slugsFor(store, unnamed);
    return added.map(({ draft, terms: own }, at) => {
      const after: NonprofitRecord = newFromRegister(draft, slugs[at] ?? "", own, now.getTime());
      return { before: null, after };
    });
  };
  return {
    origin: `import:${terms.register}`,
    look,
    plan: async (tx, rows, now) => {
      const found = await look(tx, rows, now);
      return { ...found, saves: [...found.saves, ...(await additions(tx, found.added, now))] };
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
