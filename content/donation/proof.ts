import { fail, ok, type Result } from "#content/contract/result.ts";
import type { Commitment, Credit, Landed, MicroUsdc } from "#content/contract/transfer.ts";
import { asksToPay, type DonationMemo, type MemoSeal, readMemo } from "./memo.ts";

/** What a landed transaction is held against. */
export type Due = {
  nonprofit_id: number;
  /** The wallet in effect; null without one: then only a memo of an earlier one counts. */
  wallet: string | null;
  /** The wallet that was in effect when the proof was first handed in; null when it is not known. */
  wallet_then: string | null;
  /** Queryable for by the request that brought the proof; counts only for a transfer without our memo. */
  asked: MicroUsdc;
  /** When the proof was first handed in, milliseconds since 1970. */
  asked_at: number;
  /** How old a transfer without our memo may be then. */
  windowMs: number;
  commitment: Commitment;
  /** The token that counts. */
  mint: string;
  tokenAccountOf: (wallet: string) => string;
  seal: MemoSeal;
};

/** A transfer that counts as a gift. */
export type Gift = {
  credit: Credit;
  /** The memo that asked for it, null for a transfer that nobody here had asked for. */
  memo: string | null;
};

/** The transaction together with what its memos mean for this nonprofit. */
type Claim = {
  landed: Landed;
  /** What the nonprofit's token account was credited, null for nothing. */
  credit: Credit | null;
  /** The memo of ours that names this nonprofit and the wallet that was paid. */
  memo: string | null;
  /** Whether a memo names another nonprofit, and this transaction pays it nothing. */
  foreign: boolean;
};

/** A wallet that is no longer in effect counts for a payment that was already on its way when it changed. */
const formerWalletMs = 24 * 3_600_000;

/**
 * What makes a landed transfer a gift to this nonprofit. The first check that fails names the refusal; all of them mean
 * that money has moved or was lost on the way, so none may lead to another demand for payment. Source: decisions.md.
 */
export const proofChecks = {
  not_confirmed: ({ landed }: Claim, due: Due) =>
    weight[landed.commitment] >= weight[due.commitment],
  failed_on_chain: ({ landed }: Claim) => !landed.failed,
  wrong_token: ({ landed, credit }: Claim, due: Due) =>
    credit !== null || !paysOtherToken(landed, due),
  wrong_recipient: ({ credit }: Claim) => credit !== null,
  foreign_memo: ({ foreign }: Claim) => !foreign,
  // A wallet that signs may also empty an account of its own that a program keeps, or sell something to a pool.
  self_donation: ({ credit, landed }: Claim) =>
    credit === null || (credit.donor !== credit.owner && !landed.signers.includes(credit.owner)),
  age_unknown: ({ landed, memo }: Claim) => memo !== null || landed.block_time !== null,
  too_old: ({ landed, memo }: Claim, due: Due) =>
    memo !== null ||
    landed.block_time === null ||
    landed.block_time * 1_000 >= due.asked_at - due.windowMs,
  underpaid: ({ credit, memo }: Claim, due: Due) =>
    memo !== null || credit === null || credit.amount_micro_usdc >= due.asked,
} as const;

export type ProofRefusal = { kind: keyof typeof proofChecks };

/** Judges a landed transaction. The amount of the gift is what the account gained, whatever was asked for. */
export function judgeProof(landed: Landed, due: Due): Result<Gift, ProofRefusal> {
  const claim = claimOf(landed, due);
  for (const [kind, holds] of Object.entries(proofChecks)) {
    if (!holds(claim, due)) return fail({ kind: kind as ProofRefusal["kind"] });
  }
  const { credit, memo } = claim;
  return credit === null ? fail({ kind: "wrong_recipient" }) : ok({ credit, memo });
}

const weight: Record<Commitment, number> = { processed: 0, confirmed: 1, finalized: 2 };

type Memo = DonationMemo & { text: string };

function claimOf(landed: Landed, due: Due): Claim {
  const memos = landed.memos.flatMap((text): Memo[] => {
    const memo = readMemo(text, due.seal);
    return memo === null ? [] : [{ ...memo, text }];
  });
  const credits = landed.credits.filter((credit) => countsAsUsdc(credit, due));
  const asked = (memo: Memo, { owner }: Credit) => asksToPay(memo.text, owner, due.seal);
  const ours = memos.filter(({ nonprofit_id }) => nonprofit_id === due.nonprofit_id);
  const credit =
    credits.find(({ owner }) => owner === due.wallet) ??
    credits.find(({ owner }) => owner === due.wallet_then && isYoung(due.asked_at, landed)) ??
    credits.find((paid) =>
      ours.some((memo) => asked(memo, paid) && isYoung(memo.issued_at_s * 1_000, landed)),
    ) ??
    null;
  const memo = credit === null ? undefined : ours.find((one) => asked(one, credit));
  // One transaction may pay several nonprofits, each with a memo: those are accounted for by credits of their own.
  const foreign =
    memo === undefined &&
    memos.some(
      (other) =>
        other.nonprofit_id !== due.nonprofit_id &&
        !credits.some((paid) => paid !== credit && asked(other, paid)),
    );
  return { landed, credit, memo: memo?.text ?? null, foreign };
}

/** Whether a payment that began at an instant may still have been on its way when it landed. */
const isYoung = (beganMs: number, { block_time }: Landed): boolean =>
  block_time !== null && block_time * 1_000 - beganMs <= formerWalletMs;

const countsAsUsdc = ({ mint, destination, owner, amount_micro_usdc }: Credit, due: Due): boolean =>
  mint === due.mint && amount_micro_usdc > 0n && destination === due.tokenAccountOf(owner);

const paysOtherToken = ({ credits }: Landed, due: Due): boolean =>
  credits.some(({ mint, owner }) => owner === due.wallet && mint !== due.mint);
