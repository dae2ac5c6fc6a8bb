import type { NonprofitRecord, RegisterRecord } from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import type { Save } from "#content/nonprofit/save.ts";
import { idsByOrgId, recordsWithoutProfile } from "#content/register/import-store.ts";
import {
  mergedWithRegister,
  newFromRegister,
  recordAfter,
  type RegisterDraft,
  type RegisterTerms,
} from "#content/register/merge.ts";
import { scopesRead } from "#content/register/standing-store.ts";
import type { Outcome, Planner } from "./apply.ts";
import type { Staged } from "./staging.ts";

/** What the rows of a register change in the directory and add to it. */
export const registerPlanner = (
  register: Pick<RegisterTerms, "register" | "lists">,
): Planner<Staged> => ({
  origin: `import:${register.register}`,
  plan: async (store, rows, now) => {
    const drafts = rows.map(({ payload }): RegisterDraft => JSON.parse(payload));
    const orgIds = drafts.map(({ org_id }) => org_id);
    const noProfile = drafts.filter(({ fields }) => fields === null);
    const ids = await idsByOrgId(store, orgIds);
    const unlisted = await recordsWithoutProfile(
      store,
      register.register,
      noProfile.map(({ org_id }) => org_id),
    );
    const scopes = await scopesRead(store);
    const stored = await recordsById(store, [...new Set(ids.values())]);
    const records = new Map(stored.map((record) => [record.id, record]));
    // Two rows may be of one nonprofit, with two registrations: they share one save.
    const saves = new Map<number, Save & { before: NonprofitRecord }>();
    return drafts.map((draft, at): Outcome => {
      const { scope = "", as_of = "" } = rows[at] ?? {};
      const terms = { ...register, scope, as_of, scopes };
      const before = records.get(ids.get(draft.org_id) ?? 0);
      if (before !== undefined) {
        const save = saves.get(before.id) ?? { before, after: before };
        const after = mergedWithRegister(save.after, draft, terms, now.getTime());
        if (after === save.after) return isOfNoRow(draft) ? "kept" : "unchanged";
        save.after = after;
        saves.set(before.id, save);
        return save;
      }
      return outcomeOfNew(draft, terms, unlisted.get(draft.org_id), now);
    });
  },
});

/** What becomes of an organisation that has no profile; `said` is what the register said of it before. */
function outcomeOfNew(
  draft: RegisterDraft,
  terms: RegisterTerms,
  said: RegisterRecord | undefined,
  now: Date,
): Outcome {
  if (isOfNoRow(draft)) return "kept";
  if (draft.fields === null && draft.record !== null) {
    const { register, scope, as_of } = terms;
    const record = recordAfter(said, { register, scope, as_of, ...draft.record });
    return record === said ? "recorded" : { record };
  }
  if (!terms.lists) return "not_joined";
  return { before: null, after: newFromRegister(draft, terms, now.getTime()) };
}

const isOfNoRow = ({ fields, record }: RegisterDraft): boolean =>
  fields === null && record === null;
