import type { Match } from "#content/rules/search-match.ts";
import { facetsOf, searchWords } from "#content/rules/search-query.ts";
import type { SearchQuery } from "#content/shapes/search.ts";
import type { ProfileTexts } from "./profile-texts.ts";
import type { Asked } from "./records.ts";
import type { SearchIndex } from "./search-index.ts";
import { listedPage } from "./search-listed.ts";
import { matchesOf } from "./search-matches.ts";
import { pageOfSegments } from "./search-pages.ts";

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
  where: { asked: Asked; index: SearchIndex; texts: ProfileTexts },
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
