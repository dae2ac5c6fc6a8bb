import { fold } from "#content/nonprofit/text.ts";
import {
  beginnings,
  editDistance,
  mistakesMax,
  nearestWords,
  otherFirstLetters,
  splits,
} from "#content/contract/base/edit-distance.ts";
import type { SearchIndex, WordsIndex } from "./index-store.ts";
import {
  type FtsMatch,
  type SearchWord,
  allOf,
  anyOf,
  asking,
  causeOf,
  filterMatch,
  halfTypedWord,
  inName,
  initialsMatch,
  isKnownWord,
  joinedPairs,
  kindMatches,
  kindsIn,
  needed,
  phrase,
  textOf,
  textsOf,
  withForms,
  withPair,
  wordMatch,
} from "./query.ts";
import {
  named,
  type Place,
  placeOf,
  unknownTown,
  placesBeside,
  placesOfCode,
  placesOfCodeBehind,
  placeSpans,
  type Span,
} from "./places.ts";

/**
 * A word that a match must have: as typed, and what it matches anywhere, in a name, and in a name or by the kind of
 * organisation that it names. `inPlace`: it is part of the place.
 */
export type ReadWord = {
  typed: SearchWord;
  match: FtsMatch;
  asName: FtsMatch;
  ofKind: FtsMatch;
  inPlace: boolean;
};

/**
 * How a query is understood. `placeSaid`: a word before the place marks it, so that names with these words elsewhere come
 * later. `placeAlone`: everything there is wanted ("charities in Reading"), so that such names do not count. `cause`:
 * profiles with this cause count as related.
 */
export type Reading = {
  words: readonly ReadWord[];
  place: Place | null;
  placeSaid: boolean;
  placeAlone: boolean;
  cause: FtsMatch | null;
};

/** The words that are not part of the place. */
export const besidePlace = ({ words }: Reading): ReadWord[] =>
  words.filter(({ inPlace }) => !inPlace);

/** Reads words literally, without places and other spellings. */
export async function literalReading(
  index: SearchIndex,
  words: readonly SearchWord[],
): Promise<Reading> {
  const completions = await completionsOf(index, words);
  const read = words.map((typed) => {
    const match = wordMatch(typed, completions);
    return { typed, match, asName: match, ofKind: inName(match), inPlace: false };
  });
  return { words: read, place: null, placeSaid: false, placeAlone: false, cause: null };
}

/** Separates the place from the words and adds other spellings to the rest. `typed` is the whole text. */
export async function readingOf(
  index: WordsIndex,
  words: readonly SearchWord[],
  typed: string,
): Promise<Reading> {
  const own = needed(words);
  const pairs = joinedPairs(own);
  const pairMatches = pairs.map(({ text }) => phrase(text));
  // Look up at once what the code below looks up one by one.
  await index.foremost([...placeSpans(words).map(named), ...pairMatches]);
  const span = await placeIn(index, words);
  const placeWords = new Set(span === null ? [] : words.slice(span.from, span.to));
  const rest = asking(
    own.filter((word) => !placeWords.has(word)),
    span !== null,
  );
  const placed = own.filter((word) => placeWords.has(word) || rest.includes(word));
  const isUsed = await index.foremost(pairMatches);
  const formed = pairs
    .filter((_, at) => isUsed[at] !== null)
    .reduce(withPair, withForms(own, { typed, alone: rest.length === 1 }));
  const completions = await completionsOf(index, words);
  const read = placed.map((word) => {
    const match = wordMatch(formed[own.indexOf(word)] ?? word, completions);
    return {
      typed: word,
      match,
      asName: match,
      ofKind: inName(match),
      inPlace: placeWords.has(word),
    };
  });
  return {
    words: withKinds(read),
    place: span?.place ?? null,
    placeSaid: span?.said === true,
    placeAlone: rest.length === 0 && placed.length < words.length,
    cause: null,
  };
}

/** Lets words that name a kind of organisation match its other names and its register codes. */
function withKinds(words: readonly ReadWord[]): ReadWord[] {
  const read = [...words];
  for (const { from, to, kind } of kindsIn(words.map(({ typed }) => typed))) {
    const run = words.slice(from, to);
    if (run.some(({ inPlace }) => inPlace)) continue;
    const others = textsOf(kind).map((other) => phrase(other));
    const codes = kindMatches(kind.codes);
    const match = anyOf([allOf(run.map((word) => word.match)), ...others, ...codes]);
    const ofKind = anyOf([allOf(run.map((word) => word.ofKind)), ...codes]);
    for (const [at, word] of run.entries()) read[from + at] = { ...word, match, ofKind };
  }
  return read;
}

/**
 * The reading by which profiles in the place with the same cause count as related: the cause that the words name, or that
 * most profiles with these words have. Null without a place or a cause.
 */
export async function causeReading(index: SearchIndex, reading: Reading): Promise<Reading | null> {
  const rest = besidePlace(reading);
  if (reading.place === null || rest.length === 0) return null;
  const matches = rest.map(({ match }) => match);
  const id =
    (await index.causeOf(inName(allOf(rest.map(({ asName }) => asName))))) ??
    causeOf(rest.map(({ typed }) => typed)) ??
    (await index.causeOf(anyOf(matches)));
  return id === null ? null : { ...reading, cause: filterMatch("cause", id) };
}

/** Completions of an incomplete word; null if they are not looked up. */
async function completionsOf(index: WordsIndex, words: readonly SearchWord[]) {
  const begun = halfTypedWord(words);
  return begun === null ? null : index.completions(begun);
}

type FoundPlace = { place: Place; from: number; to: number; said: boolean };

/** The place that the words name, with larger and smaller places next to it: "Portland, Maine, USA". */
async function placeIn(
  index: WordsIndex,
  words: readonly SearchWord[],
): Promise<FoundPlace | null> {
  const match =
    (await codeAfterPlace(index, words)) ?? (await firstPlace(index, placeSpans(words)));
  return match === null ? null : widened(index, words, match);
}

/** The place of a code at the end, if a place inside it comes before: "portland me". */
async function codeAfterPlace(
  index: WordsIndex,
  words: readonly SearchWord[],
): Promise<FoundPlace | null> {
  const [to, from] = [words.length, words.length - 1];
  const before = placesBeside(words, { from, to });
  for (const place of placesOfCodeBehind(words.slice(from).map(textOf).join())) {
    if ((await firstPlace(index, before, place)) !== null) return { place, from, to, said: false };
  }
  return null;
}

/** Adds all adjacent places that are inside the place or contain it. */
async function widened(
  index: WordsIndex,
  words: readonly SearchWord[],
  match: FoundPlace,
): Promise<FoundPlace> {
  const other = await firstPlace(index, placesBeside(words, match), match.place);
  if (other === null) return match;
  const [inner, outer] = other.from < match.from ? [other, match] : [match, other];
  const place = {
    name: `${inner.place.name}, ${outer.place.name}`,
    match: allOf([inner.place.match, outer.place.match]),
    around: [outer.place, ...outer.place.around],
    isSure: false,
  };
  return widened(index, words, {
    place,
    from: inner.from,
    to: outer.to,
    said: inner.said || outer.said,
  });
}

/** The first span that is a place; with `outer`, the first that is a place inside it. */
async function firstPlace(
  index: WordsIndex,
  spans: readonly Span[],
  outer?: Place,
): Promise<FoundPlace | null> {
  const located = await index.foremost(spans.map(named));
  for (const [at, span] of spans.entries()) {
    const { from, to, text } = span;
    const places = span.isCode ? placesOfCode(text) : [];
    const match = placeOf(text, located[at] ?? null) ?? (span.said ? unknownTown(text) : null);
    for (const place of [...places, match]) {
      if (place === null) continue;
      if (await isMeant(index, span, place, outer)) return { place, from, to, said: span.said };
    }
  }
  return null;
}

const isMeant = async (
  index: WordsIndex,
  { from, to, text, said }: Span,
  place: Place,
  outer?: Place,
): Promise<boolean> =>
  outer === undefined
    ? said || to - from > 1 || place.isSure || (await isRatherPlace(index, text, place))
    : (await index.foremost([allOf([place.match, outer.match])]))[0] !== null;

/** Whether more profiles are in the place than use the word: Reading is a town, "reading" is not. */
async function isRatherPlace(index: WordsIndex, text: string, { match }: Place): Promise<boolean> {
  const [used = 0, there = 0] = await index.counts([phrase(text), match]);
  return there >= used;
}

/** The most replacements for a word that no profile has. */
const otherWordsMax = 4;
/** From so many profiles on a word is right, unless one a single slip away has a hundred times as many: CHRUCH. */
const rightFrom = 2;
const timesAsMany = { unknown: 10, known: 100 };
/** With more profiles than this, no other word can count a hundred times as many. */
const rareMax = 10;
/** The most unknown words to look up, rarest first: each takes some milliseconds. */
const correctedMax = 3;

/** A corrected word: as typed, and as searched. */
export type Correction = { typed: string; meant: string };

/**
 * Replacements for words that (almost) no profile has and that are not common words; null if all are right or nothing is
 * near.
 */
export async function corrected(
  index: SearchIndex,
  { words }: Reading,
): Promise<{ words: SearchWord[]; corrections: Correction[] } | null> {
  const counts = await index.counts(words.map(({ match }) => match));
  const doubtful = words
    .map(({ typed, inPlace }, at) => ({ word: typed, inPlace, at, count: counts[at] ?? 0 }))
    .filter(({ word, count, inPlace }) => count < rareMax && !inPlace && !isKnownWord(textOf(word)))
    .sort((a, b) => a.count - b.count)
    .slice(0, correctedMax)
    .sort((a, b) => a.at - b.at);
  const corrections: Correction[] = [];
  const changed = new Map<SearchWord, SearchWord>();
  for (const { word, count } of doubtful) {
    const typed = fold(textOf(word));
    const others = typed.includes(" ") ? [] : await meantBy(index, typed, count);
    const initials = count === 0 && /^[a-z]{3,7}$/.test(typed) ? [initialsMatch(typed)] : [];
    const [meant] = others;
    if (meant === undefined && initials.length === 0) continue;
    if (meant !== undefined) corrections.push({ typed: textOf(word), meant });
    // The likeliest comes first: places are looked up by it.
    changed.set(word, { forms: [...others, ...word.forms], prefix: false, also: initials });
  }
  return changed.size === 0
    ? null
    : { words: words.map(({ typed }) => changed.get(typed) ?? typed), corrections };
}

/** Words or pairs of words that may be meant by an unknown word, likeliest first. */
async function meantBy(index: SearchIndex, typed: string, count: number): Promise<string[]> {
  const isUnknown = count < rightFrom;
  const least = count * (isUnknown ? timesAsMany.unknown : timesAsMany.known);
  const most = isUnknown ? mistakesMax(typed) : 1;
  const others = [
    ...splits(typed).map((word) => ({ word, distance: 1 })),
    ...(await nearWords(index, typed)).map((word) => ({
      word,
      distance: editDistance(word, typed, most),
    })),
  ];
  const counts = await index.counts(others.map(({ word }) => phrase(word)));
  return others
    .map((other, at) => ({ ...other, count: counts[at] ?? 0 }))
    .filter(({ count: other, distance }) => other > least && distance <= most)
    .sort((a, b) => a.distance - b.distance || b.count - a.count || (a.word < b.word ? -1 : 1))
    .slice(0, otherWordsMax)
    .map(({ word }) => word);
}

async function nearWords(index: SearchIndex, typed: string): Promise<string[]> {
  if (mistakesMax(typed) === 0) return [];
  for (const begun of beginnings(typed)) {
    const near = nearestWords(typed, await index.wordsFrom(begun));
    if (near.length > 0) return near;
  }
  return otherFirstLetters(typed);
}
