import { safeLink } from "#content/nonprofit/safe-link.ts";
import type { DonationStatus } from "#content/contract/donation.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import { intentOf } from "./intent-store.ts";
import { readMemo } from "./memo.ts";
import { type DonateTarget, donationsFor } from "./store.ts";
import { type ChainUnclear, type GivingWorld, beforeDeadline, chainDeadline } from "./world.ts";
import {
  type ClientPayment,
  notTakenWords,
  type PaymentFailure,
  type PaymentNotTaken,
  takePayment,
} from "./payment.ts";
import {
  askAgainSeconds,
  type Demand,
  demandPayment,
  type Pending,
  recordedGift,
  type RecordedGift,
} from "./answers.ts";
import { recordByMemo, recordBySignature, saveForSweep } from "./proof.ts";

export type DonateCall = {
  slug: string;
  /** The amount that the request names. */
  amount: MicroUsdc;
  /** Wallet of a donor who pays the network fee. */
  payer: string | null;
  /** Keyed hash of the client's network. */
  network: string;
  /** A signed payment, or the signature of a transfer that the donor broadcast; null: the request asks what to pay. */
  proof:
    | { kind: "payment"; payment: ClientPayment }
    | { kind: "signature"; tx_signature: string }
    | null;
};

export type DonateOutcome = { kind: "demanded"; demand: Demand } | RecordedGift | Pending;

export type TargetFailure =
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "nonprofit_withdrawn"; slug: string };

/** No node of the chain answers, so no one can pay. */
type ChainAway = { kind: "chain_away" };
type NoWallet = { kind: "nonprofit_without_wallet"; slug: string; donation_url: string | null };

export type DonateFailure =
  | TargetFailure
  | NoWallet
  | ChainAway
  | Exclude<PaymentFailure, PaymentNotTaken>;

const paymentRequired = {
  code: "payment_required",
  error:
    "No money has moved. Pay with an x402 client, or transfer USDC to the recipient with this memo and POST {tx_signature}.",
};

/**
 * Without a proof, answers what to pay; with a proof, answers what the chain holds. Demands a payment only if no money has
 * moved.
 */
export async function donate(
  world: GivingWorld,
  call: DonateCall,
): Promise<Result<DonateOutcome, DonateFailure>> {
  const { slug, proof, amount, network } = call;
  const target = await world.targetOf(slug);
  if (target === null) return fail({ kind: "nonprofit_not_found", slug });
  if (proof?.kind === "signature") {
    return recordBySignature(world, { target, txSignature: proof.tx_signature, amount, network });
  }
  if (proof === null) return askToPay(world, call, target, paymentRequired);
  // Without a wallet nothing is sent, but what was paid before the profile was withdrawn is still recorded.
  const payable = target.status === "withdrawn" ? { ...target, usdc_wallet: null } : target;
  const { payment } = proof;
  const outcome = await takePayment(world, { target: payable, amount, network, payment });
  if (outcome.ok || outcome.failure.kind !== "payment_not_taken") {
    return outcome as Result<RecordedGift | Pending, Exclude<PaymentFailure, PaymentNotTaken>>;
  }
  const { payer } = outcome.failure;
  return askToPay(
    world,
    { ...call, payer: payer ?? call.payer },
    target,
    notTakenWords(outcome.failure),
  );
}

async function askToPay(
  world: GivingWorld,
  { amount, payer }: DonateCall,
  target: DonateTarget,
  why: { code: string; error: string },
): Promise<Result<DonateOutcome, TargetFailure | NoWallet | ChainAway>> {
  const { slug, usdc_wallet } = target;
  if (target.status === "withdrawn") return fail({ kind: "nonprofit_withdrawn", slug });
  if (usdc_wallet === null) {
    const donation_url = safeLink(target.donation_url);
    return fail({ kind: "nonprofit_without_wallet", slug, donation_url });
  }
  if ((await world.chain.health()).why !== null) return fail({ kind: "chain_away" });
  const payable = { ...target, usdc_wallet };
  const demand = await demandPayment(world, { target: payable, amount, payer }, why);
  return ok({ kind: "demanded" as const, demand });
}

export type StatusFailure =
  | TargetFailure
  | { kind: "memo_unknown" }
  | { kind: "not_watched" }
  | ChainUnclear;

/** The donor's page asks while it is open; the sweep starts after this time. */
const memoSweptAfterMs = 30_000;

/**
 * Whether the transfer with a memo has arrived. Looks on chain and records what it finds, so that the donor need not report
 * the transfer. From the first request on, the sweep looks for the memo too, for at most two hours. All who ask for a memo
 * share one watch and one look; a network with too many watches gets no new one.
 */
export async function donationStatus(
  world: GivingWorld,
  { slug, memo, network }: { slug: string; memo: string; network: string },
): Promise<Result<DonationStatus, StatusFailure>> {
  const target = await world.targetOf(slug);
  if (target === null) return fail({ kind: "nonprofit_not_found", slug });
  const donations = await donationsFor(world.store, memo);
  const mine = donations.find(({ nonprofit_id }) => nonprofit_id === target.id);
  if (mine !== undefined) return ok(received(memo, recordedGift(world, target, mine).settlement));
  if (target.status === "withdrawn") return fail({ kind: "nonprofit_withdrawn", slug });
  const read = readMemo(memo, world.seal);
  if (read?.nonprofit_id !== target.id) return fail({ kind: "memo_unknown" });
  if ((await intentOf(world.store, target.id, memo))?.status !== "waiting") {
    const watch = { kind: "watch", proof: memo, amount_micro_usdc: read.amount, network } as const;
    const isWatched = await saveForSweep(world, target, watch, memoSweptAfterMs);
    if (!isWatched) return fail({ kind: "not_watched" });
  }
  const askedForMs = world.clock().getTime() - 1_000 * read.issued_at_s;
  const pending = { memo, retry_after_s: askAgainSeconds(askedForMs, 3), settlement: null };
  if (world.looked.has(memo)) return ok({ status: "pending", ...pending });
  world.looked.set(memo, true);
  const outcome = await beforeDeadline(chainDeadline(), recordByMemo(world, target, memo));
  if (!outcome.ok) {
    // After an unclear answer the client may ask again at once.
    world.looked.delete(memo);
    return outcome;
  }
  if (outcome.value !== null) return ok(received(memo, outcome.value.settlement));
  return ok({ status: "pending", ...pending });
}

const received = (memo: string, settlement: DonationStatus["settlement"]): DonationStatus => ({
  status: "received",
  memo,
  settlement,
});
