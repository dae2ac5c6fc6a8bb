import type { SimulationOutcome, Spread } from "#content/contract/consensus-simulation.ts";

const whole = ({ mean }: Spread): string => String(Math.round(mean));

/** "12 minutes", "7 hours", "10 days". */
export function span(hours: number): string {
  if (hours < 1) return several(Math.round(hours * 60), "minute");
  return hours < 48 ? several(Math.round(hours), "hour") : several(Math.round(hours / 24), "day");
}

const several = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;

/** What one attack does in one mode, in words for a table. */
export function simulationRow(one: SimulationOutcome) {
  const isAttack = one.ids > 0;
  const per = one.submissions_per_false;
  return {
    title: one.title,
    mode: one.mode,
    /** "402 (35 %)": false values that went live, and their share of all that did. */
    wrong: `${whole(one.false_promotions)} (${one.false_percent.mean.toFixed(1)} %)`,
    byAttack: isAttack ? whole(one.false_by_attack) : "–",
    cost: per === null ? "–" : several(Math.round(per), "submission"),
    means: isAttack ? `${several(one.ids, "id")}, ${several(one.networks, "network")}` : "–",
    took: isAttack ? span(one.attack_hours.mean) : "–",
    leftAfterRevert: isAttack ? whole(one.false_after_revert) : "–",
    trueLost: isAttack ? whole(one.true_lost_by_revert) : "–",
    median: span(one.true_hours_median.mean),
    p90: span(one.true_hours_p90.mean),
    completed: `${whole(one.profiles_completed_percent)} %`,
  };
}
