import given from "#content/editorial/search-words.json";
import {
  countryCode,
  countryOf,
  countryName,
  states as stateOf,
} from "#content/nonprofit/country.ts";
import {
  type PostalPlace,
  areaNamed,
  cellsWithin,
  codesIn,
  townsNamed,
} from "#content/nonprofit/postal-points.ts";
import { fold } from "#content/nonprofit/text.ts";
import {
  type FtsMatch,
  type SearchWord,
  allOf,
  anyOf,
  filterMatch,
  isKnownWord,
  isOfKind,
  isPhrase,
  kindsIn,
  optional,
  phrase,
  placeMatch,
  textOf,
} from "./query.ts";
import type { Filters } from "#content/contract/browse.ts";
import { type SearchAnswer, type SearchQuery, withinKm } from "#content/contract/search.ts";
import { weighedCache } from "#content/runtime/cache.ts";
import { cellWord, wantedBy } from "#content/nonprofit/filters.ts";
import type { Location, SearchIndex } from "./index-store.ts";

/** A place named in a query. */
export type Place = {
  /** Its spelling in the directory: "Honolulu", "Kenya". */
  name: string;
  match: FtsMatch;
  /** The places that contain it, nearest first. */
  around: readonly Pick<Place, "name" | "match">[];
  /** True for a country or a state of the United States, which is no ordinary word. */
  isSure: boolean;
};

/** Successive words that may name a place; `from` and `to` (exclusive) are positions in the query. */
export type Span = {
  from: number;
  to: number;
  text: string;
  /** "in Reading": the word before marks it as a place. */
  isExplicit: boolean;
  /** It may be a code: capitals beside another word, when not all words are in capitals. */
  isCode: boolean;
};

const beforePlaces = new Set(given.beforePlaces);
const spanWordsMax = 3;

/** The words of a query to look up as places: those at its end and start, and those after "in". */
export function placeSpans(words: readonly SearchWord[]): Span[] {
  const end = words.findLastIndex((word) => !optional.has(fold(textOf(word)))) + 1;
  const spans: Span[] = [];
  for (let length = spanWordsMax; length > 0; length--) {
    for (let from = 0; from + length <= end; from++) {
      const before = words.slice(0, from).findLast((word) => fold(textOf(word)) !== "the");
      const isInPlace = beforePlaces.has(fold(textOf(before ?? emptyWord)));
      if (!isInPlace && from > 0 && from + length < end) continue;
      spans.push(...(spanOf(words, from, from + length, isInPlace) ?? []));
    }
  }
  // Marked places come first, then the end before the start, and longer before shorter.
  return spans.sort(
    (a, b) => Number(b.isExplicit) - Number(a.isExplicit) || b.to - a.to || a.from - b.from,
  );
}

function spanOf(
  words: readonly SearchWord[],
  from: number,
  to: number,
  isExplicit: boolean,
): [Span] | null {
  const part = words.slice(Math.max(0, from), to);
  if (part.length !== to - from || part.some(isPhrase)) return null;
  if (optional.has(fold(textOf(part[0] ?? emptyWord)))) return null;
  // New England is no part of England.
  if (fold(textOf(words[from - 1] ?? emptyWord)) === "new") return null;
  const text = part.map(placeText).join(" ");
  // At the start only a state just before a kind: "DC food bank", but not "MS society".
  const isBeforeKind = kindsIn(words.slice(to)).some((kind) => kind.from === 0);
  const isBeside = from > 0 || (stateOf.has(text) && !otherMeanings.has(text) && isBeforeKind);
  const isCode = isLoud(text) && !words.every((word) => isLoud(textOf(word))) && isBeside;
  return [{ from, to, text, isExplicit, isCode }];
}

/** Join "Hawai'i" into one word, as place names do. */
const placeText = ({ forms: [text = "", joined] }: SearchWord): string =>
  joined !== undefined && / \p{L}$/u.test(text) ? joined : text;

/** Codes of states that rather stand for Mount, company, or Veterans Affairs at the start of a name. */
const otherMeanings = new Set(["MT", "CO", "VA"]);

const isLoud = (text: string): boolean => text === text.toUpperCase();

const emptyWord: SearchWord = { forms: [], prefix: false };

/**
 * Possible places next to a place: those that end where it begins, or begin where it ends. Codes may have any letter case,
 * because the first place must be inside what they stand for.
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

/** The places that a code after a place may stand for. "in" and "or" count as codes only in capitals. */
export const placesOfCodeBehind = (text: string): Place[] =>
  optional.has(fold(text)) && !isLoud(text) ? [] : placesOfCode(text);

/** The spellings under which the index may have a place: "St. Louis" is st louis and saint louis. */
export function placeSpellings(text: string): string[] {
  const foldedText = fold(text.replaceAll(/['’.]/g, ""));
  const bare = indexedNames.get(foldedText) ?? foldedText;
  const words = bare.split(" ");
  const spelling = words.map((word) => placeWords.get(word) ?? word).join(" ");
  return spelling === bare ? [bare] : [bare, spelling];
}

/** Matches everything in a city, region, county or island with this name. */
export const placeNameMatch = ({ text }: Pick<Span, "text">): FtsMatch =>
  placeMatch(placeSpellings(text));

/** The name in the index by a common name of the same place: "nyc" is New York. */
const indexedNames = new Map(Object.entries(given.otherPlaceNames));

/** Replaceable words: "St" and "Saint" in both directions, "N" and "North", and the like. */
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

/** The places that a code may stand for, in any letter case: a state of the United States first, then a country. */
export function placesOfCode(text: string): Place[] {
  if (text.length > codeLengthMax) return [];
  const state = stateOf.get(text.toUpperCase());
  // A number among words is no country code.
  const country = /\d/.test(text) ? null : countryCode(text);
  return [
    ...(state === undefined ? [] : [{ ...regionPlace(state), around: [countryPlace("US")] }]),
    ...(country === null ? [] : [{ ...countryPlace(country), around: [] }]),
  ].map((place) => ({ ...place, isSure: true }));
}

/** The place with this full name, using the location of a profile in it; null if there is none. */
export function placeOf(text: string, foundLocation: Location | null): Place | null {
  const [usual = text] = placeSpellings(text);
  const country = usual.length <= codeLengthMax ? null : countryOf(usual);
  // "Scotland" is another name of a country, but also a region of its own.
  const isPart = foundLocation !== null && fold(countryName(country) ?? "") !== fold(text);
  if (country !== null && !isPart) {
    const match = anyOf([placeMatch(placeSpellings(text)), filterMatch("country", country)]);
    return { name: countryName(country) ?? text, match, around: [], isSure: true };
  }
  const state = states.get(fold(text));
  const inState = state === undefined ? null : { city: null, region: state, country_code: "US" };
  const location = foundLocation ?? inState;
  if (location === null) return null;
  return {
    ...namedIn(text, location),
    match: placeNameMatch({ text }),
    isSure: state !== undefined,
  };
}

/** A common word ("Partners in hope") counts as a town only with at least this many postal codes. */
const codesOfUsualMin = 5;

/** A town without any profile; null if no postal code names it, or it is rather a word. */
export function unknownTown(text: string): Place | null {
  const [town] = townsNamed(text).sort((a, b) => b.codes - a.codes);
  const isWord = isKnownWord(text) && (town?.codes ?? 0) < codesOfUsualMin;
  if (town === undefined || isWord || isOfKind(fold(text))) return null;
  const around = [countryPlace(town.country_code)];
  return { name: town.name, match: placeNameMatch({ text }), around, isSure: true };
}

function namedIn(text: string, { city, region, country_code }: Location) {
  const name = [city, region].find((place) => place !== null && isSamePlace(text, place));
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

const regionPlace = (name: string) => ({ name, match: placeNameMatch({ text: name }) });

const countryPlace = (code: string) => ({
  name: countryName(code) ?? code,
  match: filterMatch("country", code),
});

/** What is near a place: `match` matches all of it, `kms` has the index words of its cells with distances, nearest first. */
export type Nearby = {
  near: NonNullable<SearchAnswer["understood"]["near"]>;
  match: FtsMatch;
  kms: ReadonlyMap<string, number>;
};

type PlaceInText = { near: string; q: string | null };

/** The place named by `near`, else by `q`, with the rest of `q`; null when neither names a place. */
export function openNear(index: SearchIndex) {
  const cache = weighedCache<Nearby>(8_000_000, ({ kms }) => 120 * kms.size);
  return async (
    { near, within_km = withinKm.default, q, literal, filters, placeFilters }: SearchQuery,
    version: number,
    placeIn: (text: string) => PlaceInText | null,
  ) => {
    const question = near === undefined ? placeIn(literal ? "" : (q ?? "")) : { near, q };
    if (question === null) return null;
    // For a place in words, take the likeliest one. A client that sends the parameter is asked which one it means.
    const margin = near === undefined ? 1 : timesAsMuch;
    const { country, region } = placeFilters ?? filters;
    const key = JSON.stringify([version, within_km, margin, country, region, question.near]);
    const places = () => placesIn({ country, region }, placesNamed(question.near));
    const nearby =
      cache.get(key) ?? (await nearbyOf(index, question.near, places(), { within_km, margin }));
    cache.set(key, nearby);
    return near === undefined && nearby.near.choices ? null : { ...nearby, q: question.q };
  };
}

const nearAtEnd = new RegExp(String.raw`^(.*?)\b(?:${given.beforeNear.join("|")})\s+(.+)$`, "i");

export function placeAfterNear(text: string): PlaceInText | null {
  const [, rest = "", near] = nearAtEnd.exec(text) ?? [];
  // "Near Indiana" does not mean Indiana, Pennsylvania.
  if (near === undefined || states.has(fold(near)) || countryOf(near) !== null) return null;
  return { near, q: rest.trim() || null };
}

const codePattern =
  /^(.*?)(?:\bin\s+)?\b(\d{5}(?:-\d{4})?|[a-z]{1,2}\d[a-z\d]?(?:\s*\d[a-z]{2}|\s*\d[a-z]\d)?)$/i;

/** The postal code with which a text ends: "food bank 02903". */
export function codeAtEnd(text: string): PlaceInText | null {
  const [, rest = "", near] = codePattern.exec(text.trim()) ?? [];
  return near === undefined || codesIn(near).length === 0 ? null : { near, q: rest.trim() || null };
}

/** A place is chosen if it weighs this many times as much as any other with its name. */
const timesAsMuch = 10;
const choicesMax = 6;

async function nearbyOf(
  index: SearchIndex,
  text: string,
  places: readonly PostalPlace[],
  { within_km, margin }: { within_km: number; margin: number },
): Promise<Nearby> {
  const profiles = await index.counts(places.map(townMatch));
  // Postal codes show the size of a town, profiles how likely it is meant here.
  const orderedPlaces = places
    .map((place, at) => ({ place, weight: place.codes * (1 + (profiles[at] ?? 0)) }))
    .sort((a, b) => b.weight - a.weight);
  const choices = [...new Set(orderedPlaces.map(({ place }) => labelOf(place)))].slice(
    0,
    choicesMax,
  );
  const [first, second] = orderedPlaces;
  const isOne = choices.length === 1 || (first?.weight ?? 0) >= margin * (second?.weight ?? 0);
  if (first === undefined || !isOne)
    return { near: { name: text, within_km, choices }, match: "", kms: new Map() };
  const { near, begun } = cellsWithin(first.place.point, within_km);
  return {
    near: { name: labelOf(first.place), within_km },
    match: anyOf(begun.map((cell) => phrase(cellWord(cell), true))),
    kms: new Map(near.map(({ cell, km }) => [cellWord(cell), km])),
  };
}

const labelOf = ({ name, region, country_code }: PostalPlace): string =>
  `${name}, ${region || countryName(country_code)}`;

/**
 * A British town is matched by its country: its region in profiles is England or empty, not the postal table's county. So
 * is a town without a region.
 */
const townMatch = ({ name, region, country_code }: PostalPlace) =>
  allOf([
    placeMatch(placeSpellings(name)),
    country_code === "GB" || region === ""
      ? filterMatch("country", country_code)
      : placeMatch(placeSpellings(region)),
  ]);

const placeWordsMax = 6;

/** The postal codes or towns in a text, which may end with what contains them: "Portland, Maine", "W12 Ireland". */
function placesNamed(text: string): PostalPlace[] {
  const words = text.split(/[\s,]+/).slice(0, placeWordsMax);
  for (let length = words.length; length > 0; length--) {
    const name = words.slice(0, length).join(" ");
    const outer = words.slice(length).join(" ");
    const region = fold(stateOf.get(outer.toUpperCase()) ?? outer);
    const isInside = (place: PostalPlace) =>
      outer === "" || fold(place.region) === region || countryOf(outer) === place.country_code;
    const codes = codesIn(name);
    const places = (codes.length > 0 ? codes : townsNamed(name)).filter(isInside);
    if (places.length > 0) return places;
  }
  return [];
}

/** The places in the country and region of the filters; all of them if none is. */
function placesIn(
  { country, region }: Pick<Filters, "country" | "region">,
  places: readonly PostalPlace[],
): readonly PostalPlace[] {
  const code = countryCode(country ?? "");
  const state = wantedBy("region", region ?? "");
  const inCountry = places.filter((place) => place.country_code === code);
  const inRegion = (code === null ? places : inCountry).filter(
    // Some towns have no region, which is no match for a filter that is absent.
    (place) => state !== "" && wantedBy("region", place.region) === state,
  );
  return [inRegion, inCountry, places].find(({ length }) => length > 0) ?? [];
}

/** The note for an unknown or ambiguous place; null for a known one. */
export function nearNote({ name, choices }: Nearby["near"]): string | null {
  if (choices === undefined) return null;
  return choices.length === 0
    ? `No postcode or town "${name}" is known here. Send a ZIP code (02903), a postcode or its first half (EH1 1AA, EH1), or a town (Leeds).`
    : `"${name}" is several places. Send one of these as near: ${choices.join("; ")}.`;
}

/** Distances of nonprofits in km, by id, with one decimal below ten. */
export async function distancesOf(index: SearchIndex, { kms }: Nearby, ids: readonly number[]) {
  const distances: Record<string, number> = {};
  for (const [id, words] of await index.facets(ids)) {
    const km = kms.get(words.split(" ").find((word) => kms.has(word)) ?? "") ?? 0;
    distances[id] = Number(km.toFixed(km < 10 ? 1 : 0));
  }
  return distances;
}
