import { type GovernancePhase, StarterSet } from "#content/contract/recommendation.ts";
import operatorsFile from "#content/editorial/starter-set.json";
import { insertMany } from "#content/store/query.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { describeFaults, wordingFaults } from "./wording.ts";

/** A row of the recommended profiles, as an operator sees it. `updated_at` is in milliseconds since 1970. */
export type StoredPick = {
  nonprofit_id: number;
  slug: string;
  name: string;
  recommended_for: string[];
  why_recommended: string;
  causes: string[] | null;
  origin: PickOrigin;
  draft_id: number | null;
  added_by: string;
  updated_at: number;
};

const columns = "p.*, n.slug, n.name";

/** The recommended profiles of the store by slug, at most `limit` after one. */
export async function pickList(
  store: Queryable,
  { after, limit }: { after: string | null; limit: number },
): Promise<StoredPick[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT ${columns}
          FROM curated_picks AS p
          JOIN nonprofits AS n ON n.id = p.nonprofit_id
          WHERE n.slug > ?
          ORDER BY n.slug
          LIMIT ?`,
    args: [after ?? "", limit],
  });
  return rows.map(pickFrom);
}

/** The recommendation of one nonprofit in the store, null for none. */
export async function pickOf(store: Queryable, nonprofit_id: number): Promise<StoredPick | null> {
  const { rows } = await store.raw.execute({
    sql: `SELECT ${columns}
          FROM curated_picks AS p
          JOIN nonprofits AS n ON n.id = p.nonprofit_id
          WHERE p.nonprofit_id = ?`,
    args: [nonprofit_id],
  });
  const [row] = rows;
  return row === undefined ? null : pickFrom(row);
}

type NewPick = Omit<StoredPick, "slug" | "name">;

/** Adds a recommendation. Answers false, and changes nothing, when the nonprofit has one. */
export async function addPick(tx: WriteTransaction, pick: NewPick): Promise<boolean> {
  const { rowsAffected } = await tx.raw.execute({
    sql: `INSERT INTO curated_picks
            (nonprofit_id, recommended_for, why_recommended, causes, origin, draft_id, added_by, updated_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT (nonprofit_id) DO NOTHING`,
    args: [pick.nonprofit_id, ...valuesOf(pick)],
  });
  return rowsAffected === 1;
}

/** Replaces what is said of a recommended nonprofit. Answers false when it has no recommendation. */
export async function replacePick(tx: WriteTransaction, pick: NewPick): Promise<boolean> {
  const { rowsAffected } = await tx.raw.execute({
    sql: `UPDATE curated_picks
          SET recommended_for = ?, why_recommended = ?, causes = ?, origin = ?, draft_id = ?, added_by = ?,
            updated_at = ?
          WHERE nonprofit_id = ?`,
    args: [...valuesOf(pick), pick.nonprofit_id],
  });
  return rowsAffected === 1;
}

/** Takes a recommendation away. Answers false when there was none. */
export async function deletePick(tx: WriteTransaction, nonprofit_id: number): Promise<boolean> {
  const { rowsAffected } = await tx.raw.execute({
    sql: "DELETE FROM curated_picks WHERE nonprofit_id = ?",
    args: [nonprofit_id],
  });
  return rowsAffected === 1;
}

const valuesOf = (pick: NewPick) => [
  JSON.stringify(pick.recommended_for),
  pick.why_recommended,
  pick.causes === null ? null : JSON.stringify(pick.causes),
  pick.origin,
  pick.draft_id,
  pick.added_by,
  pick.updated_at,
];

const pickFrom = (row: Record<string, unknown>): StoredPick =>
  ({
    ...row,
    recommended_for: JSON.parse(String(row["recommended_for"])),
    causes: row["causes"] === null ? null : JSON.parse(String(row["causes"])),
  }) as unknown as StoredPick;

/** Who made a recommendation: the operator, an agent whose draft the operator approved, or agents that agree. */
export type PickOrigin = "operator" | "draft" | "consensus";

/** A profile that is recommended. `causes` is null when it is so for all causes of the profile. */
export type CuratedPick = {
  nonprofit_id: number;
  recommended_for: string[];
  why_recommended: string;
  causes: string[] | null;
  origin: PickOrigin;
};

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
  const rows = await store.raw.execute({
    sql: `SELECT p.nonprofit_id, p.recommended_for, p.why_recommended, p.causes, p.origin
          FROM curated_picks AS p
          JOIN nonprofits AS n ON n.id = p.nonprofit_id
          WHERE n.status <> 'withdrawn' AND (p.origin <> 'consensus' OR ?)`,
    args: [phase === 3 ? 1 : 0],
  });
  const picks = new Map<number, CuratedPick>();
  for (const row of rows.rows) {
    picks.set(Number(row["nonprofit_id"]), {
      nonprofit_id: Number(row["nonprofit_id"]),
      recommended_for: JSON.parse(String(row["recommended_for"])),
      why_recommended: String(row["why_recommended"]),
      causes: row["causes"] === null ? null : JSON.parse(String(row["causes"])),
      origin: row["origin"] as PickOrigin,
    });
  }
  const ids = await idsBySlug(
    store,
    picked.map(({ slug }) => slug),
  );
  for (const { slug, recommended_for, why_recommended, causes } of picked) {
    const nonprofit_id = ids.get(slug);
    if (nonprofit_id === undefined) continue;
    picks.set(nonprofit_id, {
      nonprofit_id,
      recommended_for,
      why_recommended,
      causes: causes ?? null,
      origin: "operator",
    });
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
    "curated_picks",
    ["nonprofit_id", "recommended_for", "why_recommended"],
    picks.map((pick) => [
      pick.nonprofit_id,
      JSON.stringify(pick.recommended_for),
      pick.why_recommended,
    ]),
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

async function idsBySlug(store: Queryable, slugs: readonly string[]): Promise<Map<string, number>> {
  if (slugs.length === 0) return new Map();
  const { rows } = await store.raw.execute({
    sql: `SELECT id, slug FROM nonprofits
          WHERE slug IN (SELECT value FROM json_each(?)) AND status <> 'withdrawn'`,
    args: [JSON.stringify(slugs)],
  });
  return new Map(rows.map((row) => [String(row["slug"]), Number(row["id"])]));
}
