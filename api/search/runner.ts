import type { SearchQuery } from "#content/shapes/search.ts";
import type { Asked } from "#content/store/records.ts";
import { searchNonprofits, stillExact } from "#content/store/search.ts";
import { SearchMemory } from "#content/store/search-memory.ts";

/** One page of a search, ready to be sent: `nonprofits` is the JSON text of the array. */
export type FoundPage = { total: number; ids: number[]; match: string | null; nonprofits: string };

/** A page that was found earlier, as far as it takes to see whether it still holds. */
export type KnownPage = Pick<FoundPage, "total" | "match">;

/**
 * Who runs searches: this thread or a pool of others. `version` changes with the words and filters of any profile:
 * what a runner has learnt of the index holds for one version.
 */
export type SearchRunner = {
  run(query: SearchQuery, version: number): Promise<FoundPage>;
  stillExact(
    query: SearchQuery,
    page: KnownPage,
    changedIds: readonly number[],
    version: number,
  ): Promise<boolean>;
  close(): void;
};

/** Searches on this thread: for a libSQL server, for tests, and inside the workers of the pool. */
export function runHere(asked: Asked): SearchRunner {
  const memory = new SearchMemory();
  return {
    run: async (query, version) => {
      const page = await searchNonprofits(asked, query, memory.at(version));
      return { ...page, nonprofits: JSON.stringify(page.nonprofits) };
    },
    stillExact: (query, page, changedIds, version) =>
      stillExact(asked, query, page, changedIds, memory.at(version)),
    close: () => {},
  };
}
