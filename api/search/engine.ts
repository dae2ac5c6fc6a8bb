import { availableParallelism } from "node:os";
import type { SearchQuery } from "#content/shapes/search.ts";
import type { Store } from "#content/store/open.ts";
import type { Watch } from "#content/store/watch.ts";
import { SearchCache } from "./cache.ts";
import { runInPool } from "./pool.ts";
import { type FoundPage, runHere, type SearchRunner } from "./runner.ts";

export type SearchEngine = {
  /** Finds one page. What was committed before the call is in it; the same page is the same object. */
  find: (query: SearchQuery) => Promise<FoundPage>;
  close(): void;
};

const threadsMax = 4;

/**
 * Search with threads of its own beside an embedded store; through the store itself otherwise, for then the libSQL
 * server does the work. `threads`: 0 for none, one for each processor (2 to 4) when not given.
 */
export function openSearch(
  store: Store,
  watch: Watch,
  { databaseUrl, threads }: { databaseUrl: string; threads?: number },
): SearchEngine {
  const wanted = threads ?? Math.min(Math.max(availableParallelism(), 2), threadsMax);
  const pooled = store.embedded && wanted > 0;
  return searchEngine(watch, pooled ? runInPool(databaseUrl, wanted) : runHere(store.raw));
}

/** Searches through a runner, and keeps what was found as long as it is exact. */
export function searchEngine(watch: Watch, runner: SearchRunner): SearchEngine {
  const cache = new SearchCache();
  const running = new Map<string, Promise<FoundPage>>();
  watch.listen((changes) => {
    if (changes === null) cache.clear();
    else cache.take(changes);
  });

  async function find(query: SearchQuery, key: string): Promise<FoundPage> {
    const sequence = watch.sequence();
    const { version } = cache;
    const looked = cache.look(key, performance.now());
    if (looked.kind === "fresh") return looked.page;
    if (looked.kind === "doubtful") {
      const { page, changedIds } = looked;
      if (await runner.stillExact(query, page, changedIds, version)) {
        cache.confirm(key, sequence);
        return page;
      }
    }
    const page = await runner.run(query, version);
    // With a change heard of meanwhile, nobody knows what it did to this page.
    if (watch.sequence() === sequence) {
      cache.keep(key, query, page, { sequence, nowMs: performance.now() });
    }
    return page;
  }

  return {
    find: async (query) => {
      if (!watch.isFresh()) await watch.refresh();
      const key = keyOf(query);
      // Two who ask the same before anything changes share one search.
      const flight = `${watch.sequence()} ${key}`;
      const already = running.get(flight);
      if (already !== undefined) return already;
      const search = find(query, key).finally(() => running.delete(flight));
      running.set(flight, search);
      return search;
    },
    close: () => runner.close(),
  };
}

const keyOf = ({ q, cause, country, ghd_aligned, limit, offset }: SearchQuery): string =>
  JSON.stringify([q, cause, country, ghd_aligned, limit, offset]);
