import { fail, ok, type Result } from "#content/contract/result.ts";
import { closeIntent, intentOf, isUnderWay, keepIntent } from "#content/donation/intents.ts";
import { inTime, isKnown, landedOnce, type Patience, patience } from "./chain-calls.ts";
import { inTurn, once } from "#content/runtime/keyed-lock.ts";
import { within } from "#content/runtime/with-timeout.ts";
import type { DonateContext } from "./donate-context.ts";
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
/** How long a payment waits for an earlier one from the same account. */
const turnWaitMs = 10_000;

type Outcome = Result<Settled | Pending, PaymentFailure>;

/**
 * Broadcasts a payment that has passed every check, waits until it lands, and records it. Its signature is on disk
 * before the chain sees it, so that no crash loses it. Answers "not taken" only for one that certainly did not move
 * money: one that nobody sent, or whose only sender was told that it cannot land.
 */
export const broadcast = (
  context: DonateContext,
  proof: Proof,
  payment: Signed,
): Promise<Outcome> =>
  once(context.chain, `broadcast ${proof.target.id} ${proof.txSignature}`, async () => {
    if (payment.fee_payer !== context.chain.sponsor) return send(context, proof, payment);
    // Of two sponsored payments of the same money one fails on chain, and the sponsor would pay for that.
    const turn = { key: `money ${payment.transfer?.source}`, waitMs: turnWaitMs };
    const sent = await inTurn(context.chain, turn, () => send(context, proof, payment));
    return sent ?? notTaken("earlier_payment");
  });

async function send(context: DonateContext, proof: Proof, payment: Signed): Promise<Outcome> {
  const patient = patience();
  // Whoever keeps it sends it; after that the sweep does. A trial run would say nothing: it may fail because it landed.
  if (await isKept(context, proof)) return waitForKeeper(context, proof, patient);
  const tried = await inTime(patient, context.chain.simulate(payment));
  if (!tried.ok) {
    const refused = await notSent(context, proof, patient, tried.failure);
    // Another process may have kept it meanwhile, with a node that knows more.
    const isElsewhere = isRefusal(refused) && (await isKept(context, proof));
    return isElsewhere ? waitForKeeper(context, proof, patient) : refused;
  }
  if (!(await keepPayment(context, proof, payment))) return waitForKeeper(context, proof, patient);
  const sent = await inTime(patient, context.chain.send(payment));
  if (sent.ok) return waitUntilLanded(context, proof, patient);
  const refused = await notSent(context, proof, patient, sent.failure);
  if (isRefusal(refused)) await close(context, proof);
  return refused;
}

const isRefusal = (outcome: Outcome): boolean =>
  !outcome.ok && outcome.failure.kind === "payment_not_taken";

const isKept = async ({ store }: DonateContext, { target, txSignature }: Proof): Promise<boolean> =>
  isUnderWay(await intentOf(store, target.id, txSignature));

async function waitForKeeper(
  context: DonateContext,
  proof: Proof,
  patient: Patience,
): Promise<Outcome> {
  const waited = await waitUntilLanded(context, proof, patient);
  if (!waited.ok || waited.value.kind === "settled") return waited;
  const intent = await intentOf(context.store, proof.target.id, proof.txSignature);
  return intent?.outcome === refusedByChain ? notTaken(refusedByChain) : waited;
}

/** How an intent ends whose only sender was told that it cannot land. */
const refusedByChain = "payment_fails";

/** The chain would not take it. The donor may have broadcast it alone: then money has moved after all. */
async function notSent(
  context: DonateContext,
  proof: Proof,
  patient: Patience,
  failure: { kind: "chain_unclear" | "payment_fails"; why: string },
): Promise<Outcome> {
  if (failure.kind === "chain_unclear") return unclear(proof, failure.why);
  const known = await inTime(patient, isKnown(context, proof.txSignature));
  if (!known.ok) return unclear(proof, known.failure.why);
  return known.value
    ? waitUntilLanded(context, proof, patient)
    : notTaken("payment_fails", failure.why);
}

async function waitUntilLanded(
  context: DonateContext,
  proof: Proof,
  patient: Patience,
): Promise<Result<Settled | Pending, ProofFailure>> {
  let pauseMs: number = lookEveryMs.first;
  for (let waitedMs = 0; waitedMs < landWaitMs; waitedMs += pauseMs) {
    const lookMs = Math.max(patient.leftMs(), lookMsMin);
    const landed = await within(landedOnce(context, proof.txSignature), lookMs);
    if (landed?.ok === true && landed.value !== null)
      return settleLanded(context, proof, landed.value);
    // It was sent: the donor must not be told of a failure, and pay again. The sweep goes on.
    if (landed?.ok !== true && patient.leftMs() === 0) break;
    await context.pause(pauseMs);
    pauseMs = Math.min(pauseMs * 2, lookEveryMs.most);
  }
  return ok(pendingOf(proof.target, proof.txSignature));
}

const unclear = ({ txSignature }: Proof, why: string) =>
  fail({ kind: "chain_unclear" as const, why, tx_signature: txSignature });

/** False when another process has kept it: then that one sends it. */
function keepPayment(
  { store, clock }: DonateContext,
  { target, asked }: Proof,
  { tx_signature, bytes, blockhash }: Signed,
): Promise<boolean> {
  const now = clock();
  return writeTogether(store, async (tx) => {
    if (isUnderWay(await intentOf(tx, target.id, tx_signature))) return false;
    await keepIntent(tx, {
      kind: "payment",
      nonprofit_id: target.id,
      proof: tx_signature,
      recipient: target.usdc_wallet,
      amount_micro_usdc: asked,
      payment: Buffer.from(bytes).toString("base64"),
      blockhash,
      now,
      check_at: now.getTime() + firstSweepMs,
    });
    return true;
  });
}

/** It was kept, and then the chain refused it before taking it: nothing is left to wait for. */
const close = ({ store }: DonateContext, { target, txSignature }: Proof): Promise<void> =>
  writeTogether(store, (tx) =>
    closeIntent(tx, {
      nonprofit_id: target.id,
      proof: txSignature,
      status: "refused",
      outcome: refusedByChain,
    }),
  );
