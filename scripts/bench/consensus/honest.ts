import type { SimulationParameters } from "#content/contract/consensus-simulation.ts";
import type { StructuredField } from "#content/contract/enrichment.ts";
import { type Random, randomOf } from "../../seed/random.ts";
import { type Actor, around, dayMs, type Found, type Public, type Voice } from "./actor.ts";
import type { Opinion } from "./field-state.ts";
import { mistakenValue, otherSpelling, outdatedValue, respelled, trueValue } from "./spelling.ts";
import type { PlantedProfile } from "./world.ts";

/** So many profiles an agent is shown at once. Source: spec, "Limits", needs-enrichment. */
const shownMax = 50;

/** Agents that mean well and work with care, most of the time. Each looks at a profile once. */
export function honestAgents(
  directory: Public,
  { seed, parameters }: { seed: number; parameters: SimulationParameters },
): Actor[] {
  return Array.from({ length: parameters.honest_agents }, (_, index) => {
    const isShared = index < parameters.honest_sharing_a_network;
    const network = isShared ? "honest-cloud" : `honest-${index}`;
    const voice = { agent_id: `helper-${index}`, address: `${network}-${index}`, network };
    return honestAgent(directory, voice, randomOf(seed, 1 + index), parameters);
  });
}

function honestAgent(
  directory: Public,
  voice: Voice,
  random: Random,
  parameters: SimulationParameters,
): Actor {
  const meanMs = dayMs / parameters.visits_per_agent_and_day;
  const seen = new Set<number>();
  return {
    firstAtMs: around(meanMs, random),
    act: (nowMs) => {
      const visit = nextProfile(directory, { nowMs, seen, random });
      if (visit === null) return nowMs + around(meanMs, random);
      seen.add(visit.profile.index);
      const found = research(directory, visit, random, parameters);
      if (found.length > 0) {
        const waitMs = directory.post(nowMs, voice, visit.profile, found);
        if (waitMs > 0) throw new Error("an honest agent is far below every limit");
      }
      return nowMs + around(meanMs, random);
    },
  };
}

type Visit = { profile: PlantedProfile; opinions: readonly Opinion[] };

/** A third each: the foremost that need help, those that wait for a second agent, and what a search came upon. */
function nextProfile(
  directory: Public,
  { nowMs, seen, random }: { nowMs: number; seen: ReadonlySet<number>; random: Random },
): Visit | null {
  const way = random.pick(["needs help", "second opinion", "search"] as const);
  const queue = directory.queue(nowMs);
  const thin =
    way === "second opinion" ? queue.filter((profile) => directory.isWaiting(profile)) : queue;
  const shown = way === "search" ? thin : thin.slice(0, shownMax);
  const fresh = shown.filter(({ index }) => !seen.has(index));
  if (fresh.length === 0) return null;
  const profile = random.pick(fresh);
  return { profile, opinions: way === "search" ? [] : directory.opinions(profile) };
}

function research(
  directory: Public,
  { profile, opinions }: Visit,
  random: Random,
  parameters: SimulationParameters,
): Found[] {
  return directory.emptyFields(profile).flatMap((field): Found[] => {
    const shown = opinions.find((one) => one.field === field && !one.masked);
    const isUnchecked = random.chance(parameters.unchecked_percent);
    if (shown !== undefined && isUnchecked) return [{ field, value: shown.value }];
    if (!random.chance(parameters.finds_percent)) return [];
    return [{ field, value: foundValue(profile, field, random, parameters) }];
  });
}

function foundValue(
  profile: PlantedProfile,
  field: StructuredField,
  random: Random,
  parameters: SimulationParameters,
): string {
  if (profile.misleading.has(field) && random.chance(parameters.misled_percent)) {
    return respelled(field, outdatedValue[field](profile), random);
  }
  if (random.chance(parameters.mistakes_percent)) {
    return mistakenValue[field](profile, random);
  }
  const truth = trueValue[field](profile);
  const isOther = random.chance(parameters.other_spelling_percent);
  return respelled(field, isOther ? otherSpelling[field](truth) : truth, random);
}
