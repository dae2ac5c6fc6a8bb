import { fail, ok, type Result } from "#content/shapes/result.ts";
import { closeIntent, intentOf, keepIntent } from "#content/store/donation-intents.ts";
import { inTime, isKnown, landedOnce, type Patience, patience } from "./chain-calls.ts";
import { within } from "./within.ts";
import type { DonateParts } from "./donate-parts.ts";
import { writeTogether } from "./donation-writes.ts";
import { notTaken, type PaymentFailure, type Signed } from "./payment-failures.ts";
import type { Settled } from "./record-donation.ts";
import {
  type Pending,
  pendingOf,
  type Proof,
  type ProofFailure,
  settleLanded,
} from "./settle-proof.ts";

/** How long a request waits for its payment to land. Most do within two seconds. */
const landWaitMs = 12_000;
const lookMsMin = 1_000;
const lookEveryMs = { first: 100, most: 800 } as const;
/** The sweep leaves a payment to its request as long as that may be waiting. */
const firstSweepMs = 15_000;

/**
 * Broadcasts a payment that has passed every check, waits until it lands, and records it. Its signature is on disk
 * before the chain sees it, so that no crash loses it. Answers "not taken" only for one that certainly did not move
 * money: a failed trial run of one that was never sent.
 */
export async function broadcast(
  parts: DonateParts,
  proof: Proof,
  payment: Signed,
): Promise<Result<Settled | Pending, PaymentFailure>> {
  const patient = patience();
  const intent = await intentOf(parts.store.raw, proof.target.id, proof.txSignature);
  // Of one that was sent before, a trial run says nothing: what makes it fail now may be that it landed.
  const sentBefore = intent?.kind === "payment" && intent.status === "waiting";
  if (!sentBefore) {
    const tried = await inTime(patient, parts.chain.simulate(payment));
    if (!tried.ok) return notSent(parts, proof, patient, tried.failure);
    await keepPayment(parts, proof, payment);
  }
  const sent = await inTime(patient, parts.chain.send(payment));
  if (!sent.ok && sent.failure.kind === "chain_unclear") return unclear(proof, sent.failure.why);
  if (!sent.ok && !sentBefore) {
    const refused = await notSent(parts, proof, patient, sent.failure);
    if (!refused.ok && refused.failure.kind === "payment_not_taken") await close(parts, proof);
    return refused;
  }
  return waitUntilLanded(parts, proof, patient);
} // prettier-ignore

/** The chain would not take it. The donor may have broadcast it alone: then money has moved after all. */
async function notSent(
  parts: DonateParts,
  proof: Proof,
  patient: Patience,
  failure: { kind: "chain_unclear" | "payment_fails"; why: string },
): Promise<Result<Settled | Pending, PaymentFailure>> {
  if (failure.kind === "chain_unclear") return unclear(proof, failure.why);
  const known = await inTime(patient, isKnown(parts, proof.txSignature));
  if (!known.ok) return unclear(proof, known.failure.why);
  return known.value ? waitUntilLanded(parts, proof, patient) : notTaken("payment_fails", failure.why);
} // prettier-ignore

async function waitUntilLanded(
  parts: DonateParts,
  proof: Proof,
  patient: Patience,
): Promise<Result<Settled | Pending, ProofFailure>> {
  let pauseMs: number = lookEveryMs.first;
  for (let waitedMs = 0; waitedMs < landWaitMs; waitedMs += pauseMs) {
    const lookMs = Math.max(patient.leftMs(), lookMsMin);
    const landed = await within(landedOnce(parts, proof.txSignature), lookMs);
    if (landed?.ok === true && landed.value !== null)
      return settleLanded(parts, proof, landed.value);
    // It was sent: the donor must not be told of a failure, and pay again. The sweep goes on.
    if (landed?.ok !== true && patient.leftMs() === 0) break;
    await parts.pause(pauseMs);
    pauseMs = Math.min(pauseMs * 2, lookEveryMs.most);
  }
  return ok(pendingOf(proof.target, proof.txSignature));
}

const unclear = ({ txSignature }: Proof, why: string) =>
  fail({ kind: "chain_unclear" as const, why, tx_signature: txSignature });

const keepPayment = (
  { store, clock }: DonateParts,
  { target, asked }: Proof,
  { tx_signature, bytes, blockhash }: Signed,
): Promise<void> => {
  const now = clock();
  return writeTogether(store, (tx) =>
    keepIntent(tx, {
      kind: "payment",
      nonprofit_id: target.id,
      proof: tx_signature,
      amount_micro_usdc: asked,
      payment: Buffer.from(bytes).toString("base64"),
      blockhash,
      now,
      check_at: now.getTime() + firstSweepMs,
    }),
  );
};

/** It was kept, and then the chain refused it before taking it: nothing is left to wait for. */
const close = ({ store }: DonateParts, { target, txSignature }: Proof): Promise<void> =>
  writeTogether(store, (tx) =>
    closeIntent(tx, {
      nonprofit_id: target.id,
      proof: txSignature,
      status: "refused",
      outcome: "payment_fails",
    }),
  );
