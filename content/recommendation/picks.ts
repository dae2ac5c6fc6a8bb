import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import type { PickOrigin } from "./curation.ts";

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
