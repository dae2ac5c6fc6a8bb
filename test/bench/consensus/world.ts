import type { SimulationParameters } from "#content/contract/stats.ts";
import { type StructuredField, structuredFields } from "#content/contract/enrichment.ts";
import { dayPivot, rotate } from "#content/enrichment/needs-store.ts";
import { comparedValue } from "#content/enrichment/value.ts";
import places from "#scripts/seed/places.json";
import { type Random, randomOf } from "#scripts/seed/numbers.ts";

/** A profile that lacks `missing`; what is true of it is known to the simulator only. */
export type PlantedProfile = About & {
  index: number;
  /** People reached in a year: the queue is ordered by it. */
  reach: number;
  missing: readonly StructuredField[];
  /** Fields about which a source is out of date. */
  misleading: ReadonlySet<StructuredField>;
};

/** How often a profile lacks a field, in percent: registers rarely know an e-mail address, mostly a place. */
const missingPercent: Readonly<Record<StructuredField, number>> = {
  website: 60,
  city: 30,
  region: 40,
  founded_year: 70,
  contact_email: 85,
};

const reaches = [
  [0, 40],
  [100, 20],
  [500, 15],
  [2_000, 12],
  [10_000, 8],
  [50_000, 4],
  [1_000_000, 1],
] as const;

/** Profiles with planted truth, the same for the same seed. */
export function plantWorld(seed: number, parameters: SimulationParameters): PlantedProfile[] {
  const random = randomOf(seed, 0);
  return Array.from({ length: parameters.profiles }, (_, index) => {
    const missing = structuredFields.filter((field) => random.chance(missingPercent[field]));
    const lacking = missing.length === 0 ? (["contact_email"] as const) : missing;
    return {
      index,
      slug: `charity-${seed}-${index}`,
      place: random.below(1_000),
      founded: random.between(1_900, 2_015),
      reach: random.weighted(reaches),
      missing: lacking,
      misleading: new Set(
        lacking.filter(() => random.chance(parameters.misleading_sources_percent)),
      ),
    };
  });
}

/** What is so, in each spelling that comparing keeps apart, in the comparison form. */
export function acceptedValues(about: About, field: StructuredField): ReadonlySet<string> {
  const truth = trueValues(about)[field];
  return new Set([truth, otherSpelling[field](truth)].map((one) => comparedValue(field, one)));
}

/** The order of GET /api/needs-enrichment on a day: reach first, equals rotated by the service's own rule. */
export function queueOf(world: readonly PlantedProfile[], day: string): PlantedProfile[] {
  const pivot = dayPivot(day, world.length);
  const groups = Map.groupBy(world, ({ reach }) => reach);
  return [...groups.keys()]
    .toSorted((a, b) => b - a)
    .flatMap((reach) => rotate(groups.get(reach) ?? [], ({ index }) => index < pivot));
}

/** What a value is made from: the name of the profile and two numbers of its own. */
export type About = { slug: string; place: number; founded: number };

/** Some of the sample's places, with and without accents; so few that profiles share them. */
const towns = Object.values(places).map((country) => country.places[0]);
const cities = [...new Set(towns.map(([city = ""] = []) => city))].slice(16, 32);
const regions = [...new Set(towns.map(([, region = ""] = []) => region))].slice(16, 28);

const at = (list: readonly string[], index: number): string => list[index % list.length] ?? "";

/** One value for each field: from a mailbox, a host, and the distance of places and year from the true ones. */
const valuesOf = (
  { place, founded }: About,
  { host, mailbox, away, years }: { host: string; mailbox: string; away: number; years: number },
): Record<StructuredField, string> => ({
  website: `https://${host}.example`,
  contact_email: `${mailbox}@${host}.example`,
  city: at(cities, place + away),
  region: at(regions, place + away),
  founded_year: String(founded + years),
});

/** The planted truth. */
export const trueValues = (about: About) =>
  valuesOf(about, { host: about.slug, mailbox: "office", away: 0, years: 0 });

/** As true, but compared as another value: the rules fold neither letter case of places nor pages of one site. */
export const otherSpelling: Readonly<Record<StructuredField, (value: string) => string>> = {
  website: (value) => `${value}/home`,
  contact_email: (value) => value.replace("office@", "info@"),
  city: (value) => value.toUpperCase(),
  region: (value) => value.toUpperCase(),
  founded_year: (value) => value,
};

/** What an outdated source says: the same for everyone who believes it. */
export const outdatedValues = (about: About) =>
  valuesOf(about, { host: `old-${about.slug}`, mailbox: "contact", away: 5, years: 7 });

/** A mistake of one's own: a namesake, a neighbouring place, a year beside it. Two agents rarely make the same. */
export function mistakenValue(field: StructuredField, about: About, random: Random): string {
  const step = random.between(1, field === "website" || field === "contact_email" ? 9 : 4);
  const host = `${about.slug}-${step}`;
  return valuesOf(about, { host, mailbox: "office", away: step, years: step })[field];
}

/** What attackers want to see: their own site and address, and harm elsewhere. */
export const lies = (about: About) =>
  valuesOf(about, { host: `give-to-${about.slug}`, mailbox: "gifts", away: 7, years: -11 });

/** How other agents would write the same value: all of these are one value to the rules. */
const spellings: Readonly<Record<StructuredField, (value: string) => string[]>> = {
  website: (value) => [
    value,
    `${value}/`,
    value.replace("https://", "http://www."),
    value.replace("https://", ""),
    `${value.replace("https://", "HTTPS://")}/?utm_source=list`,
    `${value}#about`,
  ],
  contact_email: (value) => [value, value.toUpperCase(), ` ${value}`, value.replace("o", "O")],
  city: spellingsOfPlace,
  region: spellingsOfPlace,
  founded_year: (value) => [value, `founded in ${value}`, `${value} (registered)`],
};

function spellingsOfPlace(value: string): string[] {
  return [value, `${value},`, value.normalize("NFD"), value.replaceAll(" ", "  "), ` ${value} `];
}

export const respelled = (field: StructuredField, value: string, random: Random): string =>
  random.pick(spellings[field](value));
