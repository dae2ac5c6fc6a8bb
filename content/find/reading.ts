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
  isPhrase,
  joinedPairs,
  kindMatches,
  kindsIn,
  needed,
  phrase,
  textOf,
  textsOf,
  wholeInitials,
  withForms,
  withPair,
  wordMatch,
} from "./query.ts";
import {
  placeNameMatch,
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
 * A word of the query, and what a result may have for it. `match`: the word, or another name or the register code of the
 * kind of organisation that it names. `ownMatch`: the word itself, in any of its forms. `kindMatch`: the word in the name,
 * or the code. `inPlace`: it is part of the place.
 */
export type ReadWord = {
  searchWord: SearchWord;
  match: FtsMatch;
  ownMatch: FtsMatch;
  kindMatch: FtsMatch;
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

export const isPlaceAlone = (reading: Reading): boolean =>
  reading.place !== null && besidePlace(reading).length === 0;

/** Reads words literally, without places and other spellings. */
export async function literalReading(
  index: SearchIndex,
  words: readonly SearchWord[],
): Promise<Reading> {
  const completions = await completionsOf(index, words);
  const readWords = words.map((searchWord) => {
    const match = wordMatch(searchWord, completions);
    return { searchWord, match, ownMatch: match, kindMatch: inName(match), inPlace: false };
  });
  return { words: readWords, place: null, placeSaid: false, placeAlone: false, cause: null };
}

/** Takes a place out of the words and adds other spellings to the rest. `fullText` is the whole text. */
export async function readingOf(
  index: WordsIndex,
  words: readonly SearchWord[],
  fullText: string,
): Promise<Reading> {
  const neededWords = needed(words);
  const pairs = joinedPairs(neededWords);
  const pairMatches = pairs.map(({ text }) => phrase(text));
  // Look up at once what the code below looks up one by one.
  await index.foremost([...placeSpans(words).map(placeNameMatch), ...pairMatches]);
  const span = await placeIn(index, words);
  const placeWords = new Set(span === null ? [] : words.slice(span.from, span.to));
  const otherWords = asking(
    neededWords.filter((word) => !placeWords.has(word)),
    span !== null,
  );
  const keptWords = neededWords.filter((word) => placeWords.has(word) || otherWords.includes(word));
  const isUsed = await index.foremost(pairMatches);
  const wordsWithForms = pairs
    .filter((_, at) => isUsed[at] !== null)
    .reduce(withPair, withForms(neededWords, { text: fullText, alone: otherWords.length === 1 }));
  const completions = await completionsOf(index, words);
  const readWords = keptWords.map((word) => {
    const match = wordMatch(wordsWithForms[neededWords.indexOf(word)] ?? word, completions);
    return {
      searchWord: word,
      match,
      ownMatch: match,
      kindMatch: inName(match),
      inPlace: placeWords.has(word),
    };
  });
  return {
    words: withKinds(readWords),
    place: span?.place ?? null,
    placeSaid: span?.isExplicit === true,
    placeAlone: otherWords.length === 0 && keptWords.length < words.length,
    cause: null,
  };
}

/** Lets words, but no quoted phrase, that name a kind of organisation match its other names and its register codes. */
function withKinds(words: readonly ReadWord[]): ReadWord[] {
  const result = [...words];
  for (const { from, to, kind } of kindsIn(words.map(({ searchWord }) => searchWord))) {
    const run = words.slice(from, to);
    if (run.some(({ inPlace, searchWord }) => inPlace || isPhrase(searchWord))) continue;
    const synonyms = textsOf(kind).map((text) => phrase(text));
    const codes = kindMatches(kind.codes);
    const match = anyOf([allOf(run.map((word) => word.match)), ...synonyms, ...codes]);
    const kindMatch = anyOf([allOf(run.map((word) => word.kindMatch)), ...codes]);
    for (const [at, word] of run.entries()) result[from + at] = { ...word, match, kindMatch };
  }
  return result;
}

/**
 * The reading by which profiles in the place with the same cause count as related: the cause that the words name, or that
 * most profiles with these words have. Null without a place or a cause.
 */
export async function causeReading(index: SearchIndex, reading: Reading): Promise<Reading | null> {
  const otherWords = besidePlace(reading);
  if (reading.place === null || otherWords.length === 0) return null;
  const matches = otherWords.map(({ match }) => match);
  const id =
    (await index.causeOf(inName(allOf(otherWords.map(({ ownMatch }) => ownMatch))))) ??
    causeOf(otherWords.map(({ searchWord }) => searchWord)) ??
    (await index.causeOf(anyOf(matches)));
  return id === null ? null : { ...reading, cause: filterMatch("cause", id) };
}

/** Completions of an incomplete word; null if they are not looked up. */
async function completionsOf(index: WordsIndex, words: readonly SearchWord[]) {
  const beginning = halfTypedWord(words);
  return beginning === null ? null : index.completions(beginning);
}

type FoundPlace = { place: Place; from: number; to: number; isExplicit: boolean };

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
  const to = words.length;
  const from = words.length - 1;
  const before = placesBeside(words, { from, to });
  for (const place of placesOfCodeBehind(words.slice(from).map(textOf).join())) {
    if ((await firstPlace(index, before, place)) !== null)
      return { place, from, to, isExplicit: false };
  }
  return null;
}

/** Adds all adjacent places that are inside the place or contain it. */
async function widened(
  index: WordsIndex,
  words: readonly SearchWord[],
  match: FoundPlace,
): Promise<FoundPlace> {
  const secondPlace = await firstPlace(index, placesBeside(words, match), match.place);
  if (secondPlace === null) return match;
  const [inner, outer] =
    secondPlace.from < match.from ? [secondPlace, match] : [match, secondPlace];
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
    isExplicit: inner.isExplicit || outer.isExplicit,
  });
}

/** The first span that is a place; with `outer`, the first that is a place inside it. */
async function firstPlace(
  index: WordsIndex,
  spans: readonly Span[],
  outer?: Place,
): Promise<FoundPlace | null> {
  const locations = await index.foremost(spans.map(placeNameMatch));
  for (const [at, span] of spans.entries()) {
    const { from, to, text } = span;
    const places = span.isCode ? placesOfCode(text) : [];
    const match =
      placeOf(text, locations[at] ?? null) ?? (span.isExplicit ? unknownTown(text) : null);
    for (const place of [...places, match]) {
      if (place === null) continue;
      if (await isMeant(index, span, place, outer))
        return { place, from, to, isExplicit: span.isExplicit };
    }
  }
  return null;
}

const isMeant = async (
  index: WordsIndex,
  { from, to, text, isExplicit }: Span,
  place: Place,
  outer?: Place,
): Promise<boolean> =>
  outer === undefined
    ? isExplicit || to - from > 1 || place.isSure || (await isRatherPlace(index, text, place))
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
    .map(({ searchWord, inPlace }, at) => ({
      word: searchWord,
      inPlace,
      at,
      count: counts[at] ?? 0,
    }))
    .filter(({ word, count, inPlace }) => count < rareMax && !inPlace && !isKnownWord(textOf(word)))
    .sort((a, b) => a.count - b.count)
    .slice(0, correctedMax)
    .sort((a, b) => a.at - b.at);
  const corrections: Correction[] = [];
  const replacements = new Map<SearchWord, SearchWord>();
  for (const { word, count } of doubtful) {
    const other = await replacementOf(index, word, count);
    if (other === null) continue;
    if (other.meant !== undefined)
      corrections.push({ typed: word.typed ?? textOf(word), meant: other.meant });
    replacements.set(word, other.word);
  }
  return replacements.size === 0
    ? null
    : {
        words: words.map(({ searchWord }) => replacements.get(searchWord) ?? searchWord),
        corrections,
      };
}

/** What is searched instead of a word that `count` profiles have, and the word that is meant, if it is not initials. */
async function replacementOf(
  index: SearchIndex,
  word: SearchWord,
  count: number,
): Promise<{ word: SearchWord; meant: string | undefined } | null> {
  const text = fold(textOf(word));
  const [ofInitials = 0, ofNames = 0] = await index.counts([
    wholeInitials(text),
    inName(phrase(text)),
  ]);
  const uses = { count, isNamed: ofNames > 0 };
  const near = text.includes(" ") ? [] : await meantBy(index, text, uses);
  const areInitials = ofInitials > 0 && !isLikelier(text, near[0]);
  const candidates = areInitials ? [] : near;
  const mayBeInitials = (count === 0 || areInitials) && /^[a-z]{3,7}$/.test(text);
  if (candidates.length === 0 && !mayBeInitials) return null;
  // The likeliest comes first: places are looked up by it.
  const forms = [...candidates, ...word.forms];
  const also = mayBeInitials ? [initialsMatch(text)] : [];
  return { word: { forms, prefix: false, also }, meant: candidates[0] };
}

/** Whether a word is rather another one than the initials of a name, which three letters nearly always are. */
const isLikelier = (text: string, near = ""): boolean =>
  text.length < 4 || (near.length >= 4 && isKnownWord(near));

/**
 * Words or pairs of words that may be meant by a word that `count` profiles have, likeliest first. One that no name has
 * (`isNamed`) is rather a mistake than right.
 */
async function meantBy(
  index: SearchIndex,
  text: string,
  { count, isNamed }: { count: number; isNamed: boolean },
): Promise<string[]> {
  const isUnknown = count < rightFrom;
  const isMistake = isUnknown && !isNamed;
  const most = isUnknown ? mistakesMax(text) : 1;
  const least = count * (isUnknown ? timesAsMany.unknown : timesAsMany.known);
  const leastFor = (word: string) => (isMistake && isKnownWord(word) ? count : least);
  const likelyOf = async (words: readonly string[]) => {
    const candidates = words
      .map((word) => ({ word, distance: word.includes(" ") ? 1 : editDistance(word, text, most) }))
      .filter(({ distance }) => distance <= most);
    const counts = await index.counts(candidates.map(({ word }) => phrase(word)));
    return candidates
      .map((candidate, at) => ({ ...candidate, count: counts[at] ?? 0 }))
      .filter((candidate) => candidate.count > leastFor(candidate.word))
      .sort((a, b) => a.distance - b.distance || b.count - a.count || (a.word < b.word ? -1 : 1))
      .slice(0, otherWordsMax)
      .map(({ word }) => word);
  };
  const inTwo = splits(text);
  for await (const words of nearWords(index, text)) {
    if (words.length === 0) continue;
    const likely = await likelyOf([...inTwo, ...words]);
    if (likely.length > 0 || !isMistake) return likely;
  }
  return likelyOf(inTwo);
}

/** The words that are near to a text, in groups: one group for each way in which they may begin. */
async function* nearWords(index: SearchIndex, text: string): AsyncGenerator<string[]> {
  if (mistakesMax(text) === 0) return;
  for (const beginning of beginnings(text))
    yield nearestWords(text, await index.wordsFrom(beginning));
  yield otherFirstLetters(text);
}
