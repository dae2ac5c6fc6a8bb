import { describe, expect, test } from "bun:test";
import { writeMemo } from "#content/giving/memo.ts";
import { type Due, judgeProof, proofChecks } from "#content/giving/payment-checks.ts";
import { micro } from "#content/contract/base/money.ts";
import { fail, ok } from "#content/contract/base/result.ts";
import type { Credit, TransactionFacts } from "#content/contract/transfer.ts";

const seal = { key: new Uint8Array(32).fill(1), network: "solana:local" };
const now = Date.UTC(2026, 5, 1, 12);
const usdc = (amount: number) => micro(BigInt(Math.round(amount * 1e6)));

const due: Due = {
  nonprofit_id: 1,
  wallet: "Wallet",
  wallet_then: "Wallet",
  amount: usdc(1),
  named_at: now,
  windowMs: 3_600_000,
  commitment: "confirmed",
  finalized_above: usdc(100),
  mint: "Usdc",
  tokenAccountOf: (wallet) => `${wallet}.account`,
  seal,
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

const memoFor = (
  parts: { nonprofit_id?: number; wallet?: string; amount?: number; ageMs?: number } = {},
) =>
  writeMemo(
    {
      nonprofit_id: parts.nonprofit_id ?? 1,
      amount: usdc(parts.amount ?? 1),
      issued_at_s: Math.floor((now - (parts.ageMs ?? 120_000)) / 1_000),
      nonce: 5,
    },
    parts.wallet ?? "Wallet",
    seal,
  );

const refusal = (landed: TransactionFacts, against: Due = due) => {
  const judged = judgeProof(landed, against);
  return judged.ok ? null : judged.failure.kind;
};

test("a transfer of what was asked for is a gift", () => {
  expect(judgeProof(aTransfer(), due)).toEqual(ok({ credit: aCredit(), memo: null }));
});

test("the amount of a gift is what arrived, with our memo less or more than asked", () => {
  const memo = memoFor({ amount: 5 });
  for (const amount of [0.000001, 4.999999, 5, 70]) {
    const credit = aCredit({ amount_micro_usdc: usdc(amount) });
    expect(judgeProof(aTransfer({ credits: [credit], memos: ["hello", memo] }), due)).toEqual(
      ok({ credit, memo }),
    );
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
    for (const [landed, against] of refused) expect(refusal(landed, against)).toBe(kind as never);
  });

  test("and there is no check without a case", () => {
    expect(Object.keys(cases)).toEqual(Object.keys(proofChecks));
  });
});

describe("without our memo", () => {
  test("a transfer counts to the end of the window", () => {
    expect(refusal(aTransfer({ block_time: now / 1_000 - 3_600 }))).toBeNull();
  });

  test("more than asked is a gift", () => {
    const credit = aCredit({ amount_micro_usdc: usdc(3) });
    expect(judgeProof(aTransfer({ credits: [credit] }), due)).toEqual(ok({ credit, memo: null }));
  });

  test("a memo with another's seal, or of another program, counts as none", () => {
    const memos = ["0123456789abcdef0123456789abcdef", "coffee"];
    expect(judgeProof(aTransfer({ memos }), due)).toEqual(ok({ credit: aCredit(), memo: null }));
  });
});

describe("with our memo", () => {
  test("neither age nor amount matter", () => {
    const memo = memoFor({ ageMs: 400 * 86_400_000 });
    const credit = aCredit({ amount_micro_usdc: usdc(0.1) });
    const landed = aTransfer({
      block_time: now / 1_000 - 300 * 86_400,
      credits: [credit],
      memos: [memo],
    });
    expect(judgeProof(landed, due)).toEqual(ok({ credit, memo }));
    expect(refusal(aTransfer({ block_time: null, memos: [memo] }))).toBeNull();
  });

  test("a memo for another wallet of the same nonprofit is none for the transfer to this one", () => {
    const memo = memoFor({ wallet: "Former" });
    expect(judgeProof(aTransfer({ memos: [memo] }), due)).toEqual(
      ok({ credit: aCredit(), memo: null }),
    );
  });
});

describe("a wallet that changed while the payment was under way", () => {
  const credit = aCredit({ owner: "Former" });
  const former = (ageMs: number) => memoFor({ wallet: "Former", ageMs });

  test("is credited by the memo that asked to pay it", () => {
    const memo = former(120_000);
    const landed = aTransfer({ credits: [credit], memos: [memo] });
    expect(judgeProof(landed, due)).toEqual(ok({ credit, memo }));
    expect(judgeProof(landed, { ...due, wallet: null })).toEqual(ok({ credit, memo }));
  });

  test("is credited, also without a memo, when the proof came while it was in effect", () => {
    const landed = aTransfer({ credits: [credit] });
    const then = { ...due, wallet_then: "Former" };
    expect(judgeProof(landed, then)).toEqual(ok({ credit, memo: null }));
    expect(judgeProof(landed, { ...then, wallet: null })).toEqual(ok({ credit, memo: null }));
    const dayLater = now / 1_000 + 86_401;
    expect(refusal(aTransfer({ credits: [credit], block_time: dayLater }), then)).toBe(
      "wrong_recipient",
    );
    expect(refusal(aTransfer({ credits: [credit], block_time: null }), then)).toBe(
      "wrong_recipient",
    );
    const own = aTransfer({ credits: [aCredit({ owner: "Former", donor: "Former" })] });
    expect(refusal(own, then)).toBe("self_donation");
  });

  test("is not, a day after it was asked for, or when no one knows when it landed", () => {
    expect(refusal(aTransfer({ credits: [credit], memos: [former(25 * 3_600_000)] }))).toBe(
      "wrong_recipient",
    );
    expect(refusal(aTransfer({ credits: [credit], memos: [former(0)], block_time: null }))).toBe(
      "wrong_recipient",
    );
  });

  test("is not without the memo, or by one of another nonprofit", () => {
    expect(refusal(aTransfer({ credits: [credit] }))).toBe("wrong_recipient");
    const foreign = memoFor({ nonprofit_id: 2, wallet: "Former" });
    expect(refusal(aTransfer({ credits: [credit], memos: [foreign] }))).toBe("wrong_recipient");
  });

  test("the nonprofit's own former wallet does not donate to it", () => {
    const own = aCredit({ owner: "Former", donor: "Former" });
    expect(refusal(aTransfer({ credits: [own], memos: [former(0)] }))).toBe("self_donation");
  });
});

describe("one transaction that pays two nonprofits", () => {
  const other = aCredit({ owner: "Other", amount_micro_usdc: usdc(9) });
  const mine = aCredit();
  const otherDue = { ...due, nonprofit_id: 2, wallet: "Other" };

  test("is a gift to each, of its own transfer", () => {
    const landed = aTransfer({ credits: [other, mine] });
    expect(judgeProof(landed, due)).toEqual(ok({ credit: mine, memo: null }));
    expect(judgeProof(landed, otherDue)).toEqual(ok({ credit: other, memo: null }));
  });

  test("may carry a memo of each, or of one", () => {
    const memos = [memoFor(), memoFor({ nonprofit_id: 2, wallet: "Other" })];
    const landed = aTransfer({ credits: [other, mine], memos });
    expect(judgeProof(landed, due)).toEqual(ok({ credit: mine, memo: memos[0] ?? "" }));
    expect(judgeProof(landed, otherDue)).toEqual(ok({ credit: other, memo: memos[1] ?? "" }));
    const one = aTransfer({ credits: [other, mine], memos: memos.slice(1) });
    expect(judgeProof(one, due)).toEqual(ok({ credit: mine, memo: null }));
  });

  test("of one wallet is a gift to the one whom the memo names", () => {
    const shared = { ...due, nonprofit_id: 2 };
    const landed = aTransfer({ memos: [memoFor()] });
    expect(refusal(landed, due)).toBeNull();
    expect(judgeProof(landed, shared)).toEqual(fail({ kind: "foreign_memo" }));
  });
});

test("a transfer whose donor the chain cannot name is a gift all the same", () => {
  const credit = aCredit({ donor: null });
  expect(judgeProof(aTransfer({ credits: [credit] }), due)).toEqual(ok({ credit, memo: null }));
});
