import { and, asc, eq, getTableColumns, gt, ne, type SQL } from "drizzle-orm";
import { type GovernancePhase, StarterSet } from "#content/contract/recommendation.ts";
import operatorsFile from "#content/editorial/starter-set.json";
import { idsBySlug } from "#content/nonprofit/record-store.ts";
import { changeDirectory } from "#content/nonprofit/save.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { type Statement, builder, insertMany, statement } from "#content/store/query.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { curatedPicks as picksTable } from "#content/store/tables/recommendations.ts";
import { describeFaults, wordingFaults } from "#content/nonprofit/text.ts";

/** A row of the recommended profiles, as an operator sees it. `updated_at` is in milliseconds since 1970. */
export type StoredPick = NewPick & { slug: string; name: string };

type NewPick = typeof picksTable.$inferSelect;

const columns = {
  ...getTableColumns(picksTable),
  slug: nonprofits.slug,
  name: nonprofits.name,
};

const storedPicks = (store: Queryable, which: SQL | undefined) =>
  store.db
    .select(columns)
    .from(picksTable)
    .innerJoin(nonprofits, eq(nonprofits.id, picksTable.nonprofit_id))
    .where(which);

/** The recommended profiles of the store by slug, at most `limit` after one. */
export const pickList = (
  store: Queryable,
  { after, limit }: { after: string | null; limit: number },
): Promise<StoredPick[]> =>
  storedPicks(store, gt(nonprofits.slug, after ?? ""))
    .orderBy(asc(nonprofits.slug))
    .limit(limit)
    .execute();

/** The recommendation of one nonprofit in the store, null for none. */
export async function pickOf(store: Queryable, nonprofit_id: number): Promise<StoredPick | null> {
  const [pick] = await storedPicks(store, eq(picksTable.nonprofit_id, nonprofit_id));
  return pick ?? null;
}

/** Adds a recommendation of a nonprofit that has none. */
export const addPick = (pick: NewPick): Statement[] => [
  statement(builder.insert(picksTable).values(pick)),
  ...tellPages(pick.updated_at),
];

/** Marks the pages that show what is recommended as changed. */
const tellPages = (at: number): Statement[] => changeDirectory("picks", new Date(at));

/** Recommends a nonprofit, or replaces what is said of it; what is not given stays as it is. */
export const setPick = ({
  nonprofit_id,
  ...said
}: typeof picksTable.$inferInsert & Pick<NewPick, "nonprofit_id" | "updated_at">): Statement[] => [
  statement(
    builder
      .insert(picksTable)
      .values({ nonprofit_id, ...said })
      .onConflictDoUpdate({ target: picksTable.nonprofit_id, set: said }),
  ),
  ...tellPages(said.updated_at),
];

/** Takes the recommendation of a nonprofit away, at a time in milliseconds since 1970. */
export const deletePick = (nonprofit_id: number, at: number): Statement[] => [
  statement(builder.delete(picksTable).where(eq(picksTable.nonprofit_id, nonprofit_id))),
  ...tellPages(at),
];

/**
 * A profile that is recommended. `causes` is null when it is so for all causes of the profile; `origin` says who made the
 * recommendation: the operator, an agent whose draft the operator approved, or agents that agree.
 */
export type CuratedPick = Pick<
  NewPick,
  "nonprofit_id" | "recommended_for" | "why_recommended" | "causes" | "origin"
>;

/**
 * All recommended profiles, by nonprofit id: the rows of the store and those picks of the operator's file whose slug
 * exists; the file wins over a row. What agents' agreement promoted counts in phase 3 only. Withdrawn nonprofits are left
 * out. Throws, naming the pick, when the file is malformed or a sentence in it claims too much.
 */
export async function curatedPicks(
  store: Queryable,
  { phase, file = operatorsFile }: { phase: GovernancePhase; file?: unknown },
): Promise<CuratedPick[]> {
  const picked = checkedStarterSet(file).picks;
  const { nonprofit_id: id, recommended_for, why_recommended, causes, origin } = picksTable;
  const stored = await store.db
    .select({ nonprofit_id: id, recommended_for, why_recommended, causes, origin })
    .from(picksTable)
    .innerJoin(nonprofits, eq(nonprofits.id, picksTable.nonprofit_id))
    .where(
      and(ne(nonprofits.status, "withdrawn"), phase === 3 ? undefined : ne(origin, "consensus")),
    );
  const picks = new Map<number, CuratedPick>(stored.map((pick) => [pick.nonprofit_id, pick]));
  const slugs = picked.map(({ slug }) => slug);
  const ids = await idsBySlug(store, slugs, { withdrawn: false });
  for (const { slug, causes: only = null, ...said } of picked) {
    const nonprofit_id = ids.get(slug);
    if (nonprofit_id === undefined) continue;
    picks.set(nonprofit_id, { nonprofit_id, ...said, causes: only, origin: "operator" });
  }
  return [...picks.values()].sort((a, b) => a.nonprofit_id - b.nonprofit_id);
}

let inFile: ReadonlySet<string> | null = null;

/** The nonprofits that the operator's file holds. */
export const fileSlugs = (): ReadonlySet<string> =>
  (inFile ??= new Set(checkedStarterSet(operatorsFile).picks.map(({ slug }) => slug)));

/** Whether the operator's file holds the nonprofit: what it says cannot be changed in the store. */
export const isInFile = (slug: string): boolean => fileSlugs().has(slug);

/** Stores the operator's picks, replacing those of the same nonprofits. Throws when a sentence claims too much. */
export async function saveCuratedPicks(
  tx: WriteTransaction,
  picks: readonly Pick<CuratedPick, "nonprofit_id" | "recommended_for" | "why_recommended">[],
): Promise<void> {
  for (const pick of picks) refuseClaims(`nonprofit ${pick.nonprofit_id}`, pick);
  await insertMany(
    tx,
    picksTable,
    picks.map(({ nonprofit_id, recommended_for, why_recommended }) => ({
      nonprofit_id,
      recommended_for: [...recommended_for],
      why_recommended,
    })),
    `ON CONFLICT (nonprofit_id) DO UPDATE SET
       recommended_for = excluded.recommended_for, why_recommended = excluded.why_recommended`,
  );
}

function checkedStarterSet(file: unknown): StarterSet {
  const starterSet = StarterSet.parse(file);
  for (const pick of starterSet.picks) refuseClaims(pick.slug, pick);
  return starterSet;
}

function refuseClaims(
  of: string,
  { recommended_for, why_recommended }: Pick<CuratedPick, "recommended_for" | "why_recommended">,
): void {
  const faults = [...recommended_for, why_recommended].flatMap(wordingFaults);
  if (faults.length > 0) throw new Error(`starter set, ${of}: ${describeFaults(faults)}`);
}
