import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { TransactionFacts, MicroUsdc } from "#content/contract/transfer.ts";
import { type Pending, pendingAnswer, recordedGift, type RecordedGift } from "./answers.ts";
import { type Due, type Gift, judgeProof } from "./payment-checks.ts";
import {
  closeIntent,
  type DonationIntent,
  hasRoom,
  intentOf,
  isUnderWay,
  type NewIntent,
  planWaiting,
} from "./intent-store.ts";
import { type Doubt, isLost, isRefusal, type Refusal } from "./intent-states.ts";
import { referenceOf } from "./memo.ts";
import { micro } from "#content/contract/base/money.ts";
import {
  type DonateTarget,
  type Donation,
  donationsOf,
  type NewDonation,
  planDonation,
} from "./store.ts";
import { type ChainUnclear, type GivingWorld, beforeDeadline, chainDeadline } from "./world.ts";
import { batchedStatements, batchedWrite } from "#content/store/write-batcher.ts";
import type { Deadline } from "#content/runtime/timing.ts";

export type ProofFailure =
  | { kind: Refusal | "not_watched" | "signature_not_found"; tx_signature: string }
  | (ChainUnclear & { tx_signature: string });

export type Proof = {
  target: DonateTarget;
  txSignature: string;
  /** The amount that the request names. */
  amount: MicroUsdc;
  /** Keyed hash of the IP network of the request; null when no one waits for an answer. */
  network: string | null;
};

/** The request itself looks at once; the sweep begins when the donor may have left. */
const proofSweptAfterMs = 4_000;

/**
 * Verifies a transaction on chain and records what it gave. If the chain does not show it yet, it is saved and followed
 * until it lands or can no longer land, so that a donor who asks once and leaves is still credited.
 */
export async function recordBySignature(
  world: GivingWorld,
  proof: Proof,
  deadline: Deadline = chainDeadline(),
): Promise<Result<RecordedGift | Pending, ProofFailure>> {
  const { txSignature } = proof;
  const gift = await recordedBefore(world, proof);
  if (gift !== null) return ok(gift);
  const landed = await beforeDeadline(deadline, world.chain.landed(txSignature));
  if (!landed.ok) return takeStep(world, proof, "chain_unclear", landed.failure.why);
  if (landed.value === null) return takeStep(world, proof, "absent");
  return recordLanded(world, proof, landed.value, deadline);
}

/**
 * Writes the intent's new state after an observation, and answers the request. The answer must not promise to record the
 * gift later if nothing follows it, nor ask to wait for what can no longer land.
 */
async function takeStep(
  world: GivingWorld,
  proof: Proof,
  sighting: Refusal | Doubt,
  why = "",
): Promise<Result<Pending, ProofFailure>> {
  const { target, txSignature: tx_signature } = proof;
  const intent = await intentOf(world.store, target.id, tx_signature);
  if (isRefusal(sighting)) {
    if (intent?.status === "waiting") {
      await batchedStatements(world.store, closeIntent(intent, sighting));
    }
    return fail({ kind: sighting, tx_signature });
  }
  const waitedMs = intent === null ? 0 : world.clock().getTime() - intent.created_at;
  if (sighting === "absent" && isGivenUp(intent, waitedMs)) {
    return fail({ kind: "signature_not_found", tx_signature });
  }
  // Asking again while it waits must not postpone the sweep.
  const isWatched = intent?.status === "waiting" || (await saveProof(world, proof));
  if (isUnclear(sighting)) {
    return fail({ kind: "chain_unclear", why, tx_signature });
  }
  return isWatched
    ? ok(pendingAnswer(target, tx_signature, waitedMs))
    : fail({ kind: "not_watched", tx_signature });
}

/** Whether the chain has not said enough to answer that the transaction is on its way. */
const isUnclear = (sighting: Doubt): boolean =>
  sighting === "chain_unclear" || sighting === "age_unknown";

/** Whether to give up on a proof. What we broadcast ourselves is ended only by the sweep. */
const isGivenUp = (intent: DonationIntent | null, ageMs: number): boolean =>
  intent !== null && !isUnderWay(intent) && isLost({ ageMs, unknown: intent.unknown });

/** The donation that this transaction is recorded as for this nonprofit; null when it is not recorded. */
export async function recordedBefore(
  world: GivingWorld,
  { target, txSignature }: Pick<Proof, "target" | "txSignature">,
): Promise<RecordedGift | null> {
  const donations = await donationsOf(world.store, txSignature);
  const mine = donations.find(({ nonprofit_id }) => nonprofit_id === target.id);
  return mine === undefined ? null : recordedGift(world, target, mine);
}

/** Judges a landed transaction and records it if it is a gift; a large gift only once it is finalized. */
export async function recordLanded(
  world: GivingWorld,
  proof: Proof,
  landed: TransactionFacts,
  deadline: Deadline = chainDeadline(),
): Promise<Result<RecordedGift | Pending, ProofFailure>> {
  const { target, txSignature } = proof;
  const intent = await intentOf(world.store, target.id, txSignature);
  const judged = judgeProof(landed, dueOf(world, proof, intent));
  if (judged.ok) {
    const donation = await recordGift(world, { target, landed, gift: judged.value });
    if (donation.nonprofit_id !== target.id) return takeStep(world, proof, "recorded_elsewhere");
    return ok(recordedGift(world, target, donation));
  }
  const { kind } = judged.failure;
  if (kind === "not_confirmed" && landed.commitment === "confirmed") {
    const final = await beforeDeadline(deadline, world.chain.landed(txSignature, "finalized"));
    if (final.ok && final.value !== null) return recordLanded(world, proof, final.value);
  }
  // A transaction that is no gift to this nonprofit may be one to another.
  const isOther = isRefusal(kind) && (await donationsOf(world.store, txSignature)).length > 0;
  const sighting = isOther ? "recorded_elsewhere" : kind;
  const why = sighting === "age_unknown" ? "the chain does not say when it was" : "";
  return takeStep(world, proof, sighting, why);
}

/** More transfers than anyone pays by mistake: others can name a reference to hide a transfer among many. */
const perMemoMax = 50;

/** Looks on chain for transfers that name a memo's reference, and records those that are gifts. Null if there are none. */
export async function recordByMemo(
  world: GivingWorld,
  target: DonateTarget,
  memo: string,
): Promise<Result<RecordedGift | null, ChainUnclear>> {
  const touching = await world.chain.signaturesOf(referenceOf(memo), perMemoMax);
  if (!touching.ok) return touching;
  let recorded: RecordedGift | null = null;
  // Anyone can name a reference in a transaction, so each one is judged.
  for (const txSignature of touching.value.toReversed()) {
    const landed = await world.chain.landed(txSignature);
    if (!landed.ok) return landed;
    if (landed.value === null || !landed.value.memos.includes(memo)) continue;
    const proof = { target, txSignature, amount: micro(0n), network: null };
    const outcome = await recordLanded(world, proof, landed.value);
    if (outcome.ok && outcome.value.kind === "recorded") recorded ??= outcome.value;
  }
  return ok(recorded);
}

/** A saved proof keeps the time and the wallet of its first request, so that asking again later makes no difference. */
const dueOf = (
  { clock, chain, seal, windowMs, commitment, finalizedAbove }: GivingWorld,
  { target, amount }: Proof,
  intent: DonationIntent | null,
): Due => ({
  nonprofit_id: target.id,
  wallet: target.usdc_wallet,
  wallet_then: intent?.recipient ?? null,
  // If two requests bring the transaction, the lower amount counts, because a higher transfer meets it.
  amount: intent !== null && intent.amount_micro_usdc < amount ? intent.amount_micro_usdc : amount,
  named_at: intent?.created_at ?? clock().getTime(),
  windowMs,
  commitment,
  finalized_above: finalizedAbove,
  mint: chain.mint,
  tokenAccountOf: (wallet) => chain.tokenAccountOf(wallet),
  seal,
});

/**
 * Records a gift, or finds it recorded, in one transaction that also closes the intents that waited for it. Whoever comes
 * second, in whatever process, gets what the first one stored.
 */
async function recordGift(
  { store, clock, seal }: GivingWorld,
  { target, landed, gift }: { target: DonateTarget; landed: TransactionFacts; gift: Gift },
): Promise<Donation> {
  const now = clock().getTime();
  const { memo } = gift;
  const { owner: recipient, ...credit } = gift.credit;
  const newDonation: NewDonation = {
    ...credit,
    nonprofit_id: target.id,
    network: seal.network,
    tx_signature: landed.tx_signature,
    slot: landed.slot,
    commitment: landed.commitment === "finalized" ? "finalized" : "confirmed",
    recipient,
    memo,
    settled_at: landed.block_time === null ? now : landed.block_time * 1_000,
    recorded_at: now,
  };
  return batchedWrite(store, [landed.tx_signature], async (reader) => {
    const { donation, statements } = await planDonation(reader, newDonation);
    const isOurs = donation.nonprofit_id === target.id;
    const proofs = isOurs ? [landed.tx_signature, ...(memo === null ? [] : [memo])] : [];
    const closing = proofs.map((proof) => closeIntent({ nonprofit_id: target.id, proof }, "gift"));
    return { statements: [...statements, ...closing], answer: () => donation };
  });
}

/** Saves a proof for the sweep. False when there is no room. */
function saveProof(world: GivingWorld, { target, txSignature, amount, network }: Proof) {
  const proof = { kind: "proof", proof: txSignature, amount_micro_usdc: amount, network } as const;
  return saveForSweep(world, target, proof, proofSweptAfterMs);
}

/** Saves what a client waits for; the sweep follows it after `sweptAfterMs`. False when there is no room. */
export async function saveForSweep(
  { store, clock }: GivingWorld,
  { id, usdc_wallet }: DonateTarget,
  waiting: Pick<NewIntent, "kind" | "proof" | "amount_micro_usdc" | "network">,
  sweptAfterMs: number,
): Promise<boolean> {
  if (!(await hasRoom(store))) return false;
  const now = clock();
  const check_at = now.getTime() + sweptAfterMs;
  const intent = { ...waiting, nonprofit_id: id, recipient: usdc_wallet, now, check_at };
  return batchedWrite(store, [waiting.proof, waiting.network ?? ""], async (reader) => {
    const saving = await planWaiting(reader, intent);
    return { statements: saving === null ? [] : [saving], answer: () => saving !== null };
  });
}
