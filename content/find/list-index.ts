import type { Queryable } from "#content/store/open.ts";
import { openBrowse } from "./browse-store.ts";
import { idsInList, membersByList } from "#content/nonprofit/list-store.ts";

/** The lists of the directory in their `list_order`: where each nonprofit stands. Places count from 0. */
export type ListIndex = ReturnType<typeof openListIndex>;

/**
 * Lists cached in memory, 4 bytes a place, each read when it is first asked for: the database would count what stands
 * ahead for every question. Anyone who publishes changes says which lists they moved, before asking again.
 */
export function openListIndex(store: Queryable) {
  const cached = new Map<string, Promise<Int32Array>>();
  let reached = -1;
  const browse = openBrowse(store);
  const listOf = (list: string): Promise<Int32Array> =>
    cached.getOrInsertComputed(list, () => {
      const reading = idsInList(store, list).then((ids) => Int32Array.from(ids));
      reading.catch(() => cached.delete(list));
      return reading;
    });
  return {
    /** How many stand in a list, 0 for none. */
    count: async (list: string): Promise<number> => (await listOf(list)).length,
    /** How many of a list have each value of each facet. */
    facets: browse.facetsOf,
    /** Ids of a part of a list, in its order. */
    ids: async (list: string, { limit, offset }: { limit: number; offset: number }) => [
      ...(await listOf(list)).subarray(offset, offset + limit),
    ],
    /** The places of these nonprofits in their lists, or in those of one kind. */
    places: async (ids: readonly number[], kind?: "cause" | "country") => {
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
    /**
     * Takes notice of the changes after one sequence number up to another, which moved these lists. When those before
     * them were not followed here (another process published them), nothing that is cached counts any more.
     */
    follow: ({ after, upTo, moved }: { after: number; upTo: number; moved: readonly string[] }) => {
      if (reached === after) for (const list of moved) cached.delete(list);
      else cached.clear();
      reached = upTo;
    },
  };
}
