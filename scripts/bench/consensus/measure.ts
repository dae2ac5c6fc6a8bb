import type { ConsensusMode } from "#content/enrichment/consensus.ts";
import { comparedValue } from "#content/enrichment/value.ts";
import type {
  SimulationOutcome,
  SimulationParameters,
  Spread,
} from "#content/contract/consensus-simulation.ts";
import { quantile } from "../support/figures.ts";
import { hourMs } from "./actor.ts";
import { type Attack, attacks } from "./attacks.ts";
import type { Promotion } from "./directory.ts";
import { type Run, simulate } from "./simulate.ts";
import { acceptedValues } from "./world.ts";

const modes: readonly ConsensusMode[] = ["agents", "networks"];

/** Every attack in every mode over all seeds. `progress` hears how many of `runsOf` runs are done. */
export function simulateAll(
  parameters: SimulationParameters,
  progress: (done: number) => void = () => {},
): SimulationOutcome[] {
  let done = 0;
  return attacks.flatMap((attack) =>
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
  attacks.length * modes.length * seeds.length;

type Figures = ReturnType<typeof figuresOf>;

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
    // Reverting an agent empties every field in which its agreement counts. Source: api/operator/revert.ts.
    false_after_revert: wrong.filter((one) => !byAttack(one)).length,
    true_lost_by_revert: right.filter(byAttack).length,
    true_hours_median: hours.length === 0 ? 0 : quantile(hours, 0.5),
    true_hours_p90: hours.length === 0 ? 0 : quantile(hours, 0.9),
    profiles_completed_percent: (100 * completed.length) / run.world.length,
  };
}

function outcomeOf(
  { name, title, says, voices }: Attack,
  mode: ConsensusMode,
  figures: readonly Figures[],
): SimulationOutcome {
  const spread = (of: (one: Figures) => number) => spreadOf(figures.map(of));
  const sum = (of: (one: Figures) => number) => figures.reduce((total, one) => total + of(one), 0);
  const falseByAttack = sum((one) => one.false_by_attack);
  const perFalse = (of: (one: Figures) => number) =>
    falseByAttack === 0 ? null : rounded(sum(of) / falseByAttack, 3);
  return {
    attack: name,
    title,
    says,
    mode,
    ids: voices.length,
    networks: new Set(voices.map(({ network }) => network)).size,
    promotions: spread((one) => one.promotions),
    false_promotions: spread((one) => one.false_promotions),
    false_percent: spread((one) => one.false_percent),
    false_by_attack: spread((one) => one.false_by_attack),
    attack_submissions: spread((one) => one.attack_submissions),
    attack_refused: spread((one) => one.attack_refused),
    attack_hours: spread((one) => one.attack_hours),
    submissions_per_false: perFalse((one) => one.attack_submissions),
    hours_per_false: perFalse((one) => one.attack_hours),
    false_after_revert: spread((one) => one.false_after_revert),
    true_lost_by_revert: spread((one) => one.true_lost_by_revert),
    true_hours_median: spread((one) => one.true_hours_median),
    true_hours_p90: spread((one) => one.true_hours_p90),
    profiles_completed_percent: spread((one) => one.profiles_completed_percent),
  };
}

const spreadOf = (values: readonly number[]): Spread => ({
  mean: rounded(values.reduce((sum, value) => sum + value, 0) / values.length, 2),
  least: rounded(Math.min(...values), 2),
  most: rounded(Math.max(...values), 2),
});

const rounded = (value: number, places: number): number => {
  const by = 10 ** places;
  return Math.round(value * by) / by;
};
