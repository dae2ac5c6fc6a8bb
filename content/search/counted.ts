import { noFilters } from "#content/contract/browse.ts";
import { matchesMax, type SearchQuery } from "#content/contract/search.ts";
import type { FacetCounts } from "#content/nonprofit/browse-columns.ts";
import type { Browse } from "#content/nonprofit/browse-store.ts";
import type { Search } from "./search.ts";

/**
 * How many results a search would give with each value of each facet in place of its own filter, exactly: those of a
 * query that is `steady`. Null when more match than are counted.
 */
export type CountSearch = (query: SearchQuery, version?: number) => Promise<FacetCounts | null>;

export const countedIn =
  (search: Search, browse: Pick<Browse, "facets">): CountSearch =>
  async (query, version) => {
    const { cause, country, region = null, accepts, has_website } = query;
    const website = has_website === null ? null : String(has_website);
    const filters = { ...noFilters, cause, country, region, accepts, has_website: website };
    // The lists know no alignment: of what no one counted nothing is said.
    if (query.q === null) return query.ghd_aligned ? null : browse.facets(null, filters);
    const words = { ...query, cause: null, country: null, region: null, accepts: null };
    const { matches = [] } = await search(
      { ...words, has_website: null, matches: true, offset: 0 },
      version,
    );
    return matches.length > matchesMax ? null : browse.facets(matches, filters);
  };
