import { foldAgentId } from "#content/enrichment/agent.ts";
import type { ConsensusMode } from "#content/enrichment/consensus.ts";
import { isoDay } from "#content/contract/time.ts";
import type { SimulationParameters } from "#content/contract/consensus-simulation.ts";
import { type Actor, dayMs, type Public } from "./actor.ts";
import type { Attack } from "./attacks.ts";
import {
  type Promotion,
  type Sent,
  type SimulatedDirectory,
  simulateDirectory,
} from "./directory.ts";
import { honestAgents } from "./honest.ts";
import { simulateLimits } from "./limits.ts";
import { type PlantedProfile, plantWorld, queueOf } from "./world.ts";

/** What was done with one seed. Times in milliseconds since the simulation began. */
export type Run = {
  world: readonly PlantedProfile[];
  promotions: readonly Promotion[];
  emptyFields: Public["emptyFields"];
  opinions: Public["opinions"];
  /** The attacker's ids, as the rules fold them. */
  attackers: ReadonlySet<string>;
  attackSubmissions: number;
  attackRefused: number;
  attackFromMs: number;
  attackUntilMs: number;
};

export type Simulated = {
  seed: number;
  mode: ConsensusMode;
  attack: Attack;
  parameters: SimulationParameters;
  /** Hears all that passes the limits, in order: tests send it to the service itself. */
  onSent?: (sent: Sent) => void;
};

/** The day on which every simulation begins. Times count from here; nothing reads the real clock. */
const beginsAt = Date.UTC(2026, 0, 5);

/** One directory, one mode, one attack, one seed: the same numbers in every run and on every machine. */
export function simulate({ seed, mode, attack, parameters, onSent }: Simulated): Run {
  let nowMs = 0;
  const limits = simulateLimits(() => nowMs);
  const world = plantWorld(seed, parameters);
  const thisYear = new Date(beginsAt).getUTCFullYear();
  const directory = simulateDirectory(world, { mode, thisYear });
  const attackers = new Set(attack.voices.map(({ agent_id }) => foldAgentId(agent_id)));
  const run = { attackSubmissions: 0, attackRefused: 0, attackFromMs: -1, attackUntilMs: -1 };
  const post: Public["post"] = (atMs, voice, profile, found) => {
    const agentId = foldAgentId(voice.agent_id);
    const waitMs = limits.take(voice.address, agentId, found.length);
    const isAttack = attackers.has(agentId);
    if (waitMs > 0) {
      if (isAttack) run.attackRefused += 1;
      return waitMs;
    }
    const body = { agent_id: voice.agent_id, fields: found };
    const sent = { profile, body, network: voice.network, atMs };
    directory.submit(sent);
    onSent?.(sent);
    if (isAttack) {
      run.attackSubmissions += found.length;
      if (run.attackFromMs < 0) run.attackFromMs = atMs;
      run.attackUntilMs = atMs;
    }
    return 0;
  };
  const seen: Public = { ...directory, queue: dailyQueue(world, directory), post };
  const actors = [
    ...honestAgents(seen, { seed, parameters }),
    ...attack.actors({
      directory: seen,
      beginsAtMs: parameters.attack_begins_on_day * dayMs,
      endsAtMs: parameters.days * dayMs,
      requests: parameters.attack_requests,
      seed,
    }),
  ];
  playOut(actors, parameters.days * dayMs, (atMs) => (nowMs = atMs));
  limits.close();
  const { promotions, emptyFields, opinions } = directory;
  return { world, promotions, emptyFields, opinions, attackers, ...run };
}

/** The thin profiles in the order of the day; put together anew only when a value went live or the day changed. */
function dailyQueue(
  world: readonly PlantedProfile[],
  { emptyFields, promotions }: SimulatedDirectory,
): Public["queue"] {
  let [knownDay, knownPromotions] = ["", -1];
  let [ordered, queue] = [world, world];
  return (nowMs) => {
    const day = isoDay(beginsAt + nowMs);
    if (day === knownDay && promotions.length === knownPromotions) return queue;
    if (day !== knownDay) ordered = queueOf(world, day);
    [knownDay, knownPromotions] = [day, promotions.length];
    queue = ordered.filter((profile) => emptyFields(profile).length > 0);
    return queue;
  };
}

/** Lets actors act in the order of time, equals in the order in which they stand. Time always goes on, so it ends. */
function playOut(actors: readonly Actor[], endsAtMs: number, setTime: (atMs: number) => void) {
  const next = actors.map(({ firstAtMs }) => firstAtMs);
  for (;;) {
    const atMs = Math.min(...next);
    if (atMs >= endsAtMs) return;
    const who = next.indexOf(atMs);
    setTime(atMs);
    const then = actors[who]?.act(atMs) ?? Number.POSITIVE_INFINITY;
    next[who] = Math.max(then, atMs + 1);
  }
}
