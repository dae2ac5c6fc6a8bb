import type { SimulationParameters } from "#content/contract/consensus-simulation.ts";
import { type StructuredField, structuredFields } from "#content/contract/enrichment.ts";
import { dayPivot, rotate } from "#content/enrichment/rotation.ts";
import { comparedValue } from "#content/enrichment/value.ts";
import { type Random, randomOf, weightedTable } from "#scripts/seed/random.ts";

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

const reaches = weightedTable([
  [0, 40],
  [100, 20],
  [500, 15],
  [2_000, 12],
  [10_000, 8],
  [50_000, 4],
  [1_000_000, 1],
]);

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
      misleading: misled(lacking, random, parameters),
    };
  });
}

const misled = (
  fields: readonly StructuredField[],
  random: Random,
  parameters: SimulationParameters,
): ReadonlySet<StructuredField> =>
  new Set(fields.filter(() => random.chance(parameters.misleading_sources_percent)));

/** What is so, in each spelling that comparing keeps apart, in the comparison form. */
export function acceptedValues(about: About, field: StructuredField): ReadonlySet<string> {
  const truth = trueValue[field](about);
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

const cities = [
  "Nairobi",
  "São Paulo",
  "Saint Louis",
  "Zürich",
  "Port Harcourt",
  "Tromsø",
  "Kraków",
  "San José",
  "New Plymouth",
  "Ciudad Juárez",
  "Malmö",
  "Cape Town",
  "Chiang Mai",
  "Le Havre",
  "Santa Fe",
  "Gdańsk",
] as const;
const regions = [
  "Nairobi County",
  "Minas Gerais",
  "New Mexico",
  "Île-de-France",
  "Rivers State",
  "Västra Götaland",
  "North Island",
  "Western Cape",
  "Baden-Württemberg",
  "Nova Scotia",
  "Lower Silesia",
  "Chiang Mai Province",
] as const;

const at = (list: readonly string[], index: number): string => list[index % list.length] ?? "";

/** The planted truth. */
export const trueValue: Readonly<Record<StructuredField, (about: About) => string>> = {
  website: ({ slug }) => `https://${slug}.example`,
  contact_email: ({ slug }) => `office@${slug}.example`,
  city: ({ place }) => at(cities, place),
  region: ({ place }) => at(regions, place),
  founded_year: ({ founded }) => String(founded),
};

/** As true, but compared as another value: the rules fold neither letter case of places nor pages of one site. */
export const otherSpelling: Readonly<Record<StructuredField, (value: string) => string>> = {
  website: (value) => `${value}/home`,
  contact_email: (value) => value.replace("office@", "info@"),
  city: (value) => value.toUpperCase(),
  region: (value) => value.toUpperCase(),
  founded_year: (value) => value,
};

/** What an outdated source says: the same for everyone who believes it. */
export const outdatedValue: Readonly<Record<StructuredField, (about: About) => string>> = {
  website: ({ slug }) => `https://old-${slug}.example`,
  contact_email: ({ slug }) => `contact@old-${slug}.example`,
  city: ({ place }) => at(cities, place + 5),
  region: ({ place }) => at(regions, place + 5),
  founded_year: ({ founded }) => String(founded + 7),
};

/** A mistake of one's own: a namesake, a neighbouring place, a year beside it. Two agents rarely make the same. */
export const mistakenValue: Readonly<
  Record<StructuredField, (about: About, random: Random) => string>
> = {
  website: ({ slug }, random) => `https://${slug}-${random.between(1, 9)}.example`,
  contact_email: ({ slug }, random) => `office@${slug}-${random.between(1, 9)}.example`,
  city: ({ place }, random) => at(cities, place + random.between(1, 4)),
  region: ({ place }, random) => at(regions, place + random.between(1, 4)),
  founded_year: ({ founded }, random) => String(founded + random.between(1, 4)),
};

/** What attackers want to see: their own site and address, and harm elsewhere. */
export const lie: Readonly<Record<StructuredField, (about: About) => string>> = {
  website: ({ slug }) => `https://give-to-${slug}.example`,
  contact_email: ({ slug }) => `gifts@give-to-${slug}.example`,
  city: ({ place }) => at(cities, place + 7),
  region: ({ place }) => at(regions, place + 7),
  founded_year: ({ founded }) => String(founded - 11),
};

/** The same value as another agent would write it: all of these are one value to the rules. */
export function respelled(field: StructuredField, value: string, random: Random): string {
  switch (field) {
    case "website":
      return random.pick([
        value,
        `${value}/`,
        value.replace("https://", "http://www."),
        value.replace("https://", ""),
        `${value.replace("https://", "HTTPS://")}/?utm_source=list`,
        `${value}#about`,
      ]);
    case "contact_email":
      return random.pick([value, value.toUpperCase(), ` ${value}`, value.replace("o", "O")]);
    case "city":
    case "region":
      return random.pick([
        value,
        `${value},`,
        value.normalize("NFD"),
        value.replaceAll(" ", "  "),
        ` ${value} `,
      ]);
    case "founded_year":
      return random.pick([value, `founded in ${value}`, `${value} (registered)`]);
    default:
      return field satisfies never;
  }
}
