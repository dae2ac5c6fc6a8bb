import { allOf, anyOf, ftsQuery, inName, type Match, without } from "./match.ts";
import { completionsToAdd, halfTypedWord, type SearchWord, wordMatch } from "./query.ts";
import { fold } from "#content/nonprofit/text.ts";
import { idsPerRank } from "./indexed-places.ts";
import type { ProfileTexts } from "./profile-texts.ts";
import type { SearchIndex } from "./index.ts";
import { scoredMax, type Segment } from "./pages.ts";

/** What a text query matches. */
export type Matches = {
  match: Match;
  total: number;
  /** The parts of the results, in order, as far as the page at `offset` needs them. */
  segments: (offset: number) => Promise<Segment[]>;
};

/** Where it is looked for, and what the profiles' names are. */
type Where = { index: SearchIndex; texts: ProfileTexts };

/**
 * Finds what the words match: all of them when that gives at least `limit` matches, else any of them, with those that
 * have all in front. `facets` are matches that every result must have as well.
 */
export async function matchesOf(
  { index, texts }: Where,
  words: readonly SearchWord[],
  facets: readonly Match[],
  limit: number,
): Promise<Matches> {
  const completions = await completionsOf(index, words);
  const each = words.map((word) => wordMatch(word, completions));
  const [all, any] = [allOf(each), anyOf(each)];
  const filtered = (match: Match) => allOf([match, ...facets]);
  const found: Finding = { index, filtered };
  const match = filtered(all);
  const named = { match: filtered(inName(all)), text: textOf(words), limit };
  const withNames = async (offset: number, others: () => Promise<Segment[]>) =>
    namesInFront(await namedFirst({ index, texts }, named), { limit, offset }, others);
  if (each.length === 1) {
    const total = await index.count(match);
    const segments = (offset: number) => withNames(offset, () => namesFirst(found, all, total));
    return { match, total, segments };
  }
  const foremost = await index.foremost({ match, except: [], limit, skip: 0 });
  if (foremost.length >= limit) {
    const total = await index.count(match);
    const segments = (offset: number) =>
      withNames(offset, () => scoredByTelling(found, { each, all, total }));
    return { match, total, segments };
  }
  const matchAny = filtered(any);
  const total = await index.count(matchAny);
  const inOrder = () => rareWordsFirst(found, { each, matchAny, total, foremost });
  const segments = (offset: number) =>
    foremost.length === 0 ? inOrder() : withNames(offset, inOrder);
  return { match: matchAny, total, segments };
}

const textOf = (words: readonly SearchWord[]) => words.map(({ forms }) => forms[0]).join(" ");

/** Segments are looked for here: `filtered` adds to a match of words what every result must have as well. */
type Finding = { index: SearchIndex; filtered: (match: Match) => Match };

/** So many matches are looked at for their name, the foremost by impact. */
const lookedAtMax = 120;

type Named = {
  /** Profiles with all of the words in their name. */
  match: Match;
  places: readonly number[];
};

/**
 * Places of profiles that have all of the words in their name, for standing in front of all others: first those whose
 * name begins with the text as it was typed, then the shorter names. bm25 measures a profile by the length of all its
 * texts, and so cannot tell that "Youth Outreach" is more exactly what was asked for than a longer name.
 */
async function namedFirst(
  { index, texts }: Where,
  { match, text, limit }: { match: Match; text: string; limit: number },
): Promise<Named> {
  const places = await index.foremost({ match, except: [], limit: lookedAtMax, skip: 0 });
  if (places.length === 0) return { match, places };
  const typed = fold(text);
  const names = await texts.names(places.map((place) => place % idsPerRank));
  const named = places.map((place, at) => {
    const name = names[at] ?? "";
    return { place, begins: name.startsWith(typed) ? 0 : 1, length: name.length };
  });
  named.sort((a, b) => a.begins - b.begins || a.length - b.length || a.place - b.place);
  return { match, places: named.slice(0, limit).map(({ place }) => place) };
}

/** Puts those of the names in front; the first of the other segments holds them all too. */
async function namesInFront(
  { match, places }: Named,
  { limit, offset }: { limit: number; offset: number },
  others: () => Promise<Segment[]>,
): Promise<Segment[]> {
  const inFront = { match, count: places.length, known: places };
  if (offset === 0 && places.length === limit) return [inFront];
  const [first, ...rest] = await others();
  if (first === undefined) return [];
  if (places.length === 0) return [first, ...rest];
  return [inFront, { ...first, count: first.count - places.length, except: places }, ...rest];
}

/** Too many to score all: those with the words in their name are looked at first. */
async function namesFirst(
  { index, filtered }: Finding,
  match: Match,
  count: number,
): Promise<Segment[]> {
  if (count <= scoredMax) return [{ match: filtered(match), count }];
  const named = inName(match);
  const withName = await index.count(filtered(named));
  return [
    { match: filtered(named), count: withName },
    { match: filtered(without(match, named)), count: count - withName },
  ];
}

type Words = { each: readonly Match[]; total: number };

/** All of the words, with points for those that tell profiles apart. */
async function scoredByTelling(
  found: Finding,
  { each, all, total }: Words & { all: Match },
): Promise<Segment[]> {
  const segments = await namesFirst(found, all, total);
  const telling = (await byRarity(found, each)).filter((word) => word.telling);
  if (telling.length === 0 || telling.length === each.length) return segments;
  const scoring = allOf(telling.map(({ match }) => match));
  return segments.map((segment) => ({ ...segment, scoring }));
}

/**
 * Any of the words; `foremost` have all of them. When that is too many to score all: first what has one of the rarer
 * words, so many as can be scored and by these words alone, then what has only the very common ones.
 */
async function rareWordsFirst(
  found: Finding,
  { each, matchAny, total, foremost }: Words & { matchAny: Match; foremost: readonly number[] },
): Promise<Segment[]> {
  const { index, filtered } = found;
  if (total <= scoredMax) return [{ match: matchAny, count: total, foremost }];
  const rare: Match[] = [];
  let sum = 0;
  for (const { match, matched } of await byRarity(found, each)) {
    sum += matched;
    if (matched > 0 && sum <= scoredMax) rare.push(match);
  }
  if (rare.length === 0) {
    const [any, all] = [anyOf(each), allOf(each)];
    const others = await namesFirst(found, without(any, all), total - foremost.length);
    return [{ match: filtered(all), count: foremost.length }, ...others];
  }
  const rareOnes = anyOf(rare);
  const withRare = await index.count(filtered(rareOnes));
  return [
    { match: filtered(rareOnes), count: withRare, foremost },
    { match: filtered(without(anyOf(each), rareOnes)), count: total - withRare },
  ];
}

/**
 * The words, the rarest first. A word that stands in a sixth of the profiles or more tells little: bm25 gives few or no
 * points for it, and FTS5 takes longest to find that out.
 */
async function byRarity({ index }: Finding, each: readonly Match[]) {
  const size = await index.size();
  const words: { match: Match; matched: number; telling: boolean; key: string }[] = [];
  for (const match of each) {
    const matched = await index.count(match);
    words.push({ match, matched, telling: matched * 6 < size, key: ftsQuery(match) });
  }
  return words.sort((a, b) => a.matched - b.matched || (a.key < b.key ? -1 : 1));
}

/** Words of the directory that complete the half-typed last word and that its prefix alone may not find. */
async function completionsOf(
  index: SearchIndex,
  words: readonly SearchWord[],
): Promise<readonly string[]> {
  const begun = halfTypedWord(words);
  return begun === null ? [] : completionsToAdd(begun, await index.completions(begun));
}
