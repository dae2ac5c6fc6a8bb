import { beforeAll, describe, expect, test } from "bun:test";
import { PublicKey } from "@solana/web3.js";
import { thinFields, thinFrom } from "#content/nonprofit/listing.ts";
import { toDetail } from "#content/nonprofit/wire.ts";
import { wordingFaults } from "#content/nonprofit/text.ts";
import { CauseId, causeIds } from "#content/contract/browse.ts";
import { NonprofitDetail } from "#content/contract/nonprofit.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { calendarOf, defaultDay } from "#scripts/seed/numbers.ts";
import { outlineAt } from "#scripts/seed/outline.ts";
import { isPicked, pickOf } from "#scripts/seed/seed-directory.ts";
import { profileOf } from "#scripts/seed/profile.ts";

const count = 4_000;
const outlines = Array.from({ length: count }, (_, index) => outlineAt(1, index));
let profiles: NonprofitRecord[] = [];

beforeAll(() => {
  profiles = outlines.map((outline, index) =>
    profileOf(1, outline, `sample-${index}`, calendarOf(1, defaultDay)),
  );
});

const texts = ({
  name,
  tagline,
  mission,
  description,
  programs,
  impact_metrics,
}: NonprofitRecord) =>
  [name, tagline, mission, description, ...programs.flatMap((p) => [p.name, p.description])]
    .concat(impact_metrics.flatMap((m) => [m.name, m.value]))
    .filter((text) => text !== null);

describe("every profile of the sample", () => {
  test("has the shape of the contract", () => {
    for (const profile of profiles) {
      NonprofitDetail.parse(toDetail(profile, ""));
      for (const cause of profile.causes) CauseId.parse(cause);
      expect(new Set(profile.causes).size).toBe(profile.causes.length);
    }
  });

  test("keeps the lengths that agents have to keep", () => {
    for (const { tagline, mission, description } of profiles) {
      expect(tagline?.length ?? 0).toBeLessThanOrEqual(160);
      expect(mission?.length ?? 0).toBeLessThanOrEqual(1_000);
      expect(description?.length ?? 0).toBeLessThanOrEqual(5_000);
    }
  });

  test("has its texts filled and without repeated words", () => {
    const odd = profiles
      .flatMap(texts)
      .filter(
        (text) => /[{}]|undefined|null|NaN| {2}|\.\.| ,/.test(text) || /\b(\w+) \1\b/i.test(text),
      );
    expect(odd).toEqual([]);
  });

  test("names no host outside .example and no register but the sample's", () => {
    for (const profile of profiles) {
      const { website, donation_url, contact_email, registrations } = profile;
      for (const url of [website, donation_url]) {
        if (url !== null) expect(new URL(url).hostname).toEndWith(".example");
      }
      if (contact_email !== null) expect(contact_email).toEndWith(".example");
      for (const { org_id } of registrations) expect(org_id).toStartWith("XS-SAMPLE-");
    }
  });

  test("says where each filled field came from, and of no empty one", () => {
    for (const profile of profiles) {
      for (const field of ["name", "mission", "website", "contact_email", "usdc_wallet"] as const) {
        expect(field in profile.provenance).toBe(profile[field] !== null);
      }
      const bySources = Object.values(profile.provenance).map(({ set_by }) => set_by);
      expect(new Set(["register", "organisation", ...bySources]).size).toBe(2);
    }
  });

  test("has a wallet exactly when it is verified, a different one each, on the curve", () => {
    const wallets = profiles.flatMap((profile) => profile.usdc_wallet ?? []);
    expect(profiles.every((p) => (p.usdc_wallet !== null) === (p.verified === 1))).toBe(true);
    expect(new Set(wallets).size).toBe(wallets.length);
    expect(wallets.every((wallet) => PublicKey.isOnCurve(wallet))).toBe(true);
  });
});

describe("the sample as a whole", () => {
  const share = (fits: (profile: NonprofitRecord) => boolean) =>
    profiles.filter(fits).length / count;

  test("has each cause and forty countries, soon", () => {
    const first = profiles.slice(0, 400);
    expect(new Set(first.flatMap(({ causes }) => causes)).size).toBe(causeIds.length);
    expect(new Set(first.map(({ country_code }) => country_code)).size).toBe(40);
  });

  test("is half thin and a fortieth verified", () => {
    expect(share((p) => p.verified === 1)).toBe(1 / 40);
    const thin = share((p) => thinFields(p).length >= thinFrom);
    expect(thin).toBeGreaterThan(0.45);
    expect(thin).toBeLessThan(0.65);
  });

  test("has a heavy tail of beneficiaries", () => {
    const reached = profiles.flatMap((p) => p.beneficiaries_per_year ?? []).sort((a, b) => b - a);
    const total = reached.reduce((sum, one) => sum + one, 0);
    const foremost = reached.slice(0, Math.ceil(reached.length / 100));
    expect(foremost.reduce((sum, one) => sum + one, 0) / total).toBeGreaterThan(0.25);
  });

  test("reaches no more people than its budget and its staff can", () => {
    const reached = profiles.filter((p) => p.beneficiaries_per_year !== null);
    for (const { beneficiaries_per_year, annual_budget_usd, team_size } of reached) {
      const people = beneficiaries_per_year ?? 0;
      if (team_size !== null) expect(people).toBeLessThanOrEqual(400 + 200 * team_size);
      if (annual_budget_usd !== null && people > 60) {
        expect(annual_budget_usd / people).toBeGreaterThan(10);
      }
    }
    const total = reached.reduce((sum, { beneficiaries_per_year: one }) => sum + (one ?? 0), 0);
    expect(total / count).toBeLessThan(2_000);
  });

  test("gives few names twice, and another sample gives others", () => {
    const names = new Set(profiles.map(({ name }) => name));
    expect(names.size).toBeGreaterThan(count * 0.98);
    expect(names.has(outlineAt(2, 0).name)).toBe(false);
  });
});

test("the starter set is mostly verified, covers all causes and is restrained", () => {
  const picked = outlines.filter(isPicked);
  const picks = picked.map((outline) =>
    pickOf(outline, profiles[outline.index] as NonprofitRecord),
  );
  expect(picks.length).toBeGreaterThanOrEqual(60);
  expect(new Set(picked.map(({ causes }) => causes[0])).size).toBe(causeIds.length);
  expect(picked.filter(({ tier }) => tier === "verified").length).toBeGreaterThan(picks.length / 2);
  for (const { recommended_for, why_recommended } of picks) {
    expect(recommended_for.length).toBeGreaterThan(0);
    expect(why_recommended).toMatch(/^[A-Z].+\.$/);
    expect([...recommended_for, why_recommended].flatMap(wordingFaults)).toEqual([]);
  }
});
