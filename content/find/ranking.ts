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

/** A page of what was found: `matching` of the `total` have all of the words, and these come first. */
export type RankedPage = { total: number; matching: number; ids: number[] };

export type RankingQuery = {
  /** What every result must match as well. */
  filters: readonly FtsMatch[];
  /** What was typed when the words are a guess: the names nearest to it stand first. Null when they are not. */
  typedText: string | null;
  limit: number;
  offset: number;
};

/**
 * All that is found: the foremost of it in order, and how many they are when there are no others. The first `matching` of
 * it have all of the words; null: all of it.
 */
export type CandidateSet = {
  match: FtsMatch;
  head: readonly RowId[];
  count: number | null;
  matching: number | null;
};

const noMatch = '""';

/**
 * What has all of the words; null when nothing has. Names with all of the words come first, wherever they are, then what is
 * of the kind that the words name. Of a place alone, what is there comes first.
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
    const placeSet = found({ tiers }, matchOf(), []);
    // Names with its words are no answer where nothing is in the place.
    return placeSet && tiers[0]?.length === 0 ? { ...placeSet, matching: 0 } : placeSet;
  }
  const there = matcher({ ...reading, placeAlone: reading.placeSaid }, query.filters);
  const match = matchOf(allOf(otherWords.map((word) => word.match)));
  const inNames = matchOf(inName(allOf(otherWords.map((word) => word.asName))));
  const inside = there(allOf(otherWords.map((word) => word.match)));
  // Without a kind this is what is in names.
  const kinds = otherWords.some((word) => word.match !== word.asName)
    ? [there(allOf(otherWords.map((word) => word.ofKind)))]
    : [];
  // "Water in Kenya": of what is there, names that say water tell more than texts that mention it.
  const isPlain = reading.placeSaid && kinds.length === 0;
  const exactNames = isPlain ? [there(inName(allOf(otherWords.map((word) => word.asName))))] : [];
  const tierMatches = [...new Set([...kinds, ...exactNames, inside, match])];
  const { named, tiers } = await index.tiers(tierMatches, inNames);
  const first =
    query.typedText === null ? byName(named, reading) : bySimilarity(named, query.typedText);
  return found({ tiers }, match, first);
}

/**
 * What has the rarest of the words, all but one of them, or the cause, behind `all` of them; null when nothing is. Rare
 * words tell more than common ones, so what has the rarer comes first.
 */
export async function withSomeWords(
  index: SearchIndex,
  reading: Reading,
  query: RankingQuery,
  all: CandidateSet | null,
): Promise<CandidateSet | null> {
  const { cause } = reading;
  const wordMatches = [...new Set(besidePlace(reading).map(({ match }) => match))];
  if (wordMatches.length + (cause === null ? 0 : 1) < 2) return all;
  const matchOf = matcher(reading, query.filters);
  const rareWords = rarest(wordMatches, await index.counts(wordMatches));
  const tiers = [...rareWords, ...(cause === null ? [] : [cause])];
  if (tiers.length === 0) return all;
  const match = matchOf(anyOf(tiers));
  const rows = await index.tiers([...tiers.map((tier) => matchOf(tier)), match], noMatch);
  const candidates = found(rows, match, all?.head ?? []);
  return candidates && { ...candidates, matching: all?.count ?? 0 };
}

/** `first` stands before the rows of the tiers, the last of which holds all. */
function found(
  { tiers }: { tiers: readonly (readonly RowId[])[] },
  match: FtsMatch,
  first: readonly RowId[],
): CandidateSet | null {
  const count = tiers.at(-1)?.length ?? 0;
  // A set keeps the order in which rows were first put in.
  const head = [...new Set([...first, ...tiers.flat()])];
  if (count === 0) return null;
  return { match, head, count: count < orderedMax ? count : null, matching: null };
}

/**
 * What has any of the matches, in the place and with the filters; without any, all in the place. Names with all of the
 * words and the place among them match wherever they are.
 */
function matcher({ words, place, placeAlone }: Reading, filters: readonly FtsMatch[]) {
  const names =
    place === null || placeAlone ? [] : [inName(allOf(words.map(({ asName }) => asName)))];
  const inside = place === null ? [] : [place.match];
  return (...matches: FtsMatch[]): FtsMatch => {
    const conditions = matches.length === 0 ? inside : [anyOf(matches), ...inside];
    return allOf([anyOf([...names, allOf(conditions)]), ...filters]);
  };
}

/** So many words are also tried without each one of them: it may be a mistake. */
const leftOutMax = 6;

/**
 * All known words, then all but one, then the rarer half of them, and so on to the rarest, which all of these but the second
 * have. Where a word is unknown, the others have to be in the name: what only mentions them says nothing.
 */
function rarest(words: readonly FtsMatch[], counts: readonly number[]): FtsMatch[] {
  const byCount = words
    .map((match, at) => ({ match, count: counts[at] ?? 0 }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => a.count - b.count || (a.match < b.match ? -1 : 1));
  if (byCount.length === 0) return [];
  const matches = byCount.map(({ match }) => match);
  const first = anyOf(matches.filter((_, at) => byCount[at]?.count === byCount[0]?.count));
  const isWhole = matches.length === words.length;
  const tiers: FtsMatch[] = [];
  for (let length = matches.length; length > 0; length = Math.floor(length / 2)) {
    if (length > 1) tiers.push(allOf(matches.slice(0, length)));
    if (length === matches.length && length > 2 && length <= leftOutMax)
      tiers.push(anyOf(matches.map((_, at) => withoutOne(matches, at))));
  }
  const all = [...tiers, first];
  return isWhole ? all : all.map(inName);
}

/** All but one. Where that is the rarest, the others have to be in the name: texts of the rich hold most common words. */
const withoutOne = (matches: readonly FtsMatch[], at: number): FtsMatch =>
  at === 0 ? inName(allOf(matches.slice(1))) : allOf(matches.toSpliced(at, 1));

/** The page that is asked for. */
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
 * First the name that is the text as it was typed, then those that begin with it or have it as their initials, then those
 * with all of the words, the place included, then those with all but the place; in each, the shorter names first.
 */
function byName(nameTiers: readonly NameTier[], reading: Reading): RowId[] {
  const typedText = tellingText(reading.words.map((word) => textOf(word.searchWord)).join(" "));
  const words = typedText.split(" ");
  const restWords = besidePlace(reading).map((word) => fold(textOf(word.searchWord)));
  // "Food in Hilo": a name elsewhere that only has these words follows what is there.
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

function bySimilarity(nameTiers: readonly NameTier[], typedText: string): RowId[] {
  const similarity = similarTo(typedText);
  return nameTiers
    .map(({ row, name }) => ({ row, nearness: similarity(name) }))
    .sort((a, b) => b.nearness - a.nearness || a.row - b.row)
    .map(({ row }) => row);
}
