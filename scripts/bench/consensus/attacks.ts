import { randomOf } from "../../seed/random.ts";
import { type Actor, hourMs, type Public, type Voice } from "./actor.ts";
import { lie, respelled, trueValue } from "./spelling.ts";
import type { PlantedProfile } from "./world.ts";

export type AttackSetting = {
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
  voices: readonly Voice[];
  actors(setting: AttackSetting): Actor[];
};

const voice = (agent_id: string, network: string): Voice => ({
  agent_id,
  network,
  address: `${network}-1`,
});

/** A person at a keyboard is slower, a program need not be faster: the limit lets 30 a minute pass. */
const paceMs = 1_000;
const pollMs = hourMs / 2;

type Step = { profile: PlantedProfile; voice: Voice };

/** Sends lies for all empty fields of one profile after the other, as fast as the limits let it. */
function liar(directory: Public, plan: readonly Step[], firstAtMs: number, everyMs = paceMs) {
  let next = 0;
  return {
    firstAtMs,
    act: (nowMs: number) => {
      for (; next < plan.length; next += 1) {
        const step = plan[next];
        const empty = step === undefined ? [] : directory.emptyFields(step.profile);
        if (step === undefined || empty.length === 0) continue;
        const found = empty.map((field) => ({ field, value: lie[field](step.profile) }));
        const waitMs = directory.post(nowMs, step.voice, step.profile, found);
        if (waitMs > 0) return nowMs + waitMs;
        next += 1;
        return nowMs + everyMs;
      }
      return null;
    },
  } satisfies Actor;
}

/** Plans when it acts first: what stands in the queue then is what it attacks. */
function later(firstAtMs: number, plan: () => Actor): Actor {
  let actor: Actor | null = null;
  return { firstAtMs, act: (nowMs) => (actor ??= plan()).act(nowMs) };
}

/** Each profile of the queue gets `times` requests in a row, of one voice after the other. */
const inTurn = (
  { directory, beginsAtMs, requests }: AttackSetting,
  voices: readonly Voice[],
  times: number,
): Step[] =>
  directory
    .queue(beginsAtMs)
    .slice(0, Math.floor(requests / times))
    .flatMap((profile, place) =>
      Array.from({ length: times }, (_, time): Step[] => {
        const of = voices[(place * times + time) % voices.length];
        return of === undefined ? [] : [{ profile, voice: of }];
      }).flat(),
    );

/** Confirms whatever waits and can be seen, every half hour, without looking into any of it. */
function copier({ directory, beginsAtMs, requests }: AttackSetting, as: Voice): Actor {
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
function slowBurner(setting: AttackSetting, voices: readonly Voice[]): Actor[] {
  const { directory, endsAtMs, requests, seed } = setting;
  const turnsAtMs = endsAtMs / 2;
  const everyMs = Math.floor(endsAtMs / 2 / (requests / 2));
  const random = randomOf(seed, 1_000);
  let sent = 0;
  const helper: Actor = {
    firstAtMs: everyMs,
    act: (nowMs) => {
      const as = voices[sent % voices.length];
      if (as === undefined || nowMs >= turnsAtMs) return null;
      const [profile] = random.some(directory.queue(nowMs), 1);
      if (profile === undefined) return null;
      const empty = directory.emptyFields(profile);
      const found = empty.map((field) => {
        return { field, value: respelled(field, trueValue[field](profile), random) };
      });
      sent += 1;
      directory.post(nowMs, as, profile, found);
      return nowMs + everyMs;
    },
  };
  const half = { ...setting, beginsAtMs: turnsAtMs, requests: Math.floor(requests / 2) };
  const lies = later(turnsAtMs, () => liar(directory, inTurn(half, voices, 2), turnsAtMs, everyMs));
  return [helper, lies];
}

const manyIds = Array.from({ length: 50 }, (_, at) => voice(`crowd-${at}`, "crowd-net"));
const slowIds = [voice("patient-a", "patient-net"), voice("patient-b", "patient-net")];
const pair = [voice("pair-a", "pair-net-a"), voice("pair-b", "pair-net-b")];
const poisoner = voice("early-bird", "early-net");
const copycat = voice("copycat", "copy-net");
const spellings = ["mono-bot", "Mono-Bot", " MONO-BOT ", "ｍｏｎｏ-ｂｏｔ"].map((id) =>
  voice(id, "mono-net"),
);

/** The first is no attack: what honest agents get wrong by themselves. */
export const attacks: readonly Attack[] = [
  {
    name: "none",
    title: "No attack",
    says: "Honest agents alone, with their mistakes and with sources that are out of date.",
    voices: [],
    actors: () => [],
  },
  {
    name: "copied-answers",
    title: "Copied answers",
    says: "One id confirms every waiting value it can see, true or not, without looking into it.",
    voices: [copycat],
    actors: (setting) => [copier(setting, copycat)],
  },
  {
    name: "one-network",
    title: "Many ids, one network",
    says: "Fifty ids behind one address send each lie twice, as fast as the limits let them.",
    voices: manyIds,
    actors: (setting) => [
      later(setting.beginsAtMs, () =>
        liar(setting.directory, inTurn(setting, manyIds, 2), setting.beginsAtMs),
      ),
    ],
  },
  {
    name: "slow-burn",
    title: "Slow burn",
    says: "Two ids on one network tell the truth for half of the time and earn credit, then lie a few times an hour.",
    voices: slowIds,
    actors: (setting) => slowBurner(setting, slowIds),
  },
  {
    name: "colluding-pair",
    title: "Pair on two networks",
    says: "Two ids on two networks send the same lies, as fast as the limits let them.",
    voices: pair,
    actors: (setting) =>
      pair.map((one) =>
        later(setting.beginsAtMs, () => {
          const half = { ...setting, requests: Math.floor(setting.requests / pair.length) };
          return liar(setting.directory, inTurn(half, [one], 1), setting.beginsAtMs);
        }),
      ),
  },
  {
    name: "poisoned-first",
    title: "Poisoned first",
    says: "One id is the first to fill the profiles of greatest reach with lies, and waits for a careless second.",
    voices: [poisoner],
    actors: (setting) => [
      later(setting.beginsAtMs, () =>
        liar(setting.directory, inTurn(setting, [poisoner], 1), setting.beginsAtMs),
      ),
    ],
  },
  {
    name: "one-id-respelled",
    title: "One id, spelt four ways",
    says: "One agent writes its id in capitals, with spaces and in wide letters, to count as two.",
    voices: spellings,
    actors: (setting) => [
      later(setting.beginsAtMs, () =>
        liar(setting.directory, inTurn(setting, spellings, 2), setting.beginsAtMs),
      ),
    ],
  },
];
