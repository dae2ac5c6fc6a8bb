import { availableParallelism } from "node:os";
import type { SearchQuery } from "#content/shapes/search.ts";
import type { Store } from "#content/store/open.ts";
import type { Watch } from "#content/store/watch.ts";
import { Prepared } from "../prepared.ts";
import { searchAnswer } from "./search-answer.ts";
import { SearchCache } from "./cache.ts";
import { runInPool } from "./pool.ts";
import { runHere, type SearchRunner } from "./runner.ts";

/** One page of a search as it is sent: a SearchAnswer in JSON, compressed at most once. */
export type KeptPage = { total: number; ids: number[]; match: string | null; answer: Prepared };

export type SearchEngine = {
  /** Finds one page. What was committed before the call is in it. */
  find: (query: SearchQuery) => Promise<KeptPage>;
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
  { databaseUrl, baseUrl, threads }: { databaseUrl: string; baseUrl: string; threads?: number },
): SearchEngine {
  const wanted = threads ?? Math.min(Math.max(availableParallelism(), 2), threadsMax);
  const pooled = store.embedded && wanted > 0;
  const runner = pooled ? runInPool(databaseUrl, wanted) : runHere(store.raw);
  return searchEngine(watch, runner, baseUrl);
}

/** Searches through a runner, and keeps what was found as long as it is exact. */
export function searchEngine(watch: Watch, runner: SearchRunner, baseUrl: string): SearchEngine {
  const cache = new SearchCache();
  const running = new Map<string, Promise<KeptPage>>();
  watch.listen((changes) => {
    if (changes === null) cache.clear();
    else cache.take(changes);
  });

  async function find(query: SearchQuery, key: string): Promise<KeptPage> {
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
    const found = await runner.run(query, version);
    const answer = new Prepared(searchAnswer(query, found, baseUrl), "application/json");
    const page = { total: found.total, ids: found.ids, match: found.match, answer };
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
