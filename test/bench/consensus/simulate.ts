import {
  SimulationOutcome,
  type SimulationParameters,
  type Spread,
} from "#content/contract/stats.ts";
import { isoDay } from "#content/contract/base/time.ts";
import { foldAgentId } from "#content/enrichment/agent.ts";
import type { ConsensusMode } from "#content/enrichment/consensus.ts";
import { comparedValue } from "#content/enrichment/value.ts";
import { quantile } from "../support/harness.ts";
import {
  type Actor,
  type Attack,
  attacks,
  dayMs,
  honestAgents,
  hourMs,
  type Public,
} from "./agents.ts";
import {
  type Promotion,
  type Sent,
  type SimulatedDirectory,
  simulateDirectory,
  simulateLimits,
} from "./directory.ts";
import { acceptedValues, type PlantedProfile, plantWorld, queueOf } from "./world.ts";

/** What was done with one seed. Times in milliseconds since the simulation began. */
export type Run = ReturnType<typeof simulate>;

type Simulated = {
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
export function simulate({ seed, mode, attack, parameters, onSent }: Simulated) {
  let nowMs = 0;
  const limits = simulateLimits(() => nowMs);
  const world = plantWorld(seed, parameters);
  const thisYear = new Date(beginsAt).getUTCFullYear();
  const directory = simulateDirectory(world, { mode, thisYear });
  const attackers = new Set(attack.senders.map(({ agent_id }) => foldAgentId(agent_id)));
  const run = { attackSubmissions: 0, attackRefused: 0, attackFromMs: -1, attackUntilMs: -1 };
  const post: Public["post"] = (atMs, sender, profile, found) => {
    const agentId = foldAgentId(sender.agent_id);
    const waitMs = limits.take(sender.address, agentId, found.length);
    const isAttack = attackers.has(agentId);
    if (waitMs > 0) {
      if (isAttack) run.attackRefused += 1;
      return waitMs;
    }
    const body = { agent_id: sender.agent_id, fields: found };
    const sent = { profile, body, network: sender.network, atMs };
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

/** The thin profiles in the order of the day; put together again only when a value went live or the day changed. */
function dailyQueue(
  world: readonly PlantedProfile[],
  { emptyFields, promotions }: SimulatedDirectory,
): Public["queue"] {
  let knownDay = "";
  let knownPromotions = -1;
  let ordered = world;
  let queue = world;
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

const bothModes: readonly ConsensusMode[] = ["agents", "networks"];

/** These attacks in these modes over all seeds. `progress` hears how many of `runsOf` runs are done. */
export function simulateAll(
  parameters: SimulationParameters,
  progress: (done: number) => void = () => {},
  {
    tried = attacks,
    modes = bothModes,
  }: {
    tried?: readonly Attack[];
    modes?: readonly ConsensusMode[];
  } = {},
): SimulationOutcome[] {
  let done = 0;
  return tried.flatMap((attack) =>
    modes.map((mode) => {
      const figures = parameters.seeds.map((seed) => {
        const one = figuresOf(simulate({ seed, mode, attack, parameters }));
        progress((done += 1));
        return one;
      });
      return outcomeOf(attack, mode, figures);
    }),
  );
}

export const runsOf = ({ seeds }: SimulationParameters): number =>
  attacks.length * bothModes.length * seeds.length;

const isTrue = ({ profile, field, value }: Promotion): boolean =>
  acceptedValues(profile, field).has(comparedValue(field, value));

/** From the first time that somebody sent the truth, in any spelling, until it is live. */
function hoursToConsensus({ profile, field, firstSentAtMs, liveAtMs }: Promotion): number {
  const sentAtMs = [...acceptedValues(profile, field)].flatMap(
    (value) => firstSentAtMs.get(value) ?? [],
  );
  return (liveAtMs - Math.min(...sentAtMs)) / hourMs;
}

function figuresOf(run: Run) {
  const { promotions, attackers } = run;
  const wrong = promotions.filter((one) => !isTrue(one));
  const right = promotions.filter(isTrue);
  const byAttack = ({ agents }: Promotion) => agents.some((agent) => attackers.has(agent));
  const hours = right.map(hoursToConsensus);
  const spoilt = new Set(wrong.map(({ profile }) => profile.index));
  const completed = run.world.filter(
    (profile) => run.emptyFields(profile).length === 0 && !spoilt.has(profile.index),
  );
  return {
    promotions: promotions.length,
    false_promotions: wrong.length,
    false_percent: promotions.length === 0 ? 0 : (100 * wrong.length) / promotions.length,
    false_by_attack: wrong.filter(byAttack).length,
    attack_submissions: run.attackSubmissions,
    attack_refused: run.attackRefused,
    attack_hours: (run.attackUntilMs - run.attackFromMs) / hourMs,
    // Reverting an agent empties every field in which its agreement counts. Source: content/operator/revert.ts.
    false_after_revert: wrong.filter((one) => !byAttack(one)).length,
    true_lost_by_revert: right.filter(byAttack).length,
    true_hours_median: hours.length === 0 ? 0 : quantile(hours, 0.5),
    true_hours_p90: hours.length === 0 ? 0 : quantile(hours, 0.9),
    profiles_completed_percent: (100 * completed.length) / run.world.length,
  };
}

function outcomeOf(
  { name, title, says, senders }: Attack,
  mode: ConsensusMode,
  runs: readonly Record<string, number>[],
): SimulationOutcome {
  const all = (figure: string) => runs.map((one) => one[figure] ?? Number.NaN);
  const falseByAttack = sumOf(all("false_by_attack"));
  const perFalse = (figure: string) =>
    falseByAttack === 0 ? null : rounded(sumOf(all(figure)) / falseByAttack, 3);
  return SimulationOutcome.parse({
    attack: name,
    title,
    says,
    mode,
    ids: senders.length,
    networks: new Set(senders.map(({ network }) => network)).size,
    submissions_per_false: perFalse("attack_submissions"),
    hours_per_false: perFalse("attack_hours"),
    ...Object.fromEntries(Object.keys(runs[0] ?? {}).map((one) => [one, spreadOf(all(one))])),
  });
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const spreadOf = (values: readonly number[]): Spread => ({
  mean: rounded(sumOf(values) / values.length, 2),
  least: rounded(Math.min(...values), 2),
  most: rounded(Math.max(...values), 2),
});

const rounded = (value: number, places: number): number => {
  const by = 10 ** places;
  return Math.round(value * by) / by;
};

/**
 * The published run. Assumptions, not measurements: docs/consensus.md lists them.
 * Small enough to be computed again in each test run.
 */
export const publishedParameters: SimulationParameters = {
  seeds: [1, 2, 3, 4, 5],
  profiles: 400,
  days: 14,
  honest_agents: 8,
  honest_sharing_a_network: 3,
  visits_per_agent_and_day: 12,
  finds_percent: 75,
  mistakes_percent: 3,
  misleading_sources_percent: 4,
  misled_percent: 40,
  other_spelling_percent: 5,
  unchecked_percent: 10,
  attack_begins_on_day: 3,
  attack_requests: 300,
};
