import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { micro } from "#content/contract/base/money.ts";
import {
  judgePayment,
  paymentChecks,
  type PaymentDue,
  type PaymentFacts,
} from "#content/giving/payment-checks.ts";
import { ok } from "#content/contract/base/result.ts";

const due: PaymentDue = {
  amount: micro(2_500_000n),
  mint: "Usdc",
  recipient: "Wallet",
  destination: "Wallet.account",
  sponsor: "Sponsor",
  sponsorTokenAccount: "Sponsor.account",
  sponsoredMin: micro(100_000n),
};
const lighthouse = "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95";
const unsponsored = { ...due, sponsor: null, sponsorTokenAccount: null };
const transfer = {
  source: "Donor.account",
  destination: "Wallet.account",
  mint: "Usdc",
  authority: "Donor",
  amount: 2_500_000n,
  decimals: 6,
};

const sponsored = (parts: Partial<PaymentFacts> = {}): PaymentFacts => ({
  fee_payer: "Sponsor",
  signers: ["Sponsor", "Donor"],
  unsigned: ["Sponsor"],
  badly_signed: [],
  compute_units: 20_000,
  compute_unit_price: 1n,
  transfer,
  other_programs: [],
  uses_lookup_tables: false,
  ...parts,
});
const selfPaid = (parts: Partial<PaymentFacts> = {}): PaymentFacts =>
  sponsored({ fee_payer: "Donor", signers: ["Donor"], unsigned: [], ...parts });
/** A sponsored payment of another transfer. */
const paying = (parts: Partial<typeof transfer>, more: Partial<PaymentFacts> = {}) =>
  sponsored({ transfer: { ...transfer, ...parts }, ...more });
const byWallet = { signers: ["Sponsor", "Wallet"] };
const bySponsor = { signers: ["Sponsor"], unsigned: ["Sponsor"] };

describe("is taken", () => {
  const taken: [string, PaymentFacts, PaymentDue?][] = [
    ["a sponsored payment", sponsored()],
    ["one that the sponsor has signed already", sponsored({ unsigned: [] })],
    ["one that the donor pays for", selfPaid()],
    ["one that the donor pays for, where there is no sponsor", selfPaid(), unsponsored],
    [
      "a plain transfer, whose account says the token",
      sponsored({ transfer: { ...transfer, mint: null, decimals: null } }),
    ],
    ["one without a compute budget", sponsored({ compute_units: null, compute_unit_price: null })],
    ["one with a price of nothing", sponsored({ compute_units: null, compute_unit_price: 0n })],
    ["what Phantom and Solflare add", sponsored({ other_programs: [lighthouse, lighthouse] })],
    ["the highest fee", sponsored({ compute_units: 200_000, compute_unit_price: 50_000n })],
    ["the least that is sponsored", sponsored(), { ...due, sponsoredMin: micro(2_500_000n) }],
    [
      "any fee that the donor pays",
      selfPaid({ compute_units: 1_400_000, compute_unit_price: 10n ** 9n }),
    ],
    [
      "whatever else the donor does at own cost, as making the account",
      selfPaid({ other_programs: ["AssociatedToken"] }),
    ],
  ];

  test.each(taken)("%s", (_, paid, against = due) => {
    expect(judgePayment(paid, against)).toEqual(ok(null));
  });
});

describe("every check refuses what it names", () => {
  const large = { ...due, amount: micro(99_999n) };
  const cases: Record<keyof typeof paymentChecks, [PaymentFacts, PaymentDue?][]> = {
    hidden_accounts: [[sponsored({ uses_lookup_tables: true })]],
    no_transfer: [[sponsored({ transfer: null })]],
    wrong_token: [[paying({ mint: "Fake" })], [paying({ decimals: 9 })]],
    wrong_recipient: [[paying({ destination: "Other.account" })]],
    wrong_amount: [
      [paying({ amount: 2_499_999n })],
      [selfPaid({ transfer: { ...transfer, amount: 2_500_001n } })],
    ],
    self_donation: [[paying({ authority: "Wallet" }, byWallet)]],
    wrong_fee_payer: [
      [selfPaid({ fee_payer: "Relay", signers: ["Relay", "Donor"] })],
      [sponsored(), unsponsored],
    ],
    extra_signer: [
      [sponsored({ signers: ["Sponsor", "Donor", "Third"] })],
      [selfPaid({ signers: ["Donor", "Third"] })],
    ],
    bad_signature: [[sponsored({ badly_signed: ["Donor"] })]],
    not_signed: [
      [sponsored({ unsigned: ["Sponsor", "Donor"] })],
      [selfPaid({ unsigned: ["Donor"] })],
    ],
    other_instructions: [
      [sponsored({ other_programs: ["System"] })],
      [sponsored({ other_programs: ["Token"] })],
      [sponsored({ other_programs: [lighthouse, lighthouse, lighthouse] })],
    ],
    sponsor_spends: [
      [paying({ authority: "Sponsor" }, bySponsor)],
      [paying({ source: "Sponsor.account" })],
    ],
    sponsored_too_little: [[paying({ amount: 99_999n }), large]],
    fee_too_high: [
      [sponsored({ compute_units: 200_001 })],
      [sponsored({ compute_units: 200_000, compute_unit_price: 50_010n })],
      [sponsored({ compute_units: null, compute_unit_price: 1n })],
      [sponsored({ compute_units: 1, compute_unit_price: 2n ** 63n })],
    ],
  };

  test.each(Object.entries(cases))("%s", (kind, refused) => {
    for (const [paid, against] of refused) {
      const judged = judgePayment(paid, against ?? due);
      expect(judged.ok ? "taken" : judged.failure.kind).toBe(kind);
    }
  });

  test("and there is no check without a case", () => {
    expect(Object.keys(cases)).toEqual(Object.keys(paymentChecks));
  });

  test("and docs/donations.md names each", () => {
    const guide = readFileSync("docs/donations.md", "utf8");
    for (const code of Object.keys(paymentChecks)) expect(guide).toContain(`\`${code}\``);
  });
});
