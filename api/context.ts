import type { Browse, FoundList } from "#content/find/browse-store.ts";
import type { SearchAnswer, SearchInput, SearchQuery } from "#content/contract/search.ts";
import type { FacetCounts } from "#content/contract/browse.ts";
import type { CountSearch, SearchPage } from "#content/find/search.ts";
import type { ComparedProfiles } from "#content/find/answer.ts";
import type { CuratedPicks } from "#content/recommendation/curation.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { Organisation } from "#content/contract/standing.ts";
import type { FoundHistory } from "#content/contract/enrichment-answers.ts";
import type { DrawForm } from "./http/refusal-page.ts";
import type { PageForm } from "./http/headers.ts";
import type { EncodedBody } from "./http/encoded-body.ts";
import type { Clock } from "#content/contract/base/time.ts";
import type { Watch } from "#content/feed/store.ts";
import type { Activity } from "#content/operation/activity-store.ts";
import type { Store } from "#content/store/open.ts";
import type { RecommendationLog } from "#content/recommendation/log-store.ts";
import type { Config } from "./config.ts";
import type { ResponseCache } from "./http/response-cache.ts";
import type { Log } from "./log.ts";
import type { Limits } from "./http/rate-limit.ts";
import type { Secrets } from "./secrets.ts";
import type { OpenChain } from "./chain/open-chain.ts";

/** Finds nonprofits by words and filters; opened by `openSearch`. */
export type SearchEngine = {
  /** Finds one page, a SearchAnswer in JSON. It includes all that was committed before the call. */
  find: (query: SearchQuery) => Promise<EncodedBody>;
  /** Finds the ids of one page, as of now; not cached. */
  page: (query: SearchQuery) => Promise<SearchPage>;
  /** Counts the results for each value by which a search can be narrowed; not cached. */
  count: CountSearch;
  /** Narrows, counts and sorts the directory, as of now. */
  browse: Browse["page"];
  close(): Promise<void>;
};

/** The state of publishing. */
export type Publication = {
  /** Number of the current release, 0 before the first. */
  release: number;
  /** A rollback holds publishing until an operator resumes it. */
  held: boolean;
  /** The newest change that published profiles show. */
  profilesTo: number;
  /** The newest change that lists and the feed show. */
  listsTo: number;
  /** Pages that could not be rendered; their older versions stay. */
  failures: number;
  /** Time since the publisher's last heartbeat, independent of the clock; null when no publisher runs. */
  silentMs: number | null;
  pid: number;
};

/** All that the service consists of. api/open-service.ts opens it; tests pass their own. */
export type Context = {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: Config;
  readonly secrets: Secrets;
  readonly log: Log;
  /** Counts requests of clients and submissions of agents. */
  readonly limits: Limits;
  /** Answers, cached until a change of public data makes them stale. */
  readonly cache: ResponseCache;
  /** Notifies about changes of public data, whichever service made them. */
  readonly watch: Watch;
  readonly search: SearchEngine;
  /** The profiles picked for recommendations; opened by `openCurated`. */
  readonly curated: CuratedPicks;
  /** The network on which donations are made; opened by `openChain`. */
  readonly chain: OpenChain;
  /** Logs calls of recommend (`logRecommendations`). Flushed at shutdown. */
  readonly recommendationLog: RecommendationLog;
  /** Counters of queries and discovery hits. */
  readonly activity: Activity;
  /** Fires when the process receives a signal to stop; from then on it is not ready. Absent: nothing signals it. */
  readonly stopping?: AbortSignal;
  /** Whether the bundle has a file for this URL path. Absent: the service runs without a bundle. */
  readonly bundleHolds?: (urlPath: string) => boolean;
  /** Draws pages that are in no bundle, as the site does. Absent: no site is compiled beside the service. */
  readonly draw?: DrawForm & {
    list(page: FoundList, form: PageForm): Promise<Response>;
    search(
      input: SearchInput,
      answer: SearchAnswer & { facets: FacetCounts | null },
      form: PageForm,
    ): Promise<Response>;
    organisation(organisation: Organisation, form: PageForm): Promise<Response>;
    history(history: FoundHistory, form: PageForm): Promise<Response>;
    /** The history as a feed, in Atom. */
    feed(history: FoundHistory): EncodedBody;
    compare(profiles: ComparedProfiles, form: PageForm): Promise<Response>;
    profile(record: NonprofitRecord, form: PageForm): Promise<Response>;
    /** The page for paying a nonprofit; for one without a wallet, its profile. */
    donate(record: NonprofitRecord, form: PageForm): Promise<Response>;
    missing(form: PageForm): Promise<Response>;
  };
  /**
   * Waits until the change with this sequence number is published, at most `config.publishWaitMs`. Returns the release
   * that contains it; null when the wait ended first. Absent: nothing is published beside the service.
   */
  readonly waitForPublication?: (sequence: number) => Promise<{ release: string } | null>;
  /** The state of publishing. Absent: nothing is published beside the service. */
  readonly publication?: () => Publication;
};
