import type { SimulationParameters } from "#content/contract/stats.ts";
import type { StructuredField } from "#content/contract/enrichment.ts";
import { type Random, randomOf } from "#scripts/seed/numbers.ts";
import type { Opinion, SimulatedDirectory } from "./directory.ts";
import {
  lies,
  mistakenValue,
  otherSpelling,
  outdatedValues,
  type PlantedProfile,
  respelled,
  trueValues,
} from "./world.ts";

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** Who sends: an id as it is written, from an address in a network. */
type Sender = { agent_id: string; address: string; network: string };

type Found = { field: StructuredField; value: string };

/** What everyone can see and do: the public interface of the directory. */
export type Public = Pick<SimulatedDirectory, "emptyFields" | "isWaiting" | "opinions"> & {
  /** Thin profiles, in the order of the queue of that day. */
  queue: (nowMs: number) => readonly PlantedProfile[];
  /** Sends a batch. 0 when it was taken, else the milliseconds that the limits ask to wait. */
  post: (nowMs: number, sender: Sender, profile: PlantedProfile, found: readonly Found[]) => number;
};

/** Someone who acts at times of its own. `act` answers when it acts next, null for never. */
export type Actor = { firstAtMs: number; act(nowMs: number): number | null };

type AttackSetting = {
  directory: Public;
  beginsAtMs: number;
  endsAtMs: number;
  /** That may be spent, refused ones not counted. */
  requests: number;
  seed: number;
};

export type Attack = {
  name: string;
  title: string;
  /** What happens, in a sentence for the methodology page. */
  says: string;
  senders: readonly Sender[];
  actors(setting: AttackSetting): Actor[];
};

const senderOf = (agent_id: string, network: string): Sender => ({
  agent_id,
  network,
  address: `${network}-1`,
});

/** A person at a keyboard is slower, a program need not be faster: the limit lets 30 a minute pass. */
const paceMs = 1_000;
const pollMs = hourMs / 2;

/**
 * Lies about all empty fields of one profile after the other, as fast as the limits let it. What stands in the queue when
 * it begins is what it attacks: each profile gets `times` requests in a row, of one sender after the other.
 */
function liar(
  { directory, beginsAtMs, requests }: AttackSetting,
  senders: readonly Sender[],
  { times, everyMs = paceMs }: { times: number; everyMs?: number },
): Actor {
  let attacked: readonly PlantedProfile[] | null = null;
  let next = 0;
  return {
    firstAtMs: beginsAtMs,
    act: (nowMs) => {
      attacked ??= directory.queue(beginsAtMs).slice(0, Math.floor(requests / times));
      for (; next < attacked.length * times; next += 1) {
        const profile = attacked[Math.floor(next / times)];
        const sender = senders[next % senders.length];
        if (profile === undefined || sender === undefined) continue;
        const found = foundIn(directory.emptyFields(profile), lies(profile));
        if (found.length === 0) continue;
        const waitMs = directory.post(nowMs, sender, profile, found);
        if (waitMs > 0) return nowMs + waitMs;
        next += 1;
        return nowMs + everyMs;
      }
      return null;
    },
  };
}

const foundIn = (
  fields: readonly StructuredField[],
  values: Readonly<Record<StructuredField, string>>,
): Found[] => fields.map((field) => ({ field, value: values[field] }));

/** Confirms whatever waits and can be seen, every half hour, without looking into any of it. */
function copier({ directory, beginsAtMs, requests }: AttackSetting, as: Sender): Actor {
  let left = requests;
  const sent = new Set<string>();
  const fresh = (profile: PlantedProfile) =>
    directory
      .opinions(profile)
      .filter(({ field, masked }) => !masked && !sent.has(`${profile.index} ${field}`));
  return {
    firstAtMs: beginsAtMs,
    act: (nowMs) => {
      const profile = directory.queue(nowMs).find((one) => fresh(one).length > 0);
      if (left === 0) return null;
      if (profile === undefined) return nowMs + pollMs;
      const found = new Map(fresh(profile).map(({ field, value }) => [field, { field, value }]));
      const waitMs = directory.post(nowMs, as, profile, [...found.values()]);
      if (waitMs > 0) return nowMs + waitMs;
      for (const field of found.keys()) sent.add(`${profile.index} ${field}`);
      left -= 1;
      return nowMs + paceMs;
    },
  };
}

/** Half of its requests are true, spread over the first days; then lies, a few an hour, until the end. */
function slowBurner(setting: AttackSetting, senders: readonly Sender[]): Actor[] {
  const { directory, endsAtMs, requests, seed } = setting;
  const turnsAtMs = endsAtMs / 2;
  const everyMs = Math.floor(endsAtMs / 2 / (requests / 2));
  const random = randomOf(seed, 1_000);
  let sent = 0;
  const helper: Actor = {
    firstAtMs: everyMs,
    act: (nowMs) => {
      const as = senders[sent % senders.length];
      if (as === undefined || nowMs >= turnsAtMs) return null;
      const [profile] = random.some(directory.queue(nowMs), 1);
      if (profile === undefined) return null;
      const found = foundIn(directory.emptyFields(profile), trueValues(profile)).map(
        ({ field, value }) => ({ field, value: respelled(field, value, random) }),
      );
      sent += 1;
      directory.post(nowMs, as, profile, found);
      return nowMs + everyMs;
    },
  };
  const half = { ...setting, beginsAtMs: turnsAtMs, requests: Math.floor(requests / 2) };
  return [helper, liar(half, senders, { times: 2, everyMs })];
}

const manyIds = Array.from({ length: 50 }, (_, at) => senderOf(`crowd-${at}`, "crowd-net"));
const slowIds = [senderOf("patient-a", "patient-net"), senderOf("patient-b", "patient-net")];
const pair = [senderOf("pair-a", "pair-net-a"), senderOf("pair-b", "pair-net-b")];
const poisoner = senderOf("early-bird", "early-net");
const copycat = senderOf("copycat", "copy-net");
const spellings = ["mono-bot", "Mono-Bot", " MONO-BOT ", "ｍｏｎｏ-ｂｏｔ"].map((id) =>
  senderOf(id, "mono-net"),
);

/** The first is no attack: what honest agents get wrong by themselves. */
export const attacks: readonly Attack[] = [
  {
    name: "none",
    title: "No attack",
    says: "Honest agents alone, with their mistakes and with sources that are out of date.",
    senders: [],
    actors: () => [],
  },
  {
    name: "copied-answers",
    title: "Copied answers",
    says: "One id confirms every waiting value it can see, true or not, without looking into it.",
    senders: [copycat],
    actors: (setting) => [copier(setting, copycat)],
  },
  {
    name: "one-network",
    title: "Many ids, one network",
    says: "Fifty ids behind one address send each lie twice, as fast as the limits let them.",
    senders: manyIds,
    actors: (setting) => [liar(setting, manyIds, { times: 2 })],
  },
  {
    name: "slow-burn",
    title: "Slow burn",
    says: "Two ids on one network tell the truth for half of the time and earn credit, then lie a few times an hour.",
    senders: slowIds,
    actors: (setting) => slowBurner(setting, slowIds),
  },
  {
    name: "colluding-pair",
    title: "Pair on two networks",
    says: "Two ids on two networks send the same lies, as fast as the limits let them.",
    senders: pair,
    actors: (setting) => {
      const half = { ...setting, requests: Math.floor(setting.requests / pair.length) };
      return pair.map((one) => liar(half, [one], { times: 1 }));
    },
  },
  {
    name: "poisoned-first",
    title: "Poisoned first",
    says: "One id is the first to fill the profiles of greatest reach with lies, and waits for a careless second.",
    senders: [poisoner],
    actors: (setting) => [liar(setting, [poisoner], { times: 1 })],
  },
  {
    name: "one-id-respelled",
    title: "One id, spelt four ways",
    says: "One agent writes its id in capitals, with spaces and in wide letters, to count as two.",
    senders: spellings,
    actors: (setting) => [liar(setting, spellings, { times: 2 })],
  },
];

/** This many profiles an agent is shown at once. Source: spec, "Limits", needs-enrichment. */
const shownMax = 50;

/** Agents that mean well and work with care, most of the time. Each looks at a profile once. */
export function honestAgents(
  directory: Public,
  { seed, parameters }: { seed: number; parameters: SimulationParameters },
): Actor[] {
  const meanMs = dayMs / parameters.visits_per_agent_and_day;
  return Array.from({ length: parameters.honest_agents }, (_, index) => {
    const isShared = index < parameters.honest_sharing_a_network;
    const network = isShared ? "honest-cloud" : `honest-${index}`;
    const sender = { agent_id: `helper-${index}`, address: `${network}-${index}`, network };
    const random = randomOf(seed, 1 + index);
    const seen = new Set<number>();
    /** Between half of and one and a half times the mean. */
    const pauseMs = () => random.between(Math.ceil(meanMs / 2), Math.floor(meanMs * 1.5));
    return {
      firstAtMs: pauseMs(),
      act: (nowMs) => {
        const visit = nextProfile(directory, { nowMs, seen, random });
        if (visit === null) return nowMs + pauseMs();
        seen.add(visit.profile.index);
        const found = research(directory, visit, random, parameters);
        if (found.length > 0 && directory.post(nowMs, sender, visit.profile, found) > 0) {
          throw new Error("an honest agent is far below every limit");
        }
        return nowMs + pauseMs();
      },
    };
  });
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
    return respelled(field, outdatedValues(profile)[field], random);
  }
  if (random.chance(parameters.mistakes_percent)) return mistakenValue(field, profile, random);
  const truth = trueValues(profile)[field];
  const isOther = random.chance(parameters.other_spelling_percent);
  return respelled(field, isOther ? otherSpelling[field](truth) : truth, random);
}
