import type { Queryable } from "#content/store/open.ts";

/** The `list_order` of lists and pages: verified first, then impact, then name. Index: listings_by_list_order. */
const order = "ORDER BY list_order, name_key, nonprofit_id";

/** Ids of a part of a list, in its order. */
export async function idsInList(
  store: Queryable,
  list: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<number[]> {
  // One JSON text: fetching row by row takes several times as long.
  const { rows } = await store.raw.execute({
    sql: `SELECT json_group_array(nonprofit_id) AS ids
          FROM (SELECT nonprofit_id FROM listings WHERE list = ? ${order} LIMIT ? OFFSET ?)`,
    args: [list, limit, offset],
  });
  return JSON.parse(String(rows[0]?.["ids"] ?? "[]")) as number[];
}

/** How many stand in each list. */
export async function listCounts(store: Queryable): Promise<Map<string, number>> {
  const { rows } = await store.raw.execute({
    sql: "SELECT list, count(*) AS count FROM listings GROUP BY list ORDER BY list",
    args: [],
  });
  return new Map(rows.map((row) => [String(row["list"]), Number(row["count"])]));
}

/** How many stand in one list. */
export async function countInList(store: Queryable, list: string): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: "SELECT count(*) AS count FROM listings WHERE list = ?",
    args: [list],
  });
  return Number(rows[0]?.["count"] ?? 0);
}

/** How many rows a table has; the name is ours, never a caller's text. */
export async function countOf(store: Queryable, table: "nonprofits" | "changes"): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: `SELECT count(*) AS count FROM ${table}`,
    args: [],
  });
  return Number(rows[0]?.["count"] ?? 0);
}
