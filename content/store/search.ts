import { facetsOf, searchWords } from "#content/rules/search-query.ts";
import type { NonprofitSummary } from "#content/shapes/nonprofit.ts";
import type { SearchQuery } from "#content/shapes/search.ts";
import type { Asked } from "./records.ts";
import { listedPage } from "./search-listed.ts";
import { matchesOf, possibleMatches } from "./search-matches.ts";
import type { SearchMemory } from "./search-memory.ts";
import { countOf, isAnyMatched, pageOfSegments } from "./search-pages.ts";
import { summariesById } from "./summaries.ts";

/** One page of a search. */
export type SearchPage = {
  /** All that match, counted exactly. */
  total: number;
  /** The nonprofits of this page, in order. */
  ids: number[];
  nonprofits: NonprofitSummary[];
  /** What was matched, for `stillExact`; null for a search without words. */
  match: string | null;
};

const nothing: SearchPage = { total: 0, ids: [], nonprofits: [], match: null };

/**
 * Searches the directory. With words by relevance; without by impact, verified, name. Withdrawn profiles are in no
 * result. Any text is good: none is a syntax error. Source: decisions, "Search".
 */
export async function searchNonprofits(
  asked: Asked,
  query: SearchQuery,
  memory: SearchMemory,
): Promise<SearchPage> {
  const facets = facetsOf(query);
  if (facets === null) return nothing;
  if (query.q === null) {
    const { total, ids } = await listedPage(asked, facets, query);
    return { total, ids, nonprofits: await summariesById(asked, ids), match: null };
  }
  const words = searchWords(query.q);
  if (words.length === 0) return nothing;
  const filters = facets.map(({ match }) => match);
  const matches = await matchesOf(asked, words, filters, { limit: query.limit, memory });
  const ids =
    query.offset < matches.total
      ? await pageOfSegments(asked, await matches.segments(query.offset), query)
      : [];
  const nonprofits = await summariesById(asked, ids);
  return { total: matches.total, ids, nonprofits, match: matches.match };
}

/**
 * Whether an earlier page of a search with words is what it would be now, given all profiles whose text or filters
 * changed since, none of them on the page. When as many match as before and no changed one is among them, then no
 * changed one was among them before: it is the same matches, and as many of them have all the words. One count
 * instead of a search: nothing is scored or fetched.
 */
export async function stillExact(
  asked: Asked,
  query: SearchQuery,
  { match, total }: Pick<SearchPage, "total" | "match">,
  changedIds: readonly number[],
  memory: SearchMemory,
): Promise<boolean> {
  const facets = facetsOf(query);
  const words = searchWords(query.q ?? "");
  if (facets === null || match === null) return true;
  const filters = facets.map((facet) => facet.match);
  // New words in the directory may complete a half-typed one in more ways than before.
  const possible = await possibleMatches(asked, words, filters, memory);
  if (!possible.includes(match) || (await countOf(asked, match)) !== total) return false;
  return !(await isAnyMatched(asked, match, changedIds));
}
