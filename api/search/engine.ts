import { availableParallelism } from "node:os";
import type { SearchQuery } from "#content/contract/search.ts";
import type { Watch } from "#content/feed/store.ts";
import { openBrowse } from "#content/find/browse-store.ts";
import { findProfiles, type FoundProfiles } from "#content/find/answer.ts";
import { countedIn, searchIn } from "#content/find/search.ts";
import { weighedCache } from "#content/runtime/cache.ts";
import type { Store } from "#content/store/open.ts";
import type { Config } from "#api/config.ts";
import type { SearchEngine } from "#api/context.ts";
import { EncodedBody } from "#api/http/encoded-body.ts";
import { openPool } from "./pool.ts";

/** One processor is left to the HTTP thread: with two search threads on two processors, p99 was half as long again. */
const threadsFor = (processors: number): number => Math.min(Math.max(processors - 1, 1), 4);

/**
 * Searches on its own threads beside an embedded store; otherwise through the store, because the libSQL server does the
 * work.
 */
export function openSearch(
  store: Store,
  watch: Watch,
  {
    databaseUrl: url,
    baseUrl,
    threads = threadsFor(availableParallelism()),
  }: Pick<Config, "databaseUrl" | "baseUrl"> & { threads?: number },
): SearchEngine {
  const pool = store.embedded && threads > 0 ? openPool({ url, threads }) : null;
  const browse = openBrowse(store);
  const search = pool?.search ?? searchIn(store, browse);
  const count = pool?.count ?? countedIn(search, browse);
  return {
    count: async (query) => count(query, await versionNow(watch)),
    find: cachedAnswers(watch, answersWith(findProfiles({ store, search, baseUrl }))),
    page: async (query) => search(query, await versionNow(watch)),
    browse: pool?.browse ?? browse.page,
    close: async () => pool?.close(),
  };
}

async function versionNow(watch: Watch): Promise<number> {
  if (!watch.isFresh()) await watch.refresh();
  return watch.sequence();
}

/** Answers as of the change `version` or a later one. */
type AnswerSearch = (query: SearchQuery, version: number) => Promise<EncodedBody>;

/** Encodes a SearchAnswer as JSON; both of its arrays of profiles share the same bytes. */
export const answersWith =
  (find: (query: SearchQuery, version: number) => Promise<FoundProfiles>): AnswerSearch =>
  async (query, version) => {
    const { head, nonprofits } = await find(query, version);
    const begin = utf8.encode(JSON.stringify(head).slice(0, -1));
    const profiles = utf8.encode(JSON.stringify(nonprofits));
    const arrays = namesOf(query.shape).flatMap((name) => [name, profiles]);
    return new EncodedBody([begin, ...arrays, end], "application/json");
  };

const utf8 = new TextEncoder();
const inShapeA = utf8.encode(',"nonprofits":');
const inShapeB = utf8.encode(',"results":');
const namesOf = (shape: string | undefined) =>
  shape === "a" ? [inShapeA] : shape === "b" ? [inShapeB] : [inShapeA, inShapeB];
const end = utf8.encode("}");

const cacheBytesMax = 24 * 1024 * 1024;
/** Memory of an entry besides the parts of its answer: compressed forms and the cache's own overhead. */
const bytesPerEntry = 8_000;

/**
 * Caches answers until the directory changes, then drops all at once: short-lived answers cost the collector little, and
 * no one asks for an old one. Clients that send the same query at the same time share one search.
 */
export function cachedAnswers(watch: Watch, answer: AnswerSearch): SearchEngine["find"] {
  const answersAsOf = (version: number) =>
    weighedCache<EncodedBody, SearchQuery>(
      cacheBytesMax,
      ({ memoryBytes }) => memoryBytes + bytesPerEntry,
      { fetchMethod: (_key, _stale, { context: query }) => answer(query, version) },
    );
  let version = -1;
  let cache = answersAsOf(version);
  return async (query) => {
    const newest = await versionNow(watch);
    if (version !== newest) {
      version = newest;
      cache = answersAsOf(version);
    }
    return cache.forceFetch(JSON.stringify(query), { context: query });
  };
}
