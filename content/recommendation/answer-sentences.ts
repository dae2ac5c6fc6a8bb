import type { DonationMethod, GovernancePhase, Intent } from "#content/contract/recommendation.ts";
import type { WayToGive } from "#content/contract/nonprofit.ts";
import { fill } from "#content/contract/base/fill.ts";
import { isoDay } from "#content/contract/base/time.ts";
import { next } from "#content/editorial/ways-to-give.json";
import disclosures from "#content/editorial/disclosures.json";
import { unvouchedAddress } from "#content/nonprofit/ways-to-give.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { editorialPoints, editorialSteps, editorialSunset } from "./ranking.ts";

/** The contract's ways in which a nonprofit accepts gifts, the wallet first. */
export const donationMethods = (ways: readonly WayToGive[]): DonationMethod[] =>
  (["usdc_x402", "external_donation_url"] as const).filter((method) =>
    ways.some(({ kind }) => kind === (method === "usdc_x402" ? "usdc" : "donation_page")),
  );

/** Facts that support relying on a profile, without praise. */
export function trustSignals(
  record: NonprofitRecord,
  {
    donors,
    enriched_at,
    by_consensus = false,
  }: { donors: number; enriched_at: number | null; by_consensus?: boolean },
): string[] {
  const sentences: string[] = [];
  if (by_consensus) {
    sentences.push("Recommended alike by two agents with sources; no person has reviewed it");
  }
  if (record.verified === 1) sentences.push("Profile claimed by the organisation and reviewed");
  const [org] = record.registrations.flatMap(({ org_id }) => org_id ?? []);
  if (org !== undefined) sentences.push(`Listed in a public register as ${org}`);
  if (enriched_at !== null) {
    sentences.push(`Details with a recorded source, last added on ${isoDay(enriched_at)}`);
  }
  if (record.wallet_signature !== null) {
    sentences.push("Control of the wallet proved by a signature");
  }
  if (record.usdc_wallet !== null) sentences.push("Ready for donations in USDC (x402)");
  if (record.donation_url !== null && unvouchedAddress(record) !== "donation_url") {
    sentences.push("Has a donation page of its own");
  }
  if (donors > 0) {
    sentences.push(
      `Donations from ${donors} ${donors === 1 ? "donor" : "donors"} recorded in this directory`,
    );
  }
  return sentences;
}

/** What an agent can do next with a profile, for its intent. */
export function bestNextAction(
  ways: readonly WayToGive[],
  intent: Intent,
  { apiUrl, donateUrl }: { apiUrl: string; donateUrl: string },
): string {
  const way = ways.find(({ kind }) => kind === "usdc") ?? ways[0];
  const url = way?.kind === "usdc" ? donateUrl : (way?.url ?? "");
  const give = fill(next[way?.kind ?? "none"], { url });
  if (intent === "donate") return sentence(`${give}; read ${apiUrl} first`);
  if (intent === "verify") {
    return sentence(`read ${apiUrl} and check its registrations and the sources in provenance`);
  }
  if (intent === "compare") {
    return sentence(`read ${apiUrl} and compare programs and impact_metrics; ${give}`);
  }
  return sentence(`read the full profile at ${apiUrl}; ${give}`);
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** The disclosure in answers with recommendations: who picked them, and how much that counts at this moment. */
export function recommendationDisclosure(
  phase: GovernancePhase,
  { consensus_share, now }: { consensus_share: number; now: Date },
): string {
  const texts = disclosures.recommendation;
  const weight =
    now >= editorialSunset
      ? texts.weight_ended
      : fill(texts.weight, {
          points: editorialPoints(consensus_share, now),
          most: editorialSteps[0].points,
          share: wholePercent(consensus_share),
        });
  return `${texts[`phase_${phase}`]} ${texts.order} ${weight}`;
}

/** Rounded down, because the steps are thresholds: 24.9 % is not yet 25 %. 0.29 × 100 is 28.999…, so a little is added. */
const wholePercent = (share: number): number => Math.floor(share * 100 + 1e-6);

export const noRecommendationDisclosure = (phase: GovernancePhase): string =>
  `${disclosures.no_recommendation} ${disclosures.recommendation[`phase_${phase}`]}`;
