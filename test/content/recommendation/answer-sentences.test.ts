import { expect, test } from "bun:test";
import { trustSignals } from "#content/recommendation/answer-sentences.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { aNonprofit } from "#test/support/records.ts";

test.each<[Partial<NonprofitRecord>, object, string[]]>([
  [{}, {}, []],
  [{}, { donors: 1 }, ["Donations from 1 donor recorded in this directory"]],
  [{}, { donors: 1_200 }, ["Donations from 1200 donors recorded in this directory"]],
  [
    {},
    { enriched_at: Date.UTC(2026, 10, 3, 23, 59) },
    ["Details with a recorded source, last added on 2026-11-03"],
  ],
  [
    {},
    { by_consensus: true },
    ["Recommended alike by two agents with sources; no person has reviewed it"],
  ],
  [{ wallet_signature: "5Sig" }, {}, ["Control of the wallet proved by a signature"]],
])("the trust signals of %j with %j are %j", (parts, known, told) => {
  const none = { donors: 0, enriched_at: null };
  expect(trustSignals(aNonprofit(parts), { ...none, ...known })).toEqual(told);
});
