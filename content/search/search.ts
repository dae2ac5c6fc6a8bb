import type { SearchQuery } from "#content/contract/search.ts";
import { fold } from "#content/nonprofit/text.ts";
import type { Queryable } from "#content/store/open.ts";
import { completionsToAdd, halfTypedWord } from "./half-typed.ts";
import { type Named, nonprofitIdOf, scoredMax, SearchIndex } from "./index-store.ts";
import { listedPage } from "./listed-store.ts";
import {
  allOf,
  anyOf,
  facetsOf,
  type FtsMatch,
  inName,
  type SearchWord,
  searchWords,
  wordMatch,
} from "./query.ts";

/** One page of a search. */
export type SearchPage = {
  /** All that match, counted exactly. */
  total: number;
  /** The nonprofits of this page, in order. */
  ids: number[];
};

export type Search = (query: SearchQuery, version?: number) => Promise<SearchPage>;

const nothing: SearchPage = { total: 0, ids: [] };

/**
 * Searches the directory. With words by relevance; without by impact, verified, name. Withdrawn profiles are in no
 * result. Any text is good: none is a syntax error. What was learnt about words is forgotten when `version`, the number
 * of the newest change, is another one. Source: decisions, "Search".
 */
export function searchIn(store: Queryable): Search {
  const index = new SearchIndex(store);
  let newest = -1;
  return async (query, version = newest + 1) => {
    if (version !== newest) index.forget();
    newest = version;
    const facets = facetsOf(query);
    if (facets === null) return nothing;
    if (query.q === null) return listedPage({ store, index }, facets, query);
    const words = searchWords(query.q);
    if (words.length === 0) return nothing;
    const filters = facets.map(({ match }) => match);
    return pageOf(index, await planFor(index, words, filters, query.limit), query);
  };
}

type Plan = {
  /** All that is found. */
  match: FtsMatch;
  /** The part of it that is put in order by bm25. */
  scored: FtsMatch;
  /** Profiles with all of the words in their name stand in front of all others. */
  named: FtsMatch;
  /** Places that stand next. */
  front: readonly number[];
  /** The number of matches when it is known already. */
  total: number | null;
  /** The words as they were typed. */
  text: string;
};

const nobody = '""';

/**
 * All of the words when that gives at least `limit` matches, else any of them, with those that have all in front.
 * `facets` are matches that every result must have as well.
 */
async function planFor(
  index: SearchIndex,
  words: readonly SearchWord[],
  facets: readonly FtsMatch[],
  limit: number,
): Promise<Plan> {
  const begun = halfTypedWord(words);
  const completions = begun === null ? [] : completionsToAdd(begun, await index.completions(begun));
  const each = words.map((word) => wordMatch(word, completions));
  const filtered = (match: FtsMatch) => allOf([match, ...facets]);
  const all = filtered(allOf(each));
  const text = words.map(({ forms }) => forms[0]).join(" ");
  const named = filtered(inName(allOf(each)));
  const plan = { match: all, scored: all, named, front: [], total: null, text };
  if (each.length === 1) return plan;
  const front = await index.first(all, limit);
  if (front.length >= limit) return plan;
  const match = filtered(anyOf(each));
  const [total = 0, ...counts] = await index.counts([match, ...each]);
  const scored = filtered(anyOf(rarest(each, counts)));
  return { match, scored, named: front.length === 0 ? nobody : named, front, total, text };
}

/** The rarest word, and as many more as can be scored with it: very common words tell profiles apart the least. */
function rarest(words: readonly FtsMatch[], counts: readonly number[]): FtsMatch[] {
  const found = words
    .map((match, at) => ({ match, count: counts[at] ?? 0 }))
    .sort((a, b) => a.count - b.count || (a.match < b.match ? -1 : 1));
  let sum = 0;
  const few = found.filter(({ count }) => (sum += count) <= scoredMax);
  return (few.length > 0 ? few : found.slice(0, 1)).map(({ match }) => match);
}

async function pageOf(
  index: SearchIndex,
  { match, scored, named, front, total, text }: Plan,
  { limit, offset }: { limit: number; offset: number },
): Promise<SearchPage> {
  const best = await index.best(scored, named);
  const inFront = new Set(front);
  // A set keeps the order in which places were first put in.
  const head = [
    ...new Set([
      ...byName(best.named, text),
      ...best.places.filter((place) => inFront.has(place)),
      ...front,
      ...best.places,
    ]),
  ];
  const found =
    total ?? (best.places.length < scoredMax ? best.places.length : await index.count(match));
  const places = head.slice(offset, offset + limit);
  if (places.length < limit && offset + places.length < found) {
    const behind = { limit: limit - places.length, offset: Math.max(0, offset - head.length) };
    places.push(...(await index.rest(match, head, behind)));
  }
  return { total: found, ids: places.map(nonprofitIdOf) };
}

/**
 * First those whose name begins with the text as it was typed, then the shorter names. bm25 measures a profile by the
 * length of all its texts, and so cannot tell that "Youth Outreach" is more exactly what was asked for than a longer name.
 */
function byName(named: readonly Named[], text: string): number[] {
  const typed = fold(text);
  return named
    .map(({ place, name }) => ({ place, name: fold(name) }))
    .map(({ place, name }) => ({ place, begins: name.startsWith(typed) ? 0 : 1, name }))
    .sort((a, b) => a.begins - b.begins || a.name.length - b.name.length || a.place - b.place)
    .map(({ place }) => place);
}
