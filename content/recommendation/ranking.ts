import type { ExplainedSignal, Intent } from "#content/contract/recommendation.ts";
import { thinFrom } from "#content/nonprofit/listing.ts";

/** The data of a candidate that the signals use. */
export type Signs = {
  editorial_curated: boolean;
  /** The share of the directory's candidates that agents' agreement promoted, 0 to 1. */
  consensus_share: number;
  verified: boolean;
  has_wallet: boolean;
  /** bm25 of this candidate divided by the best candidate's, 0 to 1; 0 when there are no words. */
  match_share: number;
  /** Days since the latest applied enrichment; null if there was none. */
  enriched_days_ago: number | null;
  /** Number of wallets that gave more than dust. */
  donors: number;
  thin_fields: number;
};

/** From this instant on, editorial curation gives no points. */
export const editorialSunset = new Date("2027-01-01T00:00:00Z");

/**
 * Points for editorial curation by the share of candidates that agents' agreement promoted: the last row whose share is
 * reached counts (docs/decisions/29-recommendations.md).
 */
export const editorialSteps = [
  { consensus_share_from: 0, points: 50 },
  { consensus_share_from: 0.1, points: 40 },
  { consensus_share_from: 0.25, points: 30 },
  { consensus_share_from: 0.5, points: 20 },
  { consensus_share_from: 0.75, points: 10 },
  { consensus_share_from: 0.9, points: 0 },
] as const;

/** The points for editorial curation at this share of consensus and this instant: 0 to 50. */
export function editorialPoints(consensus_share: number, now: Date): number {
  if (now >= editorialSunset) return 0;
  const lastStep = editorialSteps.findLast((step) => consensus_share >= step.consensus_share_from);
  return (lastStep ?? editorialSteps[0]).points;
}

const stepsInWords = editorialSteps
  .slice(1)
  .map(({ points, consensus_share_from: from }) => `${points} from ${Math.round(from * 100)} %`)
  .join(", ");

const matchPointsMax = 25;
const provenancePointsMax = 15;
const provenanceHalfLifeDays = 90;
const donationPointsMax = 10;

/**
 * The signals; their points are added up and reported in this order. The methodology page and the API description show this
 * table.
 */
export const signals = [
  {
    name: "editorial_curation_for_starter_set",
    weight: "+50",
    description: `The operator picked the profile by hand, or approved an agent's draft. Steps down as the share of candidates that agents' agreement promoted grows: ${stepsInWords}. Ends with 2026-12-31 UTC.`,
    points: (c: Signs, now: Date) =>
      c.editorial_curated ? editorialPoints(c.consensus_share, now) : 0,
  },
  {
    name: "verified_status",
    weight: "+30",
    description: "The organisation has claimed its profile.",
    points: (c: Signs) => (c.verified ? 30 : 0),
  },
  {
    name: "donation_wallet_present",
    weight: "+20",
    description: "The profile has a wallet that takes USDC.",
    points: (c: Signs) => (c.has_wallet ? 20 : 0),
  },
  {
    name: "mission_match_strength",
    weight: "+0 to +25",
    description:
      "25 × bm25 of the words of q and the name of the cause, divided by the best bm25 among the candidates; 0 without words.",
    points: (c: Signs) => matchPointsMax * Math.min(Math.max(c.match_share, 0), 1),
  },
  {
    name: "source_provenance_recent",
    weight: "+0 to +15",
    description: "15 × 0.5^(days since the latest applied enrichment ÷ 90); 0 when there was none.",
    points: (c: Signs) =>
      c.enriched_days_ago === null
        ? 0
        : provenancePointsMax * 0.5 ** (Math.max(c.enriched_days_ago, 0) / provenanceHalfLifeDays),
  },
  {
    name: "donation_history",
    weight: "+0 to +10",
    description:
      "The smaller of 10 and 2 × ln(1 + donors): wallets that gave at least 0.01 USDC at once, each counted once.",
    points: (c: Signs) => Math.min(donationPointsMax, 2 * Math.log(1 + c.donors)),
  },
  {
    name: "thin_profile_penalty",
    weight: "-20",
    description:
      "Three or more of description, website, city, region, mission, founded_year and contact_email are empty.",
    points: (c: Signs) => (c.thin_fields >= thinFrom ? -20 : 0),
  },
] as const;

export type SignalName = (typeof signals)[number]["name"];

/** The factor by which an intent multiplies the points of a signal; 1 by default. */
export const intentMultipliers: Record<Intent, Partial<Record<SignalName, number>>> = {
  discover: {},
  donate: { donation_wallet_present: 2, donation_history: 2 },
  compare: { mission_match_strength: 2 },
  verify: { verified_status: 2, source_provenance_recent: 2 },
};

/** The points of the match with the words, in hundredths, including the intent's factor; rounded as in explainScore. */
export const matchHundredths = (match_share: number, intent: Intent): number =>
  Math.round(
    100 *
      matchPointsMax *
      Math.min(Math.max(match_share, 0), 1) *
      (intentMultipliers[intent].mission_match_strength ?? 1),
  );

/** The points of each contributing signal in table order, rounded to hundredths; their sum is exactly the score. */
export function explainScore(
  candidate: Signs,
  intent: Intent,
  now: Date,
): { score: number; explain: ExplainedSignal[] } {
  const multipliers = intentMultipliers[intent];
  const hundredths = signals.map(({ name, points }) => ({
    signal: name,
    points: Math.round(100 * points(candidate, now) * (multipliers[name] ?? 1)),
  }));
  const sum = hundredths.reduce((total, { points }) => total + points, 0);
  return {
    score: sum / 100,
    explain: hundredths.flatMap(({ signal, points }) =>
      points === 0 ? [] : [{ signal, points: points / 100 }],
    ),
  };
}
