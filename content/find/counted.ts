import { type FacetCounts, noFilters } from "#content/contract/browse.ts";
import { matchesMax, type SearchQuery } from "#content/contract/search.ts";
import type { Browse } from "./browse-store.ts";
import type { Search } from "./search.ts";

/**
 * How many results a search would give with each value of each facet in place of its own filter, exactly: those of a
 * query that is `steady`. Null when more match than are counted.
 */
export type CountSearch = (query: SearchQuery, version?: number) => Promise<FacetCounts | null>;

export const countedIn =
  (search: Search, browse: Pick<Browse, "facets">): CountSearch =>
  async (query, version) => {
    const { q, filters } = query;
    if (q === null) return browse.facets(null, filters);
    const words = { ...query, filters: noFilters, matches: true, offset: 0 } as const;
    const { matches = [] } = await search(words, version);
    return matches.length > matchesMax ? null : browse.facets(matches, filters);
  };
