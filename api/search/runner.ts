import type { KeptMatch } from "#content/search/kept-search.ts";
import type { ProfileWords } from "#content/search/match.ts";
import type { SearchQuery } from "#content/contract/search.ts";
import type { Queryable } from "#content/store/open.ts";
import { type ChangedProfile, Searcher, type SearcherOptions } from "#content/search/searcher.ts";
import { type AnswerBytes, answerBytes } from "./search-answer.ts";

/** One page of a search, ready to be sent. */
export type SentPage = { ids: number[]; kept: KeptMatch | null; answer: AnswerBytes };

/** Who runs searches: this thread or a pool of others. */
export type SearchRunner = {
  run(query: SearchQuery): Promise<SentPage>;
  /**
   * Tells that profiles changed, null for too many to tell: searches begun later have the changes. Answers the words
   * of those whose words, filters or place changed.
   */
  change(changes: readonly ChangedProfile[] | null): Promise<ProfileWords[] | null>;
  /** Settled once searches are as fast as they will be: the index is in memory, or could not be read into it. */
  ready: Promise<void>;
  close(): Promise<void>;
};

export type RunnerOptions = SearcherOptions & {
  /** Origin in absolute URLs, without a trailing slash. */
  baseUrl: string;
};

/** Searches on this thread: for a libSQL server, for tests, and inside the workers of the pool. */
export function runHere(store: Queryable, { baseUrl, ...options }: RunnerOptions): SearchRunner {
  const searcher = new Searcher(store, options);
  return {
    run: (query) =>
      searcher.find(query, ({ ids, kept, ...found }) => ({
        ids,
        kept,
        answer: answerBytes(query, { ...found, count: ids.length }, baseUrl),
      })),
    change: (changes) => searcher.change(changes),
    ready: searcher.loaded,
    close: () => {
      searcher.close();
      return Promise.resolve();
    },
  };
}
