import given from "#content/editorial/search-words.json";
import { countryCode, countryName, states as stateOf } from "#content/nonprofit/country.ts";
import { areaNamed, townsNamed } from "#content/nonprofit/postal-points.ts";
import { fold } from "#content/nonprofit/text.ts";
import { anyOf, filterMatch, type FtsMatch, placeMatch, type SearchWord } from "./query.ts";
import { isKnownWord, isOfKind, isPhrase, optional, textOf } from "./understand.ts";

/** A place that a query names. */
export type Place = {
  /** As the directory writes it: "Honolulu", "Kenya". */
  name: string;
  match: FtsMatch;
  /** The places around it, the nearest first. */
  around: readonly Pick<Place, "name" | "match">[];
  /** A country or a state of the United States: no ordinary word. */
  isSure: boolean;
};

/** Where a profile is that stands in a place of some name. */
export type Location = {
  city: string | null;
  region: string | null;
  country_code: string | null;
};

/** Words in a row that may name a place; `from` and `to` (exclusive) count words of the query. */
export type Span = {
  from: number;
  to: number;
  text: string;
  /** "in Reading": the word before says that it is a place. */
  said: boolean;
  /** May be a code: in capitals behind a word, when not all words are. */
  isCode: boolean;
};

const beforePlaces = new Set(given.beforePlaces);
const spanWordsMax = 3;

/** Which words of a query to look up as places: those at its end and its start, and those after "in". */
export function placeSpans(words: readonly SearchWord[]): Span[] {
  const end = words.findLastIndex((word) => !optional.has(fold(textOf(word)))) + 1;
  const spans: Span[] = [];
  for (let length = spanWordsMax; length > 0; length--) {
    for (let from = 0; from + length <= end; from++) {
      const before = words.slice(0, from).findLast((word) => fold(textOf(word)) !== "the");
      const said = beforePlaces.has(fold(textOf(before ?? emptyWord)));
      if (!said && from > 0 && from + length < end) continue;
      spans.push(...(spanOf(words, from, from + length, said) ?? []));
    }
  }
  // What was said to be a place comes first, then the end before the start, the longer before the shorter.
  return spans.sort((a, b) => Number(b.said) - Number(a.said) || b.to - a.to || a.from - b.from);
}

function spanOf(
  words: readonly SearchWord[],
  from: number,
  to: number,
  said: boolean,
): [Span] | null {
  const part = words.slice(Math.max(0, from), to);
  if (part.length !== to - from || part.some(isPhrase)) return null;
  if (optional.has(fold(textOf(part[0] ?? emptyWord)))) return null;
  const text = part.map(placeText).join(" ");
  const isCode = from > 0 && isLoud(text) && !words.every((word) => isLoud(textOf(word)));
  return [{ from, to, text, said, isCode }];
}

/** "Hawai'i" is one word, as places write it. */
const placeText = ({ forms: [text = "", joined] }: SearchWord): string =>
  joined !== undefined && / \p{L}$/u.test(text) ? joined : text;

const isLoud = (text: string): boolean => text === text.toUpperCase();

const emptyWord: SearchWord = { forms: [], prefix: false };

/**
 * Places beside a place: those that end where it begins, and those that begin where it ends. Codes in any letter case: the
 * place has to be inside what they stand for.
 */
export const placesBeside = (
  words: readonly SearchWord[],
  { from, to }: { from: number; to: number },
): Span[] =>
  [
    ...Array.from({ length: spanWordsMax }, (_, at) => [from - spanWordsMax + at, from] as const),
    ...Array.from({ length: spanWordsMax }, (_, at) => [to, to + spanWordsMax - at] as const),
  ]
    .flatMap(([start, end]) => spanOf(words, start, end, false) ?? [])
    .map((span) => ({ ...span, isCode: span.from > 0 }));

/** What a code behind a place may stand for. "in" and "or" are words unless they are in capitals. */
export const placesOfCodeBehind = (text: string): Place[] =>
  optional.has(fold(text)) && !isLoud(text) ? [] : placesOfCode(text);

/** The spellings under which the index may keep a place: "St. Louis" is st louis and saint louis. */
export function placeSpellings(text: string): string[] {
  const folded = fold(text.replaceAll(/['’.]/g, ""));
  const bare = otherNames.get(folded) ?? folded;
  const words = bare.split(" ");
  const spelled = words.map((word) => placeWords.get(word) ?? word).join(" ");
  return spelled === bare ? [bare] : [bare, spelled];
}

/** Whatever is in a city, region, county or island of this name. */
export const named = ({ text }: Pick<Span, "text">): FtsMatch => placeMatch(placeSpellings(text));

/** Usual names of places that the directory has under another: "nyc". */
const otherNames = new Map(Object.entries(given.otherPlaceNames));

/** "St" and "Saint" in both directions, "N" and "North", and the like. */
const placeWords = new Map(
  [
    ["st", "saint"],
    ["ste", "sainte"],
    ["mt", "mount"],
    ["ft", "fort"],
    ["n", "north"],
    ["s", "south"],
    ["e", "east"],
    ["w", "west"],
  ].flatMap(([short = "", long = ""]) => [
    [short, long],
    [long, short],
  ]),
);

const states = new Map([...stateOf.values()].map((name) => [fold(name), name]));
const codeLengthMax = 3;

/** What a code in any letter case may stand for: a state of the United States first, then a country. */
export function placesOfCode(text: string): Place[] {
  if (text.length > codeLengthMax) return [];
  const state = stateOf.get(text.toUpperCase());
  // A number among words is no country.
  const country = /\d/.test(text) ? null : countryCode(text);
  return [
    ...(state === undefined ? [] : [{ ...regionPlace(state), around: [countryPlace("US")] }]),
    ...(country === null ? [] : [{ ...countryPlace(country), around: [] }]),
  ].map((place) => ({ ...place, isSure: true }));
}

/** The place that words name in full, from what the directory has in one of that name; null when it is none. */
export function placeOf(text: string, located: Location | null): Place | null {
  const [usual = text] = placeSpellings(text);
  const country = usual.length <= codeLengthMax ? null : countryCode(usual);
  // "Scotland" is another name of a country, but a region of its own.
  const isPart = located !== null && fold(countryName(country) ?? "") !== fold(text);
  if (country !== null && !isPart) {
    const match = anyOf([placeMatch(placeSpellings(text)), filterMatch("country", country)]);
    return { name: countryName(country) ?? text, match, around: [], isSure: true };
  }
  const state = states.get(fold(text));
  const inState = state === undefined ? null : { city: null, region: state, country_code: "US" };
  const found = located ?? inState;
  if (found === null) return null;
  return { ...namedIn(text, found), match: named({ text }), isSure: state !== undefined };
}

/** "Partners in hope": a usual word is a town only when that has so many codes. */
const codesOfUsualMin = 5;

/** A town in which the directory has nothing; null for what is none of the postal codes' towns, or rather a word. */
export function unknownTown(text: string): Place | null {
  const [town] = townsNamed(text).sort((a, b) => b.codes - a.codes);
  const isWord = isKnownWord(text) && (town?.codes ?? 0) < codesOfUsualMin;
  if (town === undefined || isWord || isOfKind(fold(text))) return null;
  const around = [countryPlace(town.country_code)];
  return { name: town.name, match: named({ text }), around, isSure: true };
}

function namedIn(text: string, { city, region, country_code }: Location) {
  const name = [city, region].find((one) => one !== null && isSamePlace(text, one));
  return {
    name: name ?? placeSpellings(text).map(areaNamed).find(Boolean) ?? text,
    around: [
      ...(region !== null && (region !== name || region === city) ? [regionPlace(region)] : []),
      ...(country_code === null ? [] : [countryPlace(country_code)]),
    ],
  };
}

const isSamePlace = (text: string, name: string): boolean =>
  placeSpellings(text).includes(fold(name.replaceAll(/['’.]/g, "")));

const regionPlace = (name: string) => ({ name, match: named({ text: name }) });

const countryPlace = (code: string) => ({
  name: countryName(code) ?? code,
  match: filterMatch("country", code),
});
