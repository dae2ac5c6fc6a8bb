import type { NonprofitRecord, RegisterRecord } from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import type { Save } from "#content/nonprofit/save.ts";
import {
  idsByOrgId,
  type ListedProfile,
  listedInScopes,
  recordsInScopes,
  recordsWithoutProfile,
  scopesOf,
} from "#content/register/import-store.ts";
import {
  mergedWithRegister,
  newFromRegister,
  recordAfter,
  type RegisterDraft,
  type RegisterTerms,
  withdrawnByRegister,
} from "#content/register/merge.ts";
import type { Store } from "#content/store/open.ts";
import type { Outcome, Planner } from "./apply.ts";
import type { CsvFormat } from "./format.ts";
import { BadInput } from "./read-file.ts";
import type { Staged, Staging } from "./staging.ts";

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
    const stored = await recordsById(store, [...new Set(ids.values())]);
    const records = new Map(stored.map((record) => [record.id, record]));
    // Two rows may be of one nonprofit, with two registrations: they share one save.
    const saves = new Map<number, Save & { before: NonprofitRecord }>();
    return drafts.map((draft, at): Outcome => {
      const { scope = "", as_of = "" } = rows[at] ?? {};
      const terms = { ...register, scope, as_of };
      const before = records.get(ids.get(draft.org_id) ?? 0);
      if (before !== undefined) {
        const save = saves.get(before.id) ?? { before, after: before };
        const after = mergedWithRegister(save.after, draft, terms, now.getTime());
        if (after === save.after) return "unchanged";
        save.after = after;
        saves.set(before.id, save);
        return save;
      }
      if (draft.fields === null && draft.record !== null) {
        const said = unlisted.get(draft.org_id);
        const record = recordAfter(said, {
          register: register.register,
          scope,
          as_of,
          ...draft.record,
        });
        return record === said ? "recorded" : { record };
      }
      if (!terms.lists) return "not_joined";
      return { before: null, after: newFromRegister(draft, terms, now.getTime()) };
    });
  },
});

const lookedAtAtOnce = 1_000;

/** A part of a register that a run covers: how many nonprofits it listed, and those that no row names. */
export type Covered = { part: string; listed: number; absent: ListedProfile[] };

/**
 * What a run covers, and what it would withdraw. Covered are the parts in which its rows stand, or those of `asked`: names
 * of parts with commas between, "all" for whatever the register listed, "none". One that moved to another part of the run is
 * staged; one of a part that is not covered stays. Throws BadInput for a part that neither rows nor store know.
 */
export async function findCovered(
  store: Store,
  staging: Staging,
  { name, parts }: CsvFormat,
  asked: string | null,
): Promise<Covered[]> {
  if (parts === undefined || asked === "none") return [];
  const stored = await scopesOf(store, name);
  const known = new Set([...staging.scopes, ...stored.filter((scope) => parts.fits.test(scope))]);
  const wanted = asked === "all" ? known : new Set(asked?.split(",") ?? staging.scopes);
  const unknown = [...wanted].filter((part) => !known.has(part));
  if (unknown.length > 0) {
    const problem = `no row and no profile stands in ${unknown.join(", ")}; send some of ${[...known].toSorted().join(", ")}`;
    throw new BadInput("--scope", null, problem);
  }
  // Earlier versions noted the name of the file: what such a profile's place says counts instead.
  const partOf = (one: ListedProfile) =>
    parts.fits.test(one.scope) ? one.scope : parts.ofProfile(one);
  const scopes = stored.filter((scope) => wanted.has(scope) || !parts.fits.test(scope));
  const covered = new Map<string, Covered>();
  const coveredPart = (part: string) => {
    const found = covered.get(part) ?? { part, listed: 0, absent: [] };
    covered.set(part, found);
    return found;
  };
  for (const part of wanted) coveredPart(part);
  await eachListed(store, { register: name, scopes }, (one) => {
    const part = partOf(one) ?? "unknown";
    if (asked !== "all" && !wanted.has(part)) return;
    const found = coveredPart(part);
    found.listed += 1;
    if (!staging.has(one.org_ids)) found.absent.push(one);
  });
  return [...covered.values()].toSorted((a, b) => (a.part < b.part ? -1 : 1));
}

async function eachListed(
  store: Store,
  { register, scopes }: { register: string; scopes: readonly string[] },
  look: (one: ListedProfile) => void,
): Promise<void> {
  for (let after = 0; ;) {
    const listed = await listedInScopes(store, register, scopes, { after, limit: lookedAtAtOnce });
    const last = listed.at(-1);
    if (last === undefined) return;
    after = last.id;
    for (const one of listed) look(one);
  }
}

/**
 * What the covered parts of a register said before of organisations that no staged row names, at most `max` of them; without
 * the absent ones, which are withdrawn, and what it said of them with them.
 */
export async function findGone(
  store: Store,
  staging: Staging,
  register: string,
  { covered, max }: { covered: readonly Covered[]; max: number },
): Promise<RegisterRecord[]> {
  const gone: RegisterRecord[] = [];
  const from = { register, scopes: covered.map(({ part }) => part) };
  const withdrawn = new Set(covered.flatMap(({ absent }) => absent.flatMap((one) => one.org_ids)));
  for (let after: string | undefined = ""; after !== undefined && gone.length < max;) {
    const part = await recordsInScopes(store, from, { after, limit: lookedAtAtOnce });
    gone.push(...part.filter(({ org_id }) => !withdrawn.has(org_id) && !staging.has([org_id])));
    after = part.at(-1)?.org_id;
  }
  return gone;
}

/** The row that says that the newest files no longer have an organisation, as if one of them said so. */
export function goneRow(
  { org_id, name, facts, scope, as_of }: RegisterRecord,
  asOf: Readonly<Record<string, string>>,
): Staged {
  const record = { org_id, name, facts, state: "gone" } as const;
  const draft: RegisterDraft = { org_id, fields: null, source_url: null, record };
  return { key: org_id, scope, as_of: asOf[scope] ?? as_of, payload: JSON.stringify(draft) };
}

/** Withdraws nonprofits by their ids, as of the date of the files. Their slugs stay taken, and they come back when the register lists them again. */
export const withdrawalPlanner = (register: string, as_of: string): Planner<number> => ({
  origin: `import:${register}`,
  plan: async (store, ids) => {
    const records = await recordsById(store, ids);
    return records.map((before): Outcome => {
      if (before.register !== register) return "kept";
      const after = withdrawnByRegister(before, { register, as_of });
      return after === before ? "kept" : { before, after };
    });
  },
});
