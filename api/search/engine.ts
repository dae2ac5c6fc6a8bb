import { availableParallelism } from "node:os";
import type { SearchQuery } from "#content/contract/search.ts";
import type { Change } from "#content/nonprofit/changes-store.ts";
import type { Store } from "#content/store/open.ts";
import type { Watch } from "#content/feed/watch.ts";
import { EncodedBody } from "#api/http/encoded-body.ts";
import { isSearched, SearchCache } from "./cache.ts";
import type { KeptPage } from "./cached-page.ts";
import { runInPool } from "./pool.ts";
import { runHere, type SearchRunner } from "./runner.ts";
import { answerParts } from "./search-answer.ts";

export type SearchEngine = {
  /** Finds one page. What was committed before the call is in it. */
  find: (query: SearchQuery) => Promise<KeptPage>;
  /** Settled once searches are as fast as they will be. */
  ready: Promise<void>;
  close(): Promise<void>;
};

export type SearchOptions = {
  databaseUrl: string;
  /** Origin in absolute URLs, without a trailing slash. */
  baseUrl: string;
  /** 0 for none; for as many as suit the machine when not given. */
  threads?: number;
  onWarning?: (message: string) => void;
};

/** A thread answers some 2,000 searches a second, and holds the index in memory: two are enough for any machine. */
const threadsMax = 2;

/**
 * Search on threads of its own beside an embedded store; through the store itself otherwise, for then the libSQL
 * server does the work.
 */
export function openSearch(
  store: Store,
  watch: Watch,
  { threads, ...options }: SearchOptions,
): SearchEngine {
  const { databaseUrl: url, baseUrl, onWarning } = options;
  // One processor is left for the thread that speaks HTTP.
  const wanted = threads ?? Math.min(Math.max(availableParallelism() - 1, 1), threadsMax);
  const warned = onWarning === undefined ? {} : { onWarning };
  const runner =
    store.embedded && wanted > 0
      ? runInPool({ url, baseUrl, threads: wanted, ...warned })
      : runHere(store, { baseUrl, inMemory: store.embedded });
  return searchEngine(watch, runner);
}

/** Searches through a runner, and keeps what was found as long as it is exact. */
export function searchEngine(watch: Watch, runner: SearchRunner): SearchEngine {
  const cache = new SearchCache();
  const running = new Map<string, Promise<KeptPage>>();
  /** Settled when the runner and the cache know of all changes heard of. */
  let told: Promise<void> | null = null;
  watch.listen((changes) => {
    // One after another: an earlier change must not be taken in after a later one.
    const telling = (told ?? Promise.resolve()).then(() => tell(cache, runner, changes));
    told = telling;
    void telling.then(() => {
      if (told === telling) told = null;
    });
  });

  async function find(query: SearchQuery, key: string): Promise<KeptPage> {
    while (told !== null) await told;
    const sequence = watch.sequence();
    const known = cache.look(key, performance.now());
    if (known !== null) return known;
    const { answer, ids, kept } = await runner.run(query);
    const page = { ids, kept, answer: new EncodedBody(answerParts(answer), "application/json") };
    // With a change heard of meanwhile, nobody knows what it did to this page.
    if (watch.sequence() === sequence) cache.keep(key, query, page, performance.now());
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
    ready: runner.ready,
    close: () => runner.close(),
  };
}

/** Tells the runner of changes, and drops what they alter. Never throws. */
async function tell(
  cache: SearchCache,
  runner: SearchRunner,
  changes: readonly Change[] | null,
): Promise<void> {
  try {
    const profiles = changes === null ? null : changedProfiles(changes);
    if (changes !== null) cache.take(changes);
    const words = profiles?.length === 0 ? [] : await runner.change(profiles);
    if (words === null) cache.clear();
    else cache.takeWords(words);
  } catch {
    // Who cannot be told cannot be asked either: the next search says what is wrong.
    cache.clear();
  }
}

function changedProfiles(changes: readonly Change[]) {
  const searchedById = new Map<number, boolean>();
  for (const change of changes) {
    const { nonprofit_id: id } = change;
    if (id !== null) searchedById.set(id, isSearched(change) || searchedById.get(id) === true);
  }
  return [...searchedById].map(([id, searched]) => ({ id, searched }));
}

const keyOf = ({ q, cause, country, ghd_aligned, limit, offset }: SearchQuery): string =>
  JSON.stringify([q, cause, country, ghd_aligned, limit, offset]);
