import type { SimulationOutcome, Spread } from "#content/contract/consensus-simulation.ts";
import type { Texts } from "#content/language/texts.ts";

/** What one attack does in one mode, in words for a table. */
export function simulationRow(one: SimulationOutcome, t: Texts) {
  const whole = ({ mean }: Spread): string => t.number(Math.round(mean));
  const ofAttack = (text: string): string => (one.ids > 0 ? text : "–");
  const per = one.submissions_per_false;
  const share = one.false_percent.mean.toLocaleString(t.language, {
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });
  const ids = t.text("attack.ids", { count: one.ids });
  const networks = t.text("attack.networks", { count: one.networks });
  return {
    title: t.word(one.title),
    mode: one.mode,
    /** "402 (35.2 %)": false values that went live, and their share of all that did. */
    wrong: `${whole(one.false_promotions)} (${share} %)`,
    byAttack: ofAttack(whole(one.false_by_attack)),
    cost: per === null ? "–" : t.text("attack.submissions", { count: Math.round(per) }),
    means: ofAttack(`${ids}, ${networks}`),
    took: ofAttack(span(one.attack_hours.mean, t)),
    leftAfterRevert: ofAttack(whole(one.false_after_revert)),
    trueLost: ofAttack(whole(one.true_lost_by_revert)),
    median: span(one.true_hours_median.mean, t),
    p90: span(one.true_hours_p90.mean, t),
    completed: `${whole(one.profiles_completed_percent)} %`,
  };
}

/** "12 minutes", "7 hours", "10 days". */
function span(hours: number, t: Texts): string {
  if (hours < 1) return t.text("attack.minutes", { count: Math.round(hours * 60) });
  return hours < 48
    ? t.text("attack.hours", { count: Math.round(hours) })
    : t.text("attack.days", { count: Math.round(hours / 24) });
}
