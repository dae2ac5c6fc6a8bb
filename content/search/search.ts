import type { Match } from "./match.ts";
import { facetsOf, searchWords } from "./query.ts";
import type { SearchQuery } from "#content/contract/search.ts";
import type { ProfileTexts } from "./profile-texts.ts";
import type { Queryable } from "#content/store/open.ts";
import type { SearchIndex } from "./index.ts";
import { listedPage } from "./listed.ts";
import { matchesOf } from "./matches.ts";
import { pageOfSegments } from "./pages.ts";

/** One page of a search. */
export type SearchPage = {
  /** All that match, counted exactly. */
  total: number;
  /** The nonprofits of this page, in order. */
  ids: number[];
  /** What was matched; null for a search without words. */
  match: Match | null;
};

const nothing: SearchPage = { total: 0, ids: [], match: null };

/**
 * Searches the directory. With words by relevance; without by impact, verified, name. Withdrawn profiles are in no
 * result. Any text is good: none is a syntax error. Source: decisions, "Search".
 */
export async function searchNonprofits(
  where: { store: Queryable; index: SearchIndex; texts: ProfileTexts },
  query: SearchQuery,
): Promise<SearchPage> {
  const facets = facetsOf(query);
  if (facets === null) return nothing;
  if (query.q === null) return { ...(await listedPage(where, facets, query)), match: null };
  const words = searchWords(query.q);
  if (words.length === 0) return nothing;
  const filters = facets.map(({ match }) => match);
  const { match, total, segments } = await matchesOf(where, words, filters, query.limit);
  const ids =
    query.offset < total
      ? await pageOfSegments(where.index, await segments(query.offset), query)
      : [];
  return { total, ids, match };
}
