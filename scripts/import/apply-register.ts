import { recordsById } from "#content/nonprofit/record-store.ts";
import { idsByOrgId, listedInScopes } from "#content/register/import-store.ts";
import {
  mergedWithRegister,
  newFromRegister,
  type RegisterDraft,
  type RegisterTerms,
  withdrawnByRegister,
} from "#content/register/merge.ts";
import type { Store } from "#content/store/open.ts";
import type { Outcome, Planner } from "./apply.ts";
import type { Staged, Staging } from "./staging.ts";

/** What the rows of a register change in the directory and add to it. */
export const registerPlanner = (register: Omit<RegisterTerms, "scope">): Planner<Staged> => ({
  origin: `import:${register.register}`,
  plan: async (store, rows, now) => {
    const drafts = rows.map(({ payload }): RegisterDraft => JSON.parse(payload));
    const orgIds = drafts.map(({ org_id }) => org_id);
    const ids = await idsByOrgId(store, orgIds);
    const stored = await recordsById(store, [...new Set(ids.values())]);
    const records = new Map(stored.map((record) => [record.id, record]));
    return drafts.map((draft, at): Outcome => {
      const terms = { ...register, scope: rows[at]?.scope ?? "" };
      const before = records.get(ids.get(draft.org_id) ?? 0);
      if (before !== undefined) {
        const after = mergedWithRegister(before, draft, terms, now.getTime());
        return after === before ? "unchanged" : { before, after };
      }
      if (!terms.lists) return "not_joined";
      return { before: null, after: newFromRegister(draft, terms, now.getTime()) };
    });
  },
});

const lookedAtAtOnce = 1_000;

/** What the files would withdraw: ids, and how many nonprofits their scopes hold. */
type Absent = { ids: number[]; listed: number };

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

/** Withdraws nonprofits by their ids. Their slugs stay taken, and they come back when the register lists them again. */
export const withdrawalPlanner = (register: string): Planner<number> => ({
  origin: `import:${register}`,
  plan: async (store, ids) => {
    const records = await recordsById(store, ids);
    return records.map((before): Outcome => {
      const after = before.register === register ? withdrawnByRegister(before) : null;
      return after === null ? "kept" : { before, after };
    });
  },
});
