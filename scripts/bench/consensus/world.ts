import { comparedValue } from "#content/enrichment/value.ts";
import { dayPivot, rotate } from "#content/enrichment/rotation.ts";
import type { SimulationParameters } from "#content/contract/consensus-simulation.ts";
import { type StructuredField, structuredFields } from "#content/contract/enrichment.ts";
import { type Random, randomOf, weightedTable } from "../../seed/random.ts";
import { type About, otherSpelling, trueValue } from "./spelling.ts";

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
