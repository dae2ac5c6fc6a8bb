import disclosures from "#content/editorial/disclosures.json";
import type { GovernancePhase } from "#content/contract/recommendation.ts";
import { editorialPoints, editorialSteps, editorialSunset } from "./ranking.ts";

/** What the answer with recommendations says of who picked them, and what that weighs at this moment. */
export function recommendationDisclosure(
  phase: GovernancePhase,
  { consensus_share, now }: { consensus_share: number; now: Date },
): string {
  const texts = disclosures.recommendation;
  const weight =
    now >= editorialSunset
      ? texts.weight_ended
      : texts.weight
          .replace("{points}", String(editorialPoints(consensus_share, now)))
          .replace("{most}", String(editorialSteps[0].points))
          .replace("{share}", String(wholePercent(consensus_share)));
  return `${texts[`phase_${phase}`]} ${texts.order} ${weight}`;
}

/** Rounded down, as the steps are reached: 24.9 % is not yet 25 %. 0.29 × 100 is 28.999…, so a little is added first. */
const wholePercent = (share: number): number => Math.floor(share * 100 + 1e-6);

/** What the answer without any says. */
export const noRecommendationDisclosure = (phase: GovernancePhase): string =>
  `${disclosures.no_recommendation} ${disclosures.recommendation[`phase_${phase}`]}`;
