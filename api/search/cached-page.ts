import type { KeptMatch } from "#content/search/kept-search.ts";
import type { EncodedBody } from "#api/http/encoded-body.ts";

/** One page of a search as it is sent: a SearchAnswer in JSON, compressed at most once. */
export type KeptPage = {
  ids: number[];
  /** What tells whether a change alters it; null for a search without words. */
  kept: KeptMatch | null;
  answer: EncodedBody;
};
