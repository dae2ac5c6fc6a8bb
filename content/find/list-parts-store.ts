import type { Queryable } from "#content/store/open.ts";

/** One of several parts of a list: those whose id leaves `residue` when divided by `parts`. */
export type PartOfList = { list: string; parts: number; residue: number };

/** Ids of a part of a list, ascending. One JSON text: fetching row by row takes several times as long. */
export async function idsInPart(
  store: Queryable,
  { list, parts, residue }: PartOfList,
): Promise<number[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT json_group_array(nonprofit_id) AS ids
          FROM (
            SELECT nonprofit_id FROM listings
            WHERE list = ? AND nonprofit_id % ? = ?
            ORDER BY nonprofit_id
          )`,
    args: [list, parts, residue],
  });
  return JSON.parse(String(rows[0]?.["ids"] ?? "[]")) as number[];
}

/** The newest change to anything in a part of a list. */
export type NewestInPart = { list: string; residue: number; sequence: number };

/** Which changes to ask about: after one sequence number, up to another. */
export type ChangeSpan = { after: number; upTo: number };

const touchedBy = {
  all: "SELECT 'all' AS list, nonprofit_id, sequence FROM changed",
  cause: `SELECT 'cause:' || cause_id AS list, nonprofit_id, sequence
          FROM changed JOIN nonprofit_causes USING (nonprofit_id)
          UNION ALL
          SELECT value, nonprofit_id, sequence
          FROM changed, json_each(moved_lists) WHERE value LIKE 'cause:%'`,
};

/**
 * The newest change of each part of all nonprofits, or of each cause, among those that stand in it or left it: the span
 * of changes is grouped by the id's residue of `parts`.
 */
export async function newestByPart(
  store: Queryable,
  { after, upTo }: ChangeSpan,
  parts: number,
  lists: keyof typeof touchedBy,
): Promise<NewestInPart[]> {
  const { rows } = await store.raw.execute({
    sql: `WITH changed AS (
            SELECT nonprofit_id, moved_lists, sequence FROM changes
            WHERE sequence > ?1 AND sequence <= ?2 AND nonprofit_id IS NOT NULL
          ), touched AS (${touchedBy[lists]})
          SELECT list, nonprofit_id % ?3 AS residue, max(sequence) AS sequence
          FROM touched GROUP BY 1, 2`,
    args: [after, upTo, parts],
  });
  return rows.map((row) => ({
    list: String(row["list"]),
    residue: Number(row["residue"]),
    sequence: Number(row["sequence"]),
  }));
}

/** How many of a list stand in each of its parts, by residue; empty parts are left out. */
export async function countsByPart(
  store: Queryable,
  list: string,
  parts: number,
): Promise<Map<number, number>> {
  const { rows } = await store.raw.execute({
    sql: `SELECT nonprofit_id % ? AS residue, count(*) AS count FROM listings
          WHERE list = ? GROUP BY 1`,
    args: [parts, list],
  });
  return new Map(rows.map((row) => [Number(row["residue"]), Number(row["count"])]));
}
