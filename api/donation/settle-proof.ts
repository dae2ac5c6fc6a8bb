import type { ChainUnclear } from "#api/chain/chain.ts";
import { type Due, judgeProof, type ProofRefusal } from "#content/donation/proof.ts";
import type { PendingDonation } from "#content/contract/donation.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type { Landed, MicroUsdc } from "#content/contract/transfer.ts";
import type { DonateTarget } from "#content/donation/target.ts";
import {
  closeIntent,
  type DonationIntent,
  intentOf,
  keepIntent,
} from "#content/donation/intents.ts";
import { donationsOf } from "#content/donation/store.ts";
import { inTime, landedOnce, type Patience, patience } from "./chain-calls.ts";
import type { DonateContext } from "./donate-context.ts";
import { writeTogether } from "./donation-writes.ts";
import { recordGift, type Settled, settled } from "./record-donation.ts";

export type Pending = { kind: "pending"; pending: PendingDonation };

export type ProofFailure =
  | { kind: Exclude<ProofRefusal["kind"], "not_confirmed" | "age_unknown">; tx_signature: string }
  | { kind: "recorded_elsewhere"; tx_signature: string }
  | (ChainUnclear & { tx_signature: string | null });

export type Proof = {
  target: DonateTarget;
  txSignature: string;
  /** What the request that brought it asked to give. */
  asked: MicroUsdc;
};

const askAgainSeconds = 2;
/** The request itself looks at once; the sweep begins when the donor may have gone. */
const firstSweepMs = 4_000;

/**
 * Verifies a transaction on chain and records what it gave. What the chain does not show yet is kept, and looked for
 * until it lands or can no more: a donor who asks once and leaves is credited all the same.
 */
export async function settleProof(
  context: DonateContext,
  proof: Proof,
  patient: Patience = patience(),
): Promise<Result<Settled | Pending, ProofFailure>> {
  const { target, txSignature } = proof;
  const known = await recordedOf(context, proof);
  if (known !== null) return ok(known);
  const landed = await inTime(patient, landedOnce(context, txSignature));
  if (landed.ok && landed.value !== null) return settleLanded(context, proof, landed.value);
  await keepProof(context, proof);
  if (!landed.ok) return fail({ ...landed.failure, tx_signature: txSignature });
  return ok(pendingOf(target, txSignature));
}

/** The donation that this transaction is recorded as for this nonprofit, null when it is not. */
export async function recordedOf(
  context: DonateContext,
  { target, txSignature }: Pick<Proof, "target" | "txSignature">,
): Promise<Settled | null> {
  const known = await donationsOf(context.store, txSignature);
  const mine = known.find(({ nonprofit_id }) => nonprofit_id === target.id);
  return mine === undefined ? null : settled(context, target, mine);
}

/** Judges what the chain showed, and records it when it is a gift. */
export async function settleLanded(
  context: DonateContext,
  proof: Proof,
  landed: Landed,
): Promise<Result<Settled | Pending, ProofFailure>> {
  const { target, txSignature } = proof;
  const intent = await intentOf(context.store, target.id, txSignature);
  const judged = judgeProof(landed, dueOf(context, proof, intent));
  if (judged.ok) {
    const { donation } = await recordGift(context, { target, landed, gift: judged.value });
    if (donation.nonprofit_id !== target.id) {
      return refuse(context, proof, "recorded_elsewhere");
    }
    return ok(settled(context, target, donation));
  }
  const { kind } = judged.failure;
  if (kind === "not_confirmed" || kind === "age_unknown") {
    await keepProof(context, proof);
    if (kind === "not_confirmed") return ok(pendingOf(target, txSignature));
    const why = "the chain does not say when it was";
    return fail({ kind: "chain_unclear", why, tx_signature: txSignature });
  }
  const others = await donationsOf(context.store, txSignature);
  return refuse(context, proof, others.length > 0 ? "recorded_elsewhere" : kind);
}

/** Whoever asks again later is no later: a kept proof keeps the instant at which it first came, and the wallet of then. */
const dueOf = (
  { clock, chain, seal, windowMs, commitment }: DonateContext,
  { target, asked }: Proof,
  intent: DonationIntent | null,
): Due => ({
  nonprofit_id: target.id,
  wallet: target.usdc_wallet,
  wallet_then: intent?.recipient ?? null,
  // Of two requests that bring it, the one that asked for less is met by more.
  asked: intent !== null && intent.amount_micro_usdc < asked ? intent.amount_micro_usdc : asked,
  asked_at: intent?.created_at ?? clock().getTime(),
  windowMs,
  commitment,
  mint: chain.mint,
  tokenAccountOf: (wallet) => chain.tokenAccountOf(wallet),
  seal,
});

async function refuse(
  { store }: DonateContext,
  { target, txSignature }: Proof,
  kind: Exclude<ProofFailure["kind"], "chain_unclear">,
): Promise<Result<Settled | Pending, ProofFailure>> {
  const intent = await intentOf(store, target.id, txSignature);
  if (intent?.status === "waiting") {
    const closed = {
      nonprofit_id: target.id,
      proof: txSignature,
      status: "refused",
      outcome: kind,
    } as const;
    await writeTogether(store, (tx) => closeIntent(tx, closed));
  }
  return fail({ kind, tx_signature: txSignature });
}

async function keepProof(
  { store, clock }: DonateContext,
  { target, txSignature, asked }: Proof,
): Promise<void> {
  const intent = await intentOf(store, target.id, txSignature);
  // Whoever asks again while it waits must not put the sweep off.
  if (intent?.status === "waiting") return;
  const now = clock();
  await writeTogether(store, (tx) =>
    keepIntent(tx, {
      kind: "proof",
      nonprofit_id: target.id,
      proof: txSignature,
      recipient: target.usdc_wallet,
      amount_micro_usdc: asked,
      payment: null,
      blockhash: null,
      now,
      check_at: now.getTime() + firstSweepMs,
    }),
  );
}

export const pendingOf = ({ slug }: DonateTarget, txSignature: string): Pending => ({
  kind: "pending",
  pending: {
    status: "pending",
    tx_signature: txSignature,
    retry_after_s: askAgainSeconds,
    message: `The chain does not show this transaction yet. Do not pay again: POST {"tx_signature": "${txSignature}"} to /api/donate/${slug}, or wait; it is recorded as soon as it lands.`,
  },
});
