import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  editorialSunset,
  explainScore,
  intentMultipliers,
  type SignalName,
  type Signs,
  signals,
} from "#content/rules/ranking.ts";
import { intents } from "#content/shapes/recommendation.ts";

const now = new Date("2026-06-01T00:00:00Z");
const bare: Signs = {
  editorial_curated: false,
  verified: false,
  has_wallet: false,
  match_share: 0,
  enriched_days_ago: null,
  donations: 0,
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
  ["donation_history", { donations: 1 }, 1.39],
  ["donation_history", { donations: 1_000_000 }, 10],
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
    expect(explainScore({ ...bare, thin_fields: 2 }, "verify", now)).toEqual({
      score: 0,
      explain: [],
    });
  });

  test("end for editorial curation with 2026-12-31 UTC", () => {
    const curated = { ...bare, editorial_curated: true };
    const lastMoment = new Date("2026-12-31T23:59:59.999Z");
    expect(explainScore(curated, "discover", lastMoment).score).toBe(50);
    expect(explainScore(curated, "discover", editorialSunset).score).toBe(0);
  });
});

describe("an intent", () => {
  test.each([
    ["donate", { has_wallet: true }, 40],
    ["donate", { donations: 1 }, 2.77],
    ["verify", { verified: true }, 60],
    ["verify", { enriched_days_ago: 0 }, 30],
    ["compare", { match_share: 1 }, 50],
    ["compare", { verified: true }, 30],
    ["discover", { has_wallet: true }, 20],
  ] as const)("%s makes %j worth %p", (intent, signs, score) => {
    expect(explainScore({ ...bare, ...signs }, intent, now).score).toBe(score);
  });

  test("multiplies only signals of the table", () => {
    const names = new Set<string>(signals.map(({ name }) => name));
    for (const multipliers of Object.values(intentMultipliers)) {
      for (const name of Object.keys(multipliers)) expect(names.has(name)).toBe(true);
    }
  });
});

test("the explanation always sums to the score", () => {
  const anySigns = fc.record({
    editorial_curated: fc.boolean(),
    verified: fc.boolean(),
    has_wallet: fc.boolean(),
    match_share: fc.double({ min: 0, max: 1, noNaN: true }),
    enriched_days_ago: fc.option(fc.double({ min: 0, max: 10_000, noNaN: true })),
    donations: fc.nat(),
    thin_fields: fc.nat({ max: 7 }),
  });
  fc.assert(
    fc.property(anySigns, fc.constantFrom(...intents), (signs, intent) => {
      const { score, explain } = explainScore(signs, intent, now);
      const sum = explain.reduce((total, { points }) => total + Math.round(points * 100), 0);
      expect(sum).toBe(Math.round(score * 100));
    }),
  );
});
