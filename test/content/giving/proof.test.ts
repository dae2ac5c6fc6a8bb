import { describe, expect, test } from "bun:test";
import { writeMemo } from "#content/giving/memo.ts";
import { type Due, judgeProof, proofChecks } from "#content/giving/payment-checks.ts";
import { micro } from "#content/contract/base/money.ts";
import type { Credit, TransactionFacts } from "#content/contract/transfer.ts";

const seal = { key: new Uint8Array(32).fill(1), network: "solana:local" };
const now = Date.UTC(2026, 5, 1, 12);
const usdc = (amount: number) => micro(BigInt(Math.round(amount * 1e6)));

const due: Due = {
  nonprofit_id: 1,
  wallet: "Wallet",
  wallet_then: "Wallet",
  amount: usdc(1),
  mint: "Usdc",
  named_at: now,
  windowMs: 3_600_000,
  seal,
  commitment: "confirmed",
  finalized_above: usdc(100),
  tokenAccountOf: (wallet) => `${wallet}.account`,
};

const aCredit = (parts: Partial<Credit> = {}): Credit => {
  const owner = parts.owner ?? "Wallet";
  return {
    destination: `${owner}.account`,
    owner,
    mint: "Usdc",
    amount_micro_usdc: usdc(1),
    donor: "Donor",
    source: "Donor.account",
    ...parts,
  };
};

const aTransfer = (parts: Partial<TransactionFacts> = {}): TransactionFacts => ({
  tx_signature: "sig",
  slot: 7,
  block_time: now / 1_000 - 60,
  commitment: "confirmed",
  failed: false,
  credits: [aCredit()],
  signers: ["Donor"],
  memos: [],
  ...parts,
});

type Named = { nonprofit_id?: number; wallet?: string; amount?: number; ageMs?: number };
const memoFor = ({ wallet = "Wallet", amount = 1, ageMs = 120_000, ...named }: Named = {}) => {
  const issued_at_s = Math.floor((now - ageMs) / 1_000);
  const memo = { nonprofit_id: 1, amount: usdc(amount), issued_at_s, nonce: 5, ...named };
  return writeMemo(memo, wallet, seal);
};

/** A gift of the credit, or why it is none. */
const judged = (landed: TransactionFacts, against: Due = due) => {
  const judgement = judgeProof(landed, against);
  return judgement.ok ? judgement.value : judgement.failure.kind;
};

/** A transfer of one credit, which is the gift. */
function expectGift(credit: Credit, parts: Partial<TransactionFacts> = {}, against = due) {
  const [memo = null] = (parts.memos ?? []).filter((text) => text.length === 32);
  expect(judged(aTransfer({ ...parts, credits: [credit] }), against)).toEqual({ credit, memo });
}

test("the amount of a gift is what arrived, with our memo less or more than asked", () => {
  const memo = memoFor({ amount: 5 });
  for (const amount of [0.000001, 4.999999, 5, 70]) {
    expectGift(aCredit({ amount_micro_usdc: usdc(amount) }), { memos: ["hello", memo] });
  }
});

describe("every check refuses what it names", () => {
  const cases: Record<keyof typeof proofChecks, [TransactionFacts, Due?][]> = {
    not_confirmed: [
      [aTransfer({ commitment: "processed" })],
      [aTransfer(), { ...due, commitment: "finalized" }],
    ],
    failed_on_chain: [[aTransfer({ failed: true, credits: [] })], [aTransfer({ failed: true })]],
    wrong_token: [[aTransfer({ credits: [aCredit({ mint: "Fake" })] })]],
    wrong_recipient: [
      [aTransfer({ credits: [] })],
      [aTransfer({ credits: [aCredit({ owner: "Other" })] })],
      [aTransfer({ credits: [aCredit({ destination: "SecondAccount" })] })],
      [aTransfer({ credits: [aCredit({ amount_micro_usdc: usdc(0) })] })],
      [aTransfer(), { ...due, wallet: null, wallet_then: null }],
    ],
    foreign_memo: [
      [aTransfer({ memos: [memoFor({ nonprofit_id: 2 })] })],
      [aTransfer({ memos: [memoFor({ nonprofit_id: 2, wallet: "Other" })] })],
    ],
    self_donation: [
      [aTransfer({ credits: [aCredit({ donor: "Wallet" })] })],
      [aTransfer({ signers: ["Payer", "Wallet"], credits: [aCredit({ donor: "Pool" })] })],
      [aTransfer({ signers: ["Wallet"], credits: [aCredit({ donor: null })] })],
    ],
    age_unknown: [[aTransfer({ block_time: null })]],
    too_old: [[aTransfer({ block_time: now / 1_000 - 3_601 })]],
    underpaid: [[aTransfer({ credits: [aCredit({ amount_micro_usdc: usdc(0.999999) })] })]],
  };

  test.each(Object.entries(cases))("%s", (kind, refused) => {
    for (const [landed, against] of refused) expect(judged(landed, against)).toBe(kind as never);
  });

  test("and there is no check without a case", () => {
    expect(Object.keys(cases)).toEqual(Object.keys(proofChecks));
  });
});

describe("without our memo", () => {
  test.each<[string, Partial<Credit>, Partial<TransactionFacts>]>([
    ["a transfer of what was asked for", {}, {}],
    ["one at the end of the window", {}, { block_time: now / 1_000 - 3_600 }],
    ["more than was asked for", { amount_micro_usdc: usdc(3) }, {}],
    ["one whose donor the chain cannot name", { donor: null }, {}],
    ["one with a memo of another program", {}, { memos: ["coffee"] }],
  ])("%s is a gift", (_, credit, parts) => {
    expectGift(aCredit(credit), parts);
  });

  test("a memo with another's seal, or for another wallet of the same nonprofit, counts as none", () => {
    for (const memo of ["0123456789abcdef0123456789abcdef", memoFor({ wallet: "Former" })]) {
      expect(judged(aTransfer({ memos: [memo] }))).toEqual({ credit: aCredit(), memo: null });
    }
  });
});

test("with our memo neither age nor amount matter", () => {
  const memos = [memoFor({ ageMs: 400 * 86_400_000 })];
  const little = aCredit({ amount_micro_usdc: usdc(0.1) });
  for (const block_time of [now / 1_000 - 300 * 86_400, null]) {
    expectGift(little, { block_time, memos });
  }
});

describe("a wallet that changed while the payment was under way", () => {
  const credit = aCredit({ owner: "Former" });
  const own = aCredit({ owner: "Former", donor: "Former" });
  const former = (ageMs: number) => [memoFor({ wallet: "Former", ageMs })];
  const another = memoFor({ nonprofit_id: 2, wallet: "Former" });
  const then = { ...due, wallet_then: "Former" };
  const later = now / 1_000 + 86_401;

  test("is credited by the memo that asked to pay it, or when the proof came while it was in effect", () => {
    for (const wallet of ["Wallet", null]) {
      expectGift(credit, { memos: former(120_000) }, { ...due, wallet });
      expectGift(credit, {}, { ...then, wallet });
    }
  });

  test.each<[string, string, Partial<TransactionFacts>, Due?]>([
    ["a day after it was asked for", "wrong_recipient", { memos: former(25 * 3_600_000) }],
    ["when no one knows when it landed", "wrong_recipient", { memos: former(0), block_time: null }],
    ["a day after the proof came", "wrong_recipient", { block_time: later }, then],
    ["proven, landed no one knows when", "wrong_recipient", { block_time: null }, then],
    ["without the memo", "wrong_recipient", {}],
    ["by a memo of another nonprofit", "wrong_recipient", { memos: [another] }],
    ["by itself, with the memo", "self_donation", { credits: [own], memos: former(0) }],
    ["by itself, proven in time", "self_donation", { credits: [own] }, then],
  ])("is not %s: %s", (_, kind, parts, against = due) => {
    expect(judged(aTransfer({ credits: [credit], ...parts }), against)).toBe(kind as never);
  });
});

describe("one transaction that pays two nonprofits", () => {
  const other = aCredit({ owner: "Other", amount_micro_usdc: usdc(9) });
  const mine = aCredit();
  const otherDue = { ...due, nonprofit_id: 2, wallet: "Other" };
  const myMemo = memoFor();
  const otherMemo = memoFor({ nonprofit_id: 2, wallet: "Other" });

  test.each<[string, string[], string | null, string | null]>([
    ["no memo", [], null, null],
    ["a memo of each", [myMemo, otherMemo], myMemo, otherMemo],
    ["a memo of one", [otherMemo], null, otherMemo],
  ])("is a gift to each, of its own transfer, with %s", (_, memos, first, second) => {
    const landed = aTransfer({ credits: [other, mine], memos });
    expect(judged(landed)).toEqual({ credit: mine, memo: first });
    expect(judged(landed, otherDue)).toEqual({ credit: other, memo: second });
  });

  test("of one wallet is a gift to the one whom the memo names", () => {
    const landed = aTransfer({ memos: [myMemo] });
    expect(judged(landed)).toEqual({ credit: mine, memo: myMemo });
    expect(judged(landed, { ...due, nonprofit_id: 2 })).toBe("foreign_memo");
  });
});
