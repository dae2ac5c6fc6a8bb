import { fold } from "#content/nonprofit/text.ts";
import { completionsToAdd, halfTypedWord } from "./half-typed.ts";
import type { SearchIndex } from "./index-store.ts";
import {
  beginnings,
  editDistance,
  mistakesMax,
  nearestWords,
  otherFirstLetters,
  splits,
} from "./near-words.ts";
import {
  allOf,
  anyOf,
  causeMatch,
  type FtsMatch,
  initialsMatch,
  phrase,
  type SearchWord,
  wordMatch,
} from "./query.ts";
import {
  type Place,
  placeOf,
  placesBeside,
  placesOfCode,
  placeSpans,
  type Span,
} from "./places.ts";
import { causeOf, joinedPairs, needed, textOf, withForms, withPair } from "./understand.ts";

/** How a query is understood. */
export type Reading = {
  /** All words that a match must have, as they were typed. */
  words: readonly SearchWord[];
  /** The same as what they match. */
  each: readonly FtsMatch[];
  /** Which of them name the place. */
  inPlace: readonly boolean[];
  /** What the others match, and their texts. */
  rest: readonly FtsMatch[];
  restWords: readonly string[];
  place: Place | null;
  /** A cause in a place. `isWhole`: the rest says nothing else, so that what is of the cause counts as having the words. */
  cause: { match: FtsMatch; isWhole: boolean } | null;
};

/** Words as they stand: no place, no other spelling. */
export async function literalReading(
  index: SearchIndex,
  words: readonly SearchWord[],
): Promise<Reading> {
  const each = await matchesOf(index, words, words);
  const inPlace = words.map(() => false);
  return {
    words,
    each,
    inPlace,
    rest: each,
    restWords: words.map(textOf),
    place: null,
    cause: null,
  };
}

/** Takes a place out of the words and adds other spellings to the rest. `typed` is the whole text. */
export async function readingOf(
  index: SearchIndex,
  words: readonly SearchWord[],
  typed: string,
): Promise<Reading> {
  const found = await placeIn(index, words);
  const placeWords = new Set(found === null ? [] : words.slice(found.from, found.to));
  const own = needed(words);
  const inPlace = own.map((word) => placeWords.has(word));
  const restWords = own.filter((_, at) => inPlace[at] === false);
  const alone = restWords.length === 1;
  let formed = withForms(own, { typed, alone });
  const pairs = joinedPairs(own);
  const counts = await index.counts(pairs.map(({ text }) => phrase(text)));
  for (const [at, pair] of pairs.entries()) {
    if ((counts[at] ?? 0) > 0) formed = withPair(formed, pair);
  }
  const each = await matchesOf(index, own, formed);
  const cause = found === null ? null : causeOf(restWords);
  return {
    words: own,
    each,
    inPlace,
    rest: each.filter((_, at) => inPlace[at] === false),
    restWords: restWords.map(textOf),
    place: found?.place ?? null,
    cause: cause?.isWhole === true ? { match: causeMatch(cause.id), isWhole: true } : null,
  };
}

/**
 * The reading by which profiles of the same cause in the place count as near: the cause of most profiles with these words,
 * or the one that the words name. Null without a place or a cause.
 */
export async function causeReading(index: SearchIndex, reading: Reading): Promise<Reading | null> {
  const { words, inPlace, place, rest } = reading;
  if (place === null || rest.length === 0) return null;
  const id =
    (await index.causeOf(allOf(rest))) ??
    causeOf(words.filter((_, at) => inPlace[at] === false))?.id ??
    (await index.causeOf(anyOf(rest)));
  return id === null ? null : { ...reading, cause: { match: causeMatch(id), isWhole: false } };
}

/** What each word matches in its `formed` form; a half-typed one also by its completions. */
async function matchesOf(
  index: SearchIndex,
  words: readonly SearchWord[],
  formed: readonly SearchWord[],
): Promise<FtsMatch[]> {
  const begun = halfTypedWord(words);
  const completions = begun === null ? [] : completionsToAdd(begun, await index.completions(begun));
  return formed.map((word) => wordMatch(word, completions));
}

type FoundPlace = { place: Place; from: number; to: number };

/** The place that the words name, with the larger and smaller ones beside it: "Portland, Maine, USA". */
async function placeIn(
  index: SearchIndex,
  words: readonly SearchWord[],
): Promise<FoundPlace | null> {
  const found =
    (await codeAfterPlace(index, words)) ?? (await firstPlace(index, placeSpans(words)));
  return found === null ? null : widened(index, words, found);
}

/** What a code at the end stands for, when a place inside that stands before it: "portland me". */
async function codeAfterPlace(
  index: SearchIndex,
  words: readonly SearchWord[],
): Promise<FoundPlace | null> {
  const [to, from] = [words.length, words.length - 1];
  const before = placesBeside(words, { from, to });
  for (const place of placesOfCode(words.slice(from).map(textOf).join())) {
    if ((await firstPlace(index, before, place)) !== null) return { place, from, to };
  }
  return null;
}

/** With all places beside it that are inside it or around it. */
async function widened(
  index: SearchIndex,
  words: readonly SearchWord[],
  found: FoundPlace,
): Promise<FoundPlace> {
  const other = await firstPlace(index, placesBeside(words, found), found.place);
  if (other === null) return found;
  const [inner, outer] = other.from < found.from ? [other, found] : [found, other];
  const place = {
    name: `${inner.place.name}, ${outer.place.name}`,
    match: allOf([inner.place.match, outer.place.match]),
    around: [outer.place, ...outer.place.around],
    isSure: false,
  };
  return widened(index, words, { place, from: inner.from, to: outer.to });
}

/** The first of the spans that is a place; beside another one, the first that is a place inside it. */
async function firstPlace(
  index: SearchIndex,
  spans: readonly Span[],
  outer?: Place,
): Promise<FoundPlace | null> {
  const located = await index.located(spans.map(({ text }) => text));
  for (const [at, span] of spans.entries()) {
    const { from, to, text } = span;
    const named = placeOf(text, located[at] ?? null);
    const places = [...(span.isCode ? placesOfCode(text) : []), ...(named === null ? [] : [named])];
    for (const place of places) {
      if (await isMeant(index, span, place, outer)) return { place, from, to };
    }
  }
  return null;
}

const isMeant = async (
  index: SearchIndex,
  { from, to, text, said }: Span,
  place: Place,
  outer?: Place,
): Promise<boolean> =>
  outer === undefined
    ? said || to - from > 1 || place.isSure || (await isRatherPlace(index, text, place))
    : (await index.counts([allOf([place.match, outer.match])]))[0] !== 0;

/** Whether more profiles are in the place than use the word: Reading is a town, and reading is none. */
async function isRatherPlace(index: SearchIndex, text: string, { match }: Place): Promise<boolean> {
  const [used = 0, there = 0] = await index.counts([phrase(text), match]);
  return there >= used;
}

/** Other words at most for one that no profile has. */
const otherWordsMax = 4;
/** Registers hold mistakes, too: a word that so few profiles have may be one when another has many times as many. */
const rareMax = 50;
const timesAsMany = 10;
/** Unknown words that are looked up at most, the rarest first: each takes some milliseconds. */
const correctedMax = 3;

/** What was taken for what, as typed and as looked for. */
export type Correction = { typed: string; meant: string };

/**
 * Other words of the directory for those that (almost) no profile has, or null when each is known or nothing is near.
 */
export async function corrected(
  index: SearchIndex,
  { words, each, inPlace, place }: Reading,
): Promise<{ words: SearchWord[]; corrections: Correction[] } | null> {
  const counts = await index.counts(each);
  // In a place, a rare word that is known may simply not be there.
  const most = place === null ? rareMax : 0;
  const doubtful = words
    .map((word, at) => ({ word, at, count: counts[at] ?? 0 }))
    .filter(({ at, count }) => count <= most && inPlace[at] === false)
    .sort((a, b) => a.count - b.count)
    .slice(0, correctedMax)
    .sort((a, b) => a.at - b.at);
  const corrections: Correction[] = [];
  const changed = new Map<SearchWord, SearchWord>();
  for (const { word, count } of doubtful) {
    const typed = fold(textOf(word));
    const others = typed.includes(" ") ? [] : await meantBy(index, typed, count * timesAsMany);
    const initials = count === 0 && /^[a-z]{3,7}$/.test(typed);
    const [meant] = others;
    if (meant === undefined && !initials) continue;
    if (meant !== undefined) corrections.push({ typed: textOf(word), meant });
    changed.set(word, {
      // The likeliest stands first: places are looked for by it.
      forms: [...others, ...word.forms],
      prefix: false,
      ...(initials ? { initials: initialsMatch(typed) } : {}),
    });
  }
  return changed.size === 0
    ? null
    : { words: words.map((word) => changed.get(word) ?? word), corrections };
}

/** Words or pairs of words that may be meant by one that is unknown, the likeliest first. */
async function meantBy(index: SearchIndex, typed: string, least: number): Promise<string[]> {
  const pairs = splits(typed);
  const pairCounts = await index.counts(pairs.map((pair) => phrase(pair)));
  const near = await nearWords(index, typed);
  const counts = await index.counts(near.map((word) => phrase(word)));
  const most = mistakesMax(typed);
  return [
    ...pairs.map((word, at) => ({ word, distance: 1, count: pairCounts[at] ?? 0 })),
    ...near.map((word, at) => ({
      word,
      distance: editDistance(word, typed, most),
      count: counts[at] ?? 0,
    })),
  ]
    .filter(({ count }) => count > least)
    .sort((a, b) => a.distance - b.distance || b.count - a.count || (a.word < b.word ? -1 : 1))
    .slice(0, otherWordsMax)
    .map(({ word }) => word);
}

async function nearWords(index: SearchIndex, typed: string): Promise<string[]> {
  const most = mistakesMax(typed);
  if (most === 0) return [];
  const lengths = [typed.length - most, typed.length + most] as const;
  for (const begun of beginnings(typed)) {
    const near = nearestWords(typed, await index.wordsFrom(begun, lengths));
    if (near.length > 0) return near;
  }
  return otherFirstLetters(typed);
}
