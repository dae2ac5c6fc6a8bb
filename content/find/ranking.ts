import { similarTo } from "#content/nonprofit/near-name.ts";
import { initialsOf } from "#content/nonprofit/filters.ts";
import { fold } from "#content/nonprofit/text.ts";
import {
  type NameTier,
  nonprofitIdOf,
  orderedMax,
  type RowId,
  type SearchIndex,
} from "./index-store.ts";
import { type FtsMatch, allOf, anyOf, inName, tellingText, textOf } from "./query.ts";
import { besidePlace, type Reading } from "./reading.ts";

/** A page of results: the first `matching` of the `total` have all words. */
export type RankedPage = { total: number; matching: number; ids: number[] };

export type RankingQuery = {
  /** What every result must match too. */
  filters: readonly FtsMatch[];
  /** The typed text if the words are corrected: the names nearest to it come first. Null if they are not. */
  typedText: string | null;
  limit: number;
  offset: number;
};

/**
 * All results: the first ones in order, and their number if there are no others. The first `matching` have all words; null:
 * all do.
 */
export type CandidateSet = {
  match: FtsMatch;
  head: readonly RowId[];
  count: number | null;
  matching: number | null;
};

const noMatch = '""';

/**
 * Results with all words; null if there are none. First names with all words, anywhere; then organisations of the kind that
 * the words name. If the query is only a place, what is in it comes first.
 */
export async function withAllWords(
  index: SearchIndex,
  reading: Reading,
  query: RankingQuery,
): Promise<CandidateSet | null> {
  const otherWords = besidePlace(reading);
  const matchOf = matcher(reading, query.filters);
  if (otherWords.length === 0) {
    const inside = matcher({ ...reading, placeAlone: true }, query.filters)();
    const { tiers } = await index.tiers([inside, matchOf()], noMatch);
    const placeSet = candidatesOf({ tiers }, matchOf(), []);
    // If nothing is in the place, names elsewhere with its words do not count as matches.
    return placeSet && tiers[0]?.length === 0 ? { ...placeSet, matching: 0 } : placeSet;
  }
  const there = matcher({ ...reading, placeAlone: reading.placeSaid }, query.filters);
  const match = matchOf(allOf(otherWords.map((word) => word.match)));
  const inNames = matchOf(inName(allOf(otherWords.map((word) => word.ownMatch))));
  const inside = there(allOf(otherWords.map((word) => word.match)));
  // Without a kind, this equals the names.
  const kinds = otherWords.some((word) => word.match !== word.ownMatch)
    ? [there(allOf(otherWords.map((word) => word.kindMatch)))]
    : [];
  // "Water in Kenya": among what is there, a name with "water" says more than a text that mentions it.
  const isPlain = reading.placeSaid && kinds.length === 0;
  const exactNames = isPlain ? [there(inName(allOf(otherWords.map((word) => word.ownMatch))))] : [];
  const tierMatches = [...new Set([...kinds, ...exactNames, inside, match])];
  const { named, tiers } = await index.tiers(tierMatches, inNames);
  const first =
    query.typedText === null ? byName(named, reading) : bySimilarity(named, query.typedText);
  return candidatesOf({ tiers }, match, first);
}

/** Results that have all words themselves, as typed or in another form of the same word. */
export const matchOfWords = (reading: Reading, filters: readonly FtsMatch[]): FtsMatch =>
  matcher(reading, filters)(allOf(besidePlace(reading).map(({ ownMatch }) => ownMatch)));

/**
 * Results with the rarest of the words, with all but one, or of the cause, after `all` of them; null if there are none. Rare
 * words say more, so results with rarer words come first.
 */
export async function withSomeWords(
  index: SearchIndex,
  reading: Reading,
  query: RankingQuery,
  all: CandidateSet | null,
): Promise<CandidateSet | null> {
  const { cause } = reading;
  // The words of "food bank" have one match, because they name one kind.
  const wordsByMatch = Map.groupBy(besidePlace(reading), ({ match }) => match);
  const wordMatches = [...wordsByMatch.keys()];
  if (wordMatches.length + (cause === null ? 0 : 1) < 2) return all;
  const matchOf = matcher(reading, query.filters);
  const counts = await index.counts(wordMatches);
  const rareWords = rarest(
    [...wordsByMatch].map(([match, { length }], at) => ({ match, length, count: counts[at] ?? 0 })),
  );
  const tiers = [...rareWords, ...(cause === null ? [] : [cause])];
  if (tiers.length === 0) return all;
  const match = matchOf(anyOf(tiers));
  const rows = await index.tiers([...tiers.map((tier) => matchOf(tier)), match], noMatch);
  const candidates = candidatesOf(rows, match, all?.head ?? []);
  return candidates && { ...candidates, matching: all?.count ?? 0 };
}

/** `first` comes before the rows of the tiers; the last tier contains all. */
function candidatesOf(
  { tiers }: { tiers: readonly (readonly RowId[])[] },
  match: FtsMatch,
  first: readonly RowId[],
): CandidateSet | null {
  const count = tiers.at(-1)?.length ?? 0;
  // A set keeps the order in which rows were added.
  const head = [...new Set([...first, ...tiers.flat()])];
  if (count === 0) return null;
  return { match, head, count: count < orderedMax ? count : null, matching: null };
}

/**
 * Restricts matches to the place and filters; without matches, everything in the place. Names with all words, the place
 * included, match anywhere.
 */
function matcher({ words, place, placeAlone }: Reading, filters: readonly FtsMatch[]) {
  const names =
    place === null || placeAlone ? [] : [inName(allOf(words.map(({ ownMatch }) => ownMatch)))];
  const inside = place === null ? [] : [place.match];
  return (...matches: FtsMatch[]): FtsMatch => {
    const conditions = matches.length === 0 ? inside : [anyOf(matches), ...inside];
    return allOf([anyOf([...names, allOf(conditions)]), ...filters]);
  };
}

/** Up to this many words and kinds are also tried with each word left out, because it may be a mistake. */
const leftOutMax = 6;

/** What one word matches, or successive words that name a kind; `length` is their number. */
type CountedMatch = { match: FtsMatch; length: number; count: number };

/**
 * Matches in order: all known words, all but one, then the rarer half, and so on to the rarest. If a word is unknown, the
 * others must be in the name, because merely mentioning them says nothing.
 */
function rarest(words: readonly CountedMatch[]): FtsMatch[] {
  const byCount = words
    .filter(({ count }) => count > 0)
    .sort((a, b) => a.count - b.count || (a.match < b.match ? -1 : 1));
  if (byCount.length === 0) return [];
  const matches = byCount.map(({ match }) => match);
  const first = anyOf(matches.filter((_, at) => byCount[at]?.count === byCount[0]?.count));
  const wordCount = byCount.reduce((sum, { length }) => sum + length, 0);
  const singles = byCount.flatMap(({ length }, at) => (length === 1 ? [at] : []));
  const tiers = matches.length > 1 ? [allOf(matches)] : [];
  if (wordCount > 2 && matches.length > 1 && matches.length <= leftOutMax && singles.length > 0)
    tiers.push(anyOf(singles.map((at) => withoutOne(matches, at))));
  for (let length = matches.length >> 1; length > 1; length >>= 1)
    tiers.push(allOf(matches.slice(0, length)));
  const all = [...tiers, first];
  return matches.length === words.length ? all : all.map(inName);
}

/** All words but one. Without the rarest, the others must be in the name: long texts have most common words. */
const withoutOne = (matches: readonly FtsMatch[], at: number): FtsMatch =>
  at === 0 ? inName(allOf(matches.slice(1))) : allOf(matches.toSpliced(at, 1));

/** The requested page. */
export async function pageOf(
  index: SearchIndex,
  { match, head, count, matching }: CandidateSet,
  { limit, offset }: Pick<RankingQuery, "limit" | "offset">,
): Promise<RankedPage> {
  const total = count ?? (await index.count(match));
  const rows = head.slice(offset, offset + limit);
  if (rows.length < limit && offset + rows.length < total) {
    const behind = { limit: limit - rows.length, offset: Math.max(0, offset - head.length) };
    rows.push(...(await index.rest(match, head, behind)));
  }
  return { total, matching: matching ?? total, ids: rows.map(nonprofitIdOf) };
}

/**
 * Orders names: first the typed text itself, then names that begin with it or have it as initials, then those with all words
 * including the place, then those with all but the place; shorter names first.
 */
function byName(nameTiers: readonly NameTier[], reading: Reading): RowId[] {
  const typedText = tellingText(reading.words.map((word) => textOf(word.searchWord)).join(" "));
  const words = typedText.split(" ");
  const restWords = besidePlace(reading).map((word) => fold(textOf(word.searchWord)));
  // "Food in Hilo": names elsewhere with these words come after what is there.
  const farthest = reading.placeSaid ? 1 : Infinity;
  const nearness = (name: string, original: string) => {
    if (name === typedText) return 0;
    if (name.startsWith(typedText)) return 1;
    if (initialsOf(original) === typedText) return 2;
    if (words.every((word) => name.includes(word))) return 3;
    return restWords.every((word) => name.includes(word)) ? 4 : 5;
  };
  return nameTiers
    .map(({ row, name }) => ({ row, text: tellingText(name), original: name }))
    .map((match) => ({ ...match, nearness: nearness(match.text, match.original) }))
    .filter((match) => match.nearness <= farthest)
    .sort((a, b) => a.nearness - b.nearness || a.text.length - b.text.length || a.row - b.row)
    .map(({ row }) => row);
}

/** Names with the typed word come first, then those with its letters as initials. */
function bySimilarity(nameTiers: readonly NameTier[], typedText: string): RowId[] {
  const similarity = similarTo(typedText);
  const typed = fold(typedText);
  const nearness = (name: string) => {
    if (fold(name).split(" ").includes(typed)) return 3;
    return initialsOf(name) === typed ? 2 : similarity(name);
  };
  return nameTiers
    .map(({ row, name }) => ({ row, nearness: nearness(name) }))
    .sort((a, b) => b.nearness - a.nearness || a.row - b.row)
    .map(({ row }) => row);
}
