import given from "#content/editorial/search-words.json";
import { type SearchAnswer, type SearchQuery, withinKm } from "#content/contract/search.ts";
import { weighedCache } from "#content/runtime/cache.ts";
import { countryCode, countryName, states } from "#content/nonprofit/country.ts";
import { cellWord } from "#content/nonprofit/filters.ts";
import { cellsWithin, codesIn, townsNamed } from "#content/nonprofit/postal-points.ts";
import type { PostalPlace } from "#content/nonprofit/postal-points.ts";
import { fold } from "#content/nonprofit/text.ts";
import type { SearchIndex } from "./index-store.ts";
import { placeSpellings } from "./places.ts";
import { allOf, anyOf, filterMatch, type FtsMatch, phrase, placeMatch } from "./query.ts";

/** What is near a place: `match` is all of it, `kms` has the words of its cells with their distances, the nearest first. */
export type Nearby = {
  near: NonNullable<SearchAnswer["understood"]["near"]>;
  match: FtsMatch;
  kms: ReadonlyMap<string, number>;
};

/** What `near` asks for, else what `q` says, and what is left of `q`; null when neither names a place. */
export function openNear(index: SearchIndex) {
  const cached = weighedCache<Nearby>(8_000_000, ({ kms }) => 120 * kms.size);
  return async (
    { near, within_km = withinKm.default, q, literal }: SearchQuery,
    version: number,
  ) => {
    const question = near === undefined ? placeIn(literal ? "" : (q ?? "")) : { near, q };
    if (question === null) return null;
    // In words the likeliest place is meant. A client that sends the parameter is asked which.
    const margin = near === undefined ? 1 : timesAsMuch;
    const key = `${version} ${within_km} ${margin} ${question.near}`;
    const nearby = cached.get(key) ?? (await nearbyOf(index, question.near, within_km, margin));
    cached.set(key, nearby);
    return near === undefined && nearby.near.choices ? null : { ...nearby, q: question.q };
  };
}

const nearAtEnd = new RegExp(String.raw`^(.*?)\b(?:${given.beforeNear.join("|")})\s+(.+)$`, "i");
const stateNames = new Set([...states.values()].map(fold));

function placeIn(text: string): { near: string; q: string | null } | null {
  const [, rest = "", near] = nearAtEnd.exec(text) ?? [];
  // "Near Indiana" is not near Indiana, Pennsylvania.
  if (near === undefined || stateNames.has(fold(near)) || countryCode(near) !== null) return null;
  return { near, q: rest.trim() || null };
}

/** A place is meant when it weighs so many times as much as any other of its name. */
const timesAsMuch = 10;
const choicesMax = 6;

async function nearbyOf(
  index: SearchIndex,
  text: string,
  within_km: number,
  margin: number,
): Promise<Nearby> {
  const places = placesNamed(text);
  const profiles = await index.counts(places.map(townMatch));
  // Its codes tell how big a town is, its profiles how likely it is meant here.
  const ordered = places
    .map((place, at) => ({ place, weight: place.codes * (1 + (profiles[at] ?? 0)) }))
    .sort((a, b) => b.weight - a.weight);
  const choices = [...new Set(ordered.map(({ place }) => labelOf(place)))].slice(0, choicesMax);
  const [first, second] = ordered;
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

/** A British town is found by its country: its region is England or none, not the county that the postal table names. */
const townMatch = ({ name, region, country_code }: PostalPlace) =>
  allOf([
    placeMatch(placeSpellings(name)),
    country_code === "GB" ? filterMatch("country", "GB") : placeMatch(placeSpellings(region)),
  ]);

const placeWordsMax = 6;

/** The codes or towns of a text, which may end with what they are in: "Portland, Maine", "Portland ME", "W12 Ireland". */
function placesNamed(text: string): PostalPlace[] {
  const words = text.split(/[\s,]+/).slice(0, placeWordsMax);
  for (let length = words.length; length > 0; length--) {
    const [name, outer] = [words.slice(0, length).join(" "), words.slice(length).join(" ")];
    const region = fold(states.get(outer.toUpperCase()) ?? outer);
    const isInside = (place: PostalPlace) =>
      outer === "" || fold(place.region) === region || countryCode(outer) === place.country_code;
    const codes = codesIn(name);
    const places = (codes.length > 0 ? codes : townsNamed(name)).filter(isInside);
    if (places.length > 0) return places;
  }
  return [];
}

/** What to send for a place that is not known, or which of several; null for one that is known. */
export function nearNote({ name, choices }: Nearby["near"]): string | null {
  if (choices === undefined) return null;
  return choices.length === 0
    ? `No postcode or town "${name}" is known here. Send a ZIP code (02903), a postcode or its first half (EH1 1AA, EH1), or a town (Leeds).`
    : `"${name}" is several places. Send one of these as near: ${choices.join("; ")}.`;
}

/** How far nonprofits are, by their ids: to a tenth below ten kilometres. */
export async function distancesOf(index: SearchIndex, { kms }: Nearby, ids: readonly number[]) {
  const distances: Record<string, number> = {};
  for (const [id, words] of await index.facets(ids)) {
    const km = kms.get(words.split(" ").find((word) => kms.has(word)) ?? "") ?? 0;
    distances[id] = Number(km.toFixed(km < 10 ? 1 : 0));
  }
  return distances;
}
