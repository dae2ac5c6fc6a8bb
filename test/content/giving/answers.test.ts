import { expect, test } from "bun:test";
import { donationHistory, settlementOf } from "#content/giving/answers.ts";
import { micro } from "#content/contract/base/money.ts";
import { DonationHistory, Settlement } from "#content/contract/donation.ts";

const given = {
  id: "abc",
  tx_signature: "sig",
  donor: null,
  settled_at: Date.UTC(2026, 5, 1),
  amount_micro_usdc: micro(2_500_000n),
};
const nonprofit = { name: "Well", slug: "well" };
const baseUrl = "https://almoner.example";

test.each([
  ["mainnet", "https://explorer.solana.com/tx/sig"],
  ["devnet", "https://explorer.solana.com/tx/sig?cluster=devnet"],
  ["local", null],
] as const)("a donation on %s is looked at in %s", (cluster, explorer_url) => {
  const place = { cluster, baseUrl };
  expect(settlementOf(given, nonprofit, place).explorer_url).toBe(explorer_url);
  const summary = { count: 1, donors: 2, total: micro(1n), recent: [given] };
  expect(donationHistory(nonprofit, summary, place).recent_donations[0]?.explorer_url).toBe(
    explorer_url,
  );
});

test("both answers have the contract's fields", () => {
  const place = { cluster: "devnet", baseUrl } as const;
  const donation = { id: "abc", amount_usdc: 2.5, network: "solana", tx_hash: "sig" };
  const settled_at = "2026-06-01T00:00:00Z";
  expect(Settlement.parse(settlementOf(given, nonprofit, place))).toMatchObject({
    success: true,
    donation_id: "abc",
    nonprofit: "Well",
    amount: 2.5,
    currency: "USDC",
    tx_signature: "sig",
    donation: { ...donation, nonprofit: "Well", slug: "well", confirmed: true, settled_at },
    receipt_url: "https://almoner.example/api/donations/well/abc",
  });
  const summary = { count: 3, donors: 2, total: micro(7_500_000n), recent: [given] };
  expect(DonationHistory.parse(donationHistory(nonprofit, summary, place))).toMatchObject({
    nonprofit: "Well",
    total_donated_usdc: 7.5,
    donation_count: 3,
    donor_count: 2,
    recent_donations: [{ ...donation, tx_signature: "sig", donor: null }],
  });
});
