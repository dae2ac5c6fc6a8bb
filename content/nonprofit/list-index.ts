import type { Queryable } from "#content/store/open.ts";

/** The lists of the directory in their `list_order`: where each nonprofit stands. Places count from 0. */
export type ListIndex = {
  /** How many stand in a list, 0 for none. */
  count(list: string): Promise<number>;
  /** Ids of a part of a list, in its order. */
  ids(list: string, part: { limit: number; offset: number }): Promise<readonly number[]>;
  /** The places of these nonprofits in their lists, or in those of one kind. */
  places(
    ids: readonly number[],
    kind?: "cause" | "country",
  ): Promise<Map<number, Map<string, number>>>;
  /**
   * Takes notice of the changes after one sequence number up to another, which moved these lists. When those before
   * them were not told here (another process published them), nothing that was known counts any more.
   */
  follow(changes: { after: number; upTo: number; moved: readonly string[] }): void;
};

/**
 * Lists kept in memory, 4 bytes a place, each read when it is first asked for: the database would count what stands
 * ahead for every question. Whoever publishes changes says which lists they moved, before asking again.
 */
export function openListIndex(store: Queryable): ListIndex {
  const kept = new Map<string, Promise<Int32Array>>();
  let reached = -1;
  const listOf = (list: string): Promise<Int32Array> =>
    kept.getOrInsertComputed(list, () => {
      const reading = readList(store, list);
      reading.catch(() => kept.delete(list));
      return reading;
    });
  return {
    count: async (list) => (await listOf(list)).length,
    ids: async (list, { limit, offset }) => [
      ...(await listOf(list)).subarray(offset, offset + limit),
    ],
    places: async (ids, kind) => {
      const found = new Map<number, Map<string, number>>();
      for (const [list, members] of await membersByList(store, ids, kind)) {
        const order = await listOf(list);
        for (const id of members) {
          const place = order.indexOf(id);
          if (place === -1) continue;
          found.getOrInsertComputed(id, () => new Map<string, number>()).set(list, place);
        }
      }
      return found;
    },
    follow: ({ after, upTo, moved }) => {
      if (reached === after) for (const list of moved) kept.delete(list);
      else kept.clear();
      reached = upTo;
    },
  };
}

/** Index: listings_by_list_order. One JSON text: fetching row by row takes several times as long. */
async function readList(store: Queryable, list: string): Promise<Int32Array> {
  const { rows } = await store.raw.execute({
    sql: `SELECT json_group_array(nonprofit_id) AS ids
          FROM (
            SELECT nonprofit_id FROM listings
            WHERE list = ?
            ORDER BY list_order, name_key, nonprofit_id
          )`,
    args: [list],
  });
  return Int32Array.from(JSON.parse(String(rows[0]?.["ids"] ?? "[]")) as number[]);
}

async function membersByList(
  store: Queryable,
  ids: readonly number[],
  kind?: "cause" | "country",
): Promise<Map<string, number[]>> {
  const { rows } = await store.raw.execute({
    sql: `SELECT json_group_array(json_array(list, nonprofit_id)) AS members
          FROM listings
          WHERE nonprofit_id IN (SELECT value FROM json_each(?)) AND list LIKE ? AND list <> 'thin'`,
    args: [JSON.stringify(ids), kind === undefined ? "%" : `${kind}:%`],
  });
  const members = JSON.parse(String(rows[0]?.["members"] ?? "[]")) as [string, number][];
  const byList = new Map<string, number[]>();
  for (const [list, id] of members) byList.getOrInsertComputed(list, () => []).push(id);
  return byList;
}
