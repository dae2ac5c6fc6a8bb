import type { SearchAnswer, SearchQuery } from "#content/contract/search.ts";
import type { Queryable } from "#content/store/open.ts";
import { SearchIndex } from "./index-store.ts";
import { listedPage } from "./listed-store.ts";
import { numberedPage } from "./number-store.ts";
import { type Facet, facetsOf, type SearchWord, typedWords } from "./query.ts";
import { type Asked, rankedPage } from "./ranking.ts";
import {
  causeReading,
  corrected,
  type Correction,
  literalReading,
  type Reading,
  readingOf,
} from "./reading.ts";

/** One page of a search. */
export type SearchPage = {
  /** All that match, counted exactly. */
  total: number;
  /** The nonprofits of this page, in order. */
  ids: number[];
} & Pick<SearchAnswer, "understood" | "exact" | "note">;

export type Search = (query: SearchQuery, version?: number) => Promise<SearchPage>;

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
    if (facets === null) return { total: 0, ids: [], ...asTyped([]) };
    if (query.q === null)
      return { ...(await listedPage({ store, index }, facets, query)), ...asTyped([]) };
    const numbered = query.literal ? null : await numberedPage(store, query, facets);
    if (numbered !== null) {
      const { number, ...page } = numbered;
      return { ...page, ...asTyped([]), understood: { number, place: null, words: [] } };
    }
    const words = typedWords(query.q);
    if (words.length === 0) return { total: 0, ids: [], ...asTyped([]) };
    return wordsPage(index, words, facets, { ...query, q: query.q });
  };
}

type Understanding = Pick<SearchPage, "understood" | "exact" | "note">;

const asTyped = (words: readonly string[]): Understanding => ({
  understood: { number: null, place: null, words: [...words] },
  exact: true,
  note: null,
});

/**
 * What has all of the words, in the place that they name; else what has words that may be meant; else what is in the place
 * and for the same cause; else what has all of the words, the place among them, anywhere; else what has some of the words;
 * else what is around the place. The first of these that finds anything is the answer, and says which it is.
 */
async function wordsPage(
  index: SearchIndex,
  words: readonly SearchWord[],
  facets: readonly Facet[],
  { q, literal, limit, offset }: SearchQuery & { q: string },
): Promise<SearchPage> {
  const asked = { filters: facets.map(({ match }) => match), guessed: null, limit, offset };
  const reading = literal ? await literalReading(index, words) : await readingOf(index, words, q);
  const typed = await rankedPage(index, reading, asked);
  if (typed.hasAll) {
    const isFew = !literal && reading.cause === null && typed.total < limit;
    const more = isFew ? await causeReading(index, reading) : null;
    return answer(reading, more === null ? typed : await rankedPage(index, more, asked));
  }
  const some = typed.total === 0 ? null : answer(reading, typed, { note: someNote });
  return (
    (literal ? some : await nearest(index, reading, { ...asked, q, some })) ??
    answer(reading, typed)
  );
}

/** What is nearest to a query that nothing matches as typed; null when nothing is near. `some` has some of the words. */
async function nearest(
  index: SearchIndex,
  reading: Reading,
  { q, some, ...asked }: Asked & { q: string; some: SearchPage | null },
): Promise<SearchPage | null> {
  const guess = await guessed(index, reading, { ...asked, guessed: q });
  if (guess !== null && (guess.hasAll || some === null)) return guess.page;
  return (
    (await sameCause(index, reading, asked)) ??
    (await mentioned(index, reading, asked)) ??
    some ??
    nearPlace(index, reading, asked)
  );
}

/** What is in the place for the cause that the words name; null when nothing is. */
async function sameCause(
  index: SearchIndex,
  reading: Reading,
  asked: Asked,
): Promise<SearchPage | null> {
  const ofCause = await causeReading(index, reading);
  if (ofCause === null) return null;
  const page = await rankedPage(index, ofCause, asked);
  return page.total === 0 ? null : answer(reading, page, { note: causeNote });
}

/** What has all of the words, and the place among them; null when nothing has. */
async function mentioned(
  index: SearchIndex,
  reading: Reading,
  asked: Asked,
): Promise<SearchPage | null> {
  if (reading.place === null || reading.rest.length === 0) return null;
  const anywhere = { ...reading, rest: reading.each, place: null, cause: null };
  const page = await rankedPage(index, anywhere, asked);
  return page.hasAll ? answer(reading, page, { shown: elsewhere }) : null;
}

/** What has the words that may be meant instead of unknown ones; null when nothing does. */
async function guessed(
  index: SearchIndex,
  reading: Reading,
  asked: Asked & { guessed: string },
): Promise<{ hasAll: boolean; page: SearchPage } | null> {
  const meant = await corrected(index, reading);
  if (meant === null) return null;
  const guess = await readingOf(index, meant.words, asked.guessed);
  const page = await rankedPage(index, guess, asked);
  if (page.total === 0) return null;
  const note = correctionNote(meant.corrections) ?? (page.hasAll ? null : someNote);
  return { hasAll: page.hasAll, page: answer(guess, page, { note }) };
}

/** What matches around the place, the nearest first, or anywhere; null when nothing does. */
async function nearPlace(
  index: SearchIndex,
  reading: Reading,
  asked: Asked,
): Promise<SearchPage | null> {
  if (reading.place === null || reading.rest.length === 0) return null;
  for (const { name, match } of reading.place.around) {
    const place = { name, match, around: [], isSure: false };
    const page = await rankedPage(index, { ...reading, place }, asked);
    if (page.total > 0) return answer(reading, page, { shown: name });
  }
  const page = await rankedPage(index, { ...reading, place: null, cause: null }, asked);
  return answer(reading, page, { shown: elsewhere });
}

const elsewhere = "other places";
const someNote = "No profile has all of the words; these have some of them.";

const causeNote =
  "Nothing in this place has all of the words; these have some of them, or work for the same cause.";

/** Null when nothing was corrected: what was typed may be initials. */
function correctionNote(corrections: readonly Correction[]): string | null {
  if (corrections.length === 0) return null;
  const each = new Set(corrections.map(({ typed, meant }) => `"${meant}" instead of "${typed}"`));
  return `No profile has all of the words as typed. Looked for ${[...each].join(", ")}.`;
}

/** `shown`: where the results are, when none is in the place that the query names. */
function answer(
  { place, restWords }: Reading,
  { total, ids }: { total: number; ids: number[] },
  { note = null, shown }: { note?: string | null; shown?: string } = {},
): SearchPage {
  const none = total === 0 || shown === undefined;
  return {
    total,
    ids,
    understood: {
      number: null,
      place: place === null ? null : { name: place.name, shown: none ? place.name : shown },
      words: [...restWords],
    },
    exact: note === null && none,
    note: none ? note : `Nothing in ${place?.name} matches; these are in ${shown}.`,
  };
}
