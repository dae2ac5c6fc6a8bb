import { entriesPerPage, staticPagesMax } from "#content/contract/browse.ts";
import type { Queryable } from "#content/store/open.ts";
import { openBrowse } from "./browse-store.ts";
import { idsInList, membersByList } from "#content/nonprofit/list-store.ts";

/** The lists of the directory in their `list_order`: where each nonprofit stands. Places count from 0. */
export type ListIndex = ReturnType<typeof openListIndex>;

/** What stands further behind is on no page of the bundle. */
const foremost = { limit: entriesPerPage * staticPagesMax, offset: 0 };

/** Reads the foremost part of lists alone: what a change costs does not grow with them. */
export function openListIndex(store: Queryable) {
  const browse = openBrowse(store);
  return {
    /** How many of a list have each value of each facet. */
    facets: browse.facetsOf,
    /** The places of these nonprofits in their lists, or in those of one kind; Infinity: on no page. */
    places: async (ids: readonly number[], kind?: "cause" | "country") => {
      const counts = new Map<number, Map<string, number>>();
      for (const [list, members] of await membersByList(store, ids, kind)) {
        const order = await idsInList(store, list, foremost);
        for (const id of members) {
          const place = order.indexOf(id);
          const lists = counts.getOrInsertComputed(id, () => new Map<string, number>());
          lists.set(list, place === -1 ? Infinity : place);
        }
      }
      return counts;
    },
  };
}
