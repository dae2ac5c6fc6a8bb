import { describe, expect, test } from "bun:test";
import { trustSignals } from "#content/recommendation/answer-sentences.ts";
import { aNonprofit } from "#test/support/records.ts";

describe("the trust signals of a profile", () => {
  const none = { donors: 0, enriched_at: null };

  test("are none where nothing is known", () => {
    expect(trustSignals(aNonprofit(), none)).toEqual([]);
  });
  test.each([
    [1, "Donations from 1 donor recorded in this directory"],
    [1_200, "Donations from 1200 donors recorded in this directory"],
  ])("%d donors are told in words", (donors, told) => {
    expect(trustSignals(aNonprofit(), { ...none, donors })).toEqual([told]);
  });
  test("tell the day of the newest detail", () => {
    const enriched_at = Date.UTC(2026, 10, 3, 23, 59);
    expect(trustSignals(aNonprofit(), { ...none, enriched_at })).toEqual([
      "Details with a recorded source, last added on 2026-11-03",
    ]);
  });
  test("tell that the owner of a wallet signed", () => {
    expect(trustSignals(aNonprofit({ wallet_signature: "5Sig" }), none)).toEqual([
      "Control of the wallet proved by a signature",
    ]);
  });
});
