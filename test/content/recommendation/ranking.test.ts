import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  recommendationDisclosure,
  noRecommendationDisclosure,
} from "#content/recommendation/answer-sentences.ts";
import {
  editorialPoints,
  editorialSunset,
  explainScore,
  matchHundredths,
  type SignalName,
  type Signs,
  signals,
} from "#content/recommendation/ranking.ts";
import { intents } from "#content/contract/recommendation.ts";

const now = new Date("2026-06-01T00:00:00Z");
const bare: Signs = {
  editorial_curated: false,
  consensus_share: 0,
  verified: false,
  has_wallet: false,
  match_share: 0,
  enriched_days_ago: null,
  donors: 0,
  thin_fields: 0,
};

const table: [SignalName, Partial<Signs>, number][] = [
  ["editorial_curation_for_starter_set", { editorial_curated: true }, 50],
  ["verified_status", { verified: true }, 30],
  ["donation_wallet_present", { has_wallet: true }, 20],
  ["mission_match_strength", { match_share: 1 }, 25],
  ["mission_match_strength", { match_share: 0.5 }, 12.5],
  ["source_provenance_recent", { enriched_days_ago: 0 }, 15],
  ["source_provenance_recent", { enriched_days_ago: 90 }, 7.5],
  ["source_provenance_recent", { enriched_days_ago: 180 }, 3.75],
  ["source_provenance_recent", { enriched_days_ago: -1 }, 15],
  ["donation_history", { donors: 1 }, 1.39],
  ["donation_history", { donors: 1_000_000 }, 10],
  ["thin_profile_penalty", { thin_fields: 3 }, -20],
  ["thin_profile_penalty", { thin_fields: 7 }, -20],
];

describe("the signals of the spec's table", () => {
  test("stand in its order", () => {
    expect(signals.map(({ name, weight }) => `${name} ${weight}`)).toEqual([
      "editorial_curation_for_starter_set +50",
      "verified_status +30",
      "donation_wallet_present +20",
      "mission_match_strength +0 to +25",
      "source_provenance_recent +0 to +15",
      "donation_history +0 to +10",
      "thin_profile_penalty -20",
    ]);
  });

  test.each(table)("%s for %j is %p points", (signal, signs, points) => {
    expect(explainScore({ ...bare, ...signs }, "discover", now)).toEqual({
      score: points,
      explain: [{ signal, points }],
    });
  });

  test("that give nothing are not reported", () => {
    const nothing = { score: 0, explain: [] };
    expect(explainScore({ ...bare, thin_fields: 2 }, "verify", now)).toEqual(nothing);
  });

  test("end for editorial curation with 2026-12-31 UTC", () => {
    const curated = { ...bare, editorial_curated: true };
    const lastMoment = new Date("2026-12-31T23:59:59.999Z");
    expect(explainScore(curated, "discover", lastMoment).score).toBe(50);
    expect(explainScore(curated, "discover", editorialSunset).score).toBe(0);
  });
});

describe("editorial curation", () => {
  test.each([
    [50, [-1, Number.NaN, 0, 0.0999]],
    [40, [0.1, 0.2499]],
    [30, [0.25, 0.4999]],
    [20, [0.5, 0.7499]],
    [10, [0.75, 0.8999]],
    [0, [0.9, 1]],
  ])("is worth %p points at shares of consensus of %j", (points, shares) => {
    for (const consensus_share of shares) {
      expect(editorialPoints(consensus_share, now)).toBe(points);
      const curated = { ...bare, editorial_curated: true, consensus_share };
      expect(explainScore(curated, "discover", now).score).toBe(points);
      expect(explainScore({ ...curated, editorial_curated: false }, "verify", now).score).toBe(0);
    }
  });

  test.each([
    [0.0999, 50, 9],
    [0.1, 40, 10],
    [0.249_9, 40, 24],
    [0.29, 30, 29],
    [0.58, 20, 58],
  ])("a share of %p is told with %p points as %p %%", (consensus_share, points, percent) => {
    const told = recommendationDisclosure(3, { consensus_share, now });
    expect(told).toContain(`adds ${points} of at most 50`);
    expect(told).toContain(`(${percent} % now)`);
  });

  test.each([1, 2, 3] as const)("in phase %i is disclosed, until it ends", (phase) => {
    expect(recommendationDisclosure(phase, { consensus_share: 0, now })).toContain(
      `phase ${phase}`,
    );
    const after = recommendationDisclosure(phase, { consensus_share: 0, now: editorialSunset });
    expect(after).toContain("no points since 2026 ended");
    expect(noRecommendationDisclosure(phase)).toMatch(
      new RegExp(`^No curated recommendations exist.*phase ${phase}`),
    );
  });
});

test.each([
  ["donate", { has_wallet: true }, 40],
  ["donate", { donors: 1 }, 2.77],
  ["verify", { verified: true }, 60],
  ["verify", { enriched_days_ago: 0 }, 30],
  ["compare", { match_share: 1 }, 50],
  ["compare", { verified: true }, 30],
] as const)("an intent %s makes %j worth %p", (intent, signs, score) => {
  expect(explainScore({ ...bare, ...signs }, intent, now).score).toBe(score);
});

test("the explanation sums to the score, and the match adds what it says", () => {
  const anySigns = fc.record({
    editorial_curated: fc.boolean(),
    consensus_share: fc.double({ min: 0, max: 1, noNaN: true }),
    verified: fc.boolean(),
    has_wallet: fc.boolean(),
    match_share: fc.double({ min: -1, max: 2, noNaN: true }),
    enriched_days_ago: fc.option(fc.double({ min: 0, max: 10_000, noNaN: true })),
    donors: fc.nat(),
    thin_fields: fc.nat({ max: 7 }),
  });
  fc.assert(
    fc.property(anySigns, fc.constantFrom(...intents), (signs, intent) => {
      const { score, explain } = explainScore(signs, intent, now);
      const sum = explain.reduce((total, { points }) => total + Math.round(points * 100), 0);
      expect(sum).toBe(Math.round(score * 100));
      const { match_share } = signs;
      const alone = explainScore({ ...bare, match_share }, intent, now);
      expect(matchHundredths(match_share, intent)).toBe(Math.round(alone.score * 100));
    }),
  );
});
