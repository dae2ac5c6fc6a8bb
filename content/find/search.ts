import { type FacetCounts, noFilters } from "#content/contract/browse.ts";
import { matchesMax, type SearchQuery } from "#content/contract/search.ts";
import type { Queryable } from "#content/store/open.ts";
import { type Browse, openBrowse } from "./browse-store.ts";
import { SearchIndex, numberedPage } from "./index-store.ts";
import {
  asTyped,
  causeNote,
  correctionNote,
  elsewhere,
  type Interpretation,
  kindNoteOf,
  ofNumber,
  someNote,
  type Understanding,
  understanding,
} from "./notes.ts";
import {
  type Nearby,
  codeAtEnd,
  distancesOf,
  nearNote,
  openNear,
  placeAfterNear,
} from "./places.ts";
import {
  type FtsMatch,
  type SearchWord,
  allOf,
  asking,
  filterMatches,
  inName,
  phrase,
  typedWords,
} from "./query.ts";
import {
  type RankingQuery,
  matchOfWords,
  type CandidateSet,
  type RankedPage,
  pageOf,
  withAllWords,
  withSomeWords,
} from "./ranking.ts";
import {
  besidePlace,
  causeReading,
  corrected,
  isPlaceAlone,
  literalReading,
  type Reading,
  readingOf,
} from "./reading.ts";

export type SearchPage = RankedPage & {
  /** Ids of all matches, if asked for; one more than `matchesMax` when there are more. */
  matches?: number[];
  /** Distances from the place of the search in km, by id. */
  distances?: Readonly<Record<string, number>>;
} & Understanding;

export type Search = (query: SearchQuery, version?: number) => Promise<SearchPage>;

/**
 * Searches the directory: with words by relevance, without them by impact, verification and name. Withdrawn profiles
 * are in no result, and no text is a syntax error. Cached facts about words are dropped when `version`, the number of
 * the newest change, is another one. Source: decisions, "Search".
 */
export function searchIn(
  store: Queryable,
  browse: Pick<Browse, "byImpact"> = openBrowse(store),
): Search {
  const index = new SearchIndex(store);
  const near = openNear(index);
  let newest = -1;
  const anywhere = async (query: SearchQuery): Promise<SearchPage> => {
    if (query.q === null) {
      const page = await browse.byImpact(query);
      return { ...page, matching: page.total, ...asTyped };
    }
    const filters = filterMatches(query.filters);
    if (filters === null) return nothing;
    const pageByNumber = query.literal ? null : await numberedPage(store, query);
    if (pageByNumber !== null) {
      const { number, ...page } = pageByNumber;
      const matches = query.matches === true ? { matches: page.ids } : {};
      return { ...page, matching: page.total, ...matches, ...ofNumber(number, page.total) };
    }
    const words = typedWords(query.q);
    if (words.length === 0) return nothing;
    return wordsPage(index, words, filters, { ...query, q: query.q });
  };
  const around = async (query: SearchQuery, nearby: Nearby & { q: string | null }) => {
    const page = await nearPage(index, nearby, { ...query, q: nearby.q });
    // Only a place that was read from the words may be given up.
    const isFound = page.matching > 0 || page.understood.corrections.length > 0;
    if (!isFound && query.near === undefined) return null;
    const distances = await distancesOf(index, nearby, page.ids);
    const understood = { ...page.understood, near: nearby.near };
    const note = nearNote(nearby.near) ?? page.note;
    return { ...page, distances, exact: note === null, note, understood };
  };
  return async (query, version = newest + 1) => {
    if (version !== newest) index.forget();
    newest = version;
    const nearby = await near(query, version, placeAfterNear);
    const page = (nearby && (await around(query, nearby))) ?? (await anywhere(query));
    if (page.matching > 0 || nearby !== null) return page;
    const code = await near(query, version, codeAtEnd);
    return (code && (await around(query, code))) ?? page;
  };
}

/** Results near a place: with words by relevance, without words nearest first. */
async function nearPage(
  index: SearchIndex,
  { match, kms }: Nearby,
  { q, ...query }: SearchQuery,
): Promise<SearchPage> {
  const filters = filterMatches(query.filters);
  const words = asking(typedWords(q ?? ""), true);
  if (filters === null || kms.size === 0) return nothing;
  if (q !== null && words.length > 0)
    return wordsPage(index, words, filters, { ...query, q }, [match]);
  const nearbyMatch = allOf([match, ...filters]);
  const byDistance = [...kms.keys()].map((word) => allOf([phrase(word), ...filters]));
  const head = (await index.tiers(byDistance, '""')).tiers.flat();
  const candidates = { match: nearbyMatch, head, count: null, matching: null };
  const page = await pageOf(index, candidates, query);
  const matches = query.matches && (await index.ids(nearbyMatch, matchesMax + 1));
  return { ...nothing, ...page, ...(matches && { matches }) };
}

/** For each filter value, how many results it would give. Exact only if the search itself runs with `steady`. */
export type CountSearch = (query: SearchQuery, version?: number) => Promise<FacetCounts | null>;

export const countedIn =
  (search: Search, browse: Pick<Browse, "facets">): CountSearch =>
  async (query, version) => {
    const { q, filters } = query;
    if (q === null && query.near === undefined) return browse.facets(null, filters);
    const words = { ...query, filters: noFilters, placeFilters: filters, offset: 0 };
    const { matches = [] } = await search({ ...words, matches: true }, version);
    return matches.length > matchesMax ? null : browse.facets(matches, filters);
  };

const nothing: SearchPage = { total: 0, matching: 0, ids: [], ...asTyped };

type Answer = Interpretation & {
  candidates: CandidateSet;
  /** The same words and reading, with other filters. */
  again: (query: RankingQuery) => Promise<CandidateSet | null>;
};

/** One way to read a query; null if it gives no results. */
type Attempt = (
  index: SearchIndex,
  reading: Reading,
  query: RankingQuery,
) => Promise<Answer | null>;

/** When fewer results have all of the words, related ones follow. */
const fewMax = 20;

/** `around`: what results must match besides the filters; it also guides how the words are read. */
async function wordsPage(
  index: SearchIndex,
  words: readonly SearchWord[],
  filters: readonly FtsMatch[],
  { q, literal, limit, offset, steady, matches }: Omit<SearchQuery, "filters"> & { q: string },
  around: readonly FtsMatch[] = [],
): Promise<SearchPage> {
  const pageQuery = { filters: [...filters, ...around], typedText: null, limit, offset };
  const rankingQuery = steady === true ? { ...pageQuery, filters: around } : pageQuery;
  const reading = literal ? await literalReading(index, words) : await readingOf(index, words, q);
  const answer = await (literal ? exactly : nearest)(index, reading, { ...rankingQuery, q });
  const candidateSet =
    rankingQuery === pageQuery ? answer?.candidates : await answer?.again(pageQuery);
  if (answer === null || !candidateSet)
    return { ...nothing, ...understanding(answer ?? { reading }, nothing) };
  const page = counted(answer, await pageOf(index, candidateSet, pageQuery));
  const allMatches = matches && { matches: await index.ids(candidateSet.match, matchesMax + 1) };
  return { ...page, ...allMatches, ...(await explained(index, answer, pageQuery.filters, page)) };
}

/** Results with a note or from another place are related, not matches. */
const counted = ({ note, area }: Answer, page: RankedPage): RankedPage =>
  note === undefined && area === undefined ? page : { ...page, matching: 0 };

/** Results with all words taken literally, else with some of them. */
const exactly: Attempt = async (index, reading, query) =>
  (await allWords(index, reading, query)) ?? (await someWords(index, reading, query));

/**
 * Tries in this order, and returns the first with results: all words, in the place that they name; likely corrections; the
 * same cause in the place; all words including the place, anywhere; some words; what is around the place. The answer says
 * which it is. If few profiles have the words, a likely correction comes before the words as typed.
 */
async function nearest(
  index: SearchIndex,
  reading: Reading,
  { q, ...query }: RankingQuery & { q: string },
): Promise<Answer | null> {
  const typedAnswer = await allWords(index, reading, query);
  if (typedAnswer !== null && !(await isDoubtful(index, reading, typedAnswer))) return typedAnswer;
  const guess = await guessOf(index, reading, q);
  if (typedAnswer !== null && guess === null) return typedAnswer;
  const likelyReading = guess?.reading ?? reading;
  const steps = [
    () => guess && guessed(index, guess, { ...query, typedText: q }),
    () => Promise.resolve(typedAnswer),
    () => sameCause(index, likelyReading, query),
    () => mentioned(index, reading, query),
    () => someWords(index, reading, query),
    () => guess && someWords(index, guess.reading, query, guess),
    () => nearPlace(index, likelyReading, query),
  ];
  for (const step of steps) {
    const answer = await step();
    if (answer !== null) return answer;
  }
  return null;
}

/** A single rare word may be a mistake in the registers themselves: "CHRUCH". Several are right if a name has them all. */
async function isDoubtful(
  index: SearchIndex,
  reading: Reading,
  { candidates: { count, matching } }: Answer,
): Promise<boolean> {
  const words = besidePlace(reading);
  if ((matching ?? count ?? fewMax) >= fewMax || words.length === 0) return false;
  const [named = 0] = await index.counts([inName(allOf(words.map(({ ownMatch }) => ownMatch)))]);
  return words.length === 1 || named === 0;
}

/** The words with likely replacements for unknown ones; null if none is near. */
async function guessOf(
  index: SearchIndex,
  reading: Reading,
  text: string,
): Promise<Interpretation | null> {
  const respelling = await corrected(index, reading);
  if (respelling === null) return null;
  const { corrections } = respelling;
  const guess = await readingOf(index, respelling.words, text);
  return { reading: guess, corrections, ...correctionNote(corrections) };
}

/** Results with all words of the guess, where a replaced word may match any of its candidates. */
async function guessed(
  index: SearchIndex,
  guess: Interpretation,
  query: RankingQuery,
): Promise<Answer | null> {
  const again = (otherQuery: RankingQuery) =>
    withAllWords(index, guess.reading, { ...otherQuery, typedText: query.typedText });
  const candidates = await again(query);
  return candidates && { candidates, again, ...guess };
}

/** Results with all words; if few, the same cause in the place or results with some words follow. */
const allWords: Attempt = async (index, reading, query) => {
  const narrow = (otherQuery: RankingQuery) => withAllWords(index, reading, otherQuery);
  const allWordsSet = await narrow(query);
  if (allWordsSet === null || allWordsSet.count === null || allWordsSet.count >= fewMax)
    return allWordsSet && { candidates: allWordsSet, reading, again: narrow };
  const wider = (await causeReading(index, reading)) ?? reading;
  const candidates = await withSomeWords(index, wider, query, allWordsSet);
  const again = async (otherQuery: RankingQuery) =>
    withSomeWords(index, wider, otherQuery, await narrow(otherQuery));
  return {
    candidates: candidates ?? allWordsSet,
    reading,
    again: candidates === null ? narrow : again,
  };
};

async function someWords(
  index: SearchIndex,
  reading: Reading,
  query: RankingQuery,
  about: Omit<Interpretation, "reading"> = {},
): Promise<Answer | null> {
  const again = (otherQuery: RankingQuery) => withSomeWords(index, reading, otherQuery, null);
  const candidates = await again(query);
  return candidates && { candidates, again, note: someNote, ...about, reading };
}

/** What is in the place for the cause that the words name. */
const sameCause: Attempt = async (index, reading, query) => {
  const ofCause = await causeReading(index, reading);
  return ofCause && someWords(index, ofCause, query, { note: causeNote });
};

/** Results with all words including the place, anywhere. */
const mentioned: Attempt = async (index, reading, query) => {
  if (reading.place === null) return null;
  const words = reading.words.map((word) => ({ ...word, inPlace: false }));
  const answer = await allWords(index, { ...reading, words, place: null, cause: null }, query);
  return answer && { ...answer, reading, area: elsewhere };
};

/** What matches around the place, nearest first, or anywhere. */
const nearPlace: Attempt = async (index, reading, query) => {
  if (reading.place === null) return null;
  const around = reading.place.around.map(({ name, match }) => ({
    area: name,
    near: { ...reading, place: { name, match, around: [], isSure: false } },
  }));
  const anywhere = { area: elsewhere, near: { ...reading, place: null, cause: null } };
  for (const { area, near } of isPlaceAlone(reading) ? around : [...around, anywhere]) {
    const answer = await exactly(index, near, query);
    if (answer === null) continue;
    const { candidates, again } = answer;
    return { candidates, again, reading, area };
  }
  return null;
};

/** The understanding of results, some of which may lack the words and only be of the kind that these name. */
async function explained(
  index: SearchIndex,
  answer: Answer,
  filters: readonly FtsMatch[],
  page: RankedPage,
): Promise<Understanding> {
  const understood = understanding(answer, page);
  const { reading } = answer;
  const namesKind = besidePlace(reading).some(({ match, ownMatch }) => match !== ownMatch);
  if (page.matching === 0 || !namesKind) return understood;
  if ((await index.count(matchOfWords(reading, filters))) === page.matching) return understood;
  return { ...understood, exact: false, note: kindNoteOf(page) };
}
