import type { notTakenReasons } from "#content/contract/donation-problems.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import {
  claimPayment,
  closeIntent,
  intentOf,
  isBroadcasting,
  isSourceBusy,
  refusedByChain,
} from "./intent-store.ts";
import { feeLamports } from "./sponsor-store.ts";
import { singleFlight } from "#content/runtime/single-flight.ts";
import { within } from "#content/runtime/with-timeout.ts";
import type { GivingWorld } from "./world.ts";
import { batchedWrite } from "#content/store/write-batcher.ts";
import {
  type Pending,
  pendingAnswer,
  type Proof,
  type ProofFailure,
  type RecordedGift,
  recordLanded,
} from "./proof.ts";
import {
  type SignedPayment,
  chainDeadline,
  beforeDeadline,
  type Deadline,
  isOnChain,
} from "./chain.ts";

/** No money has moved, and none will by this payment: the donor may be asked for another one. */
export type PaymentNotTaken = {
  kind: "payment_not_taken";
  why: keyof typeof notTakenReasons;
  /** What the chain or the sponsor said, "" for nothing. */
  detail: string;
  /** The donor, where the sponsor does not pay the fee and the donor may. */
  payer: string | null;
};

export const notTaken = (
  why: PaymentNotTaken["why"],
  detail = "",
  payer: string | null = null,
): { readonly ok: false; readonly failure: PaymentNotTaken } =>
  fail({ kind: "payment_not_taken", why, detail, payer });

/** How long a request waits for its payment to land. Most do within two seconds. */
const landWaitMs = 12_000;
const lookMsMin = 1_000;
const lookEveryMs = { first: 100, most: 800 } as const;
/** The sweep leaves a payment to its request as long as that may be waiting. */
const firstSweepMs = 15_000;
/** How long a sponsored payment waits for an earlier one from the same account, and how often it looks. */
const sourceWaitMs = 10_000;
const sourceLookMs = 250;

type Outcome = Result<RecordedGift | Pending, PaymentNotTaken | ProofFailure>;

/**
 * Broadcasts a payment that has passed every check, waits until it lands, and records it. Its signature is on disk
 * before the chain sees it, so that no crash loses it. Answers "not taken" only for one that certainly did not move
 * money: one that was never sent, or whose only sender heard that it cannot land.
 */
export const broadcast = (
  world: GivingWorld,
  proof: Proof,
  payment: SignedPayment,
): Promise<Outcome> =>
  singleFlight(world.chain, `broadcast ${proof.target.id} ${proof.txSignature}`, async () => {
    for (let waitedMs = 0; waitedMs < sourceWaitMs; waitedMs += sourceLookMs) {
      const sent = await send(world, proof, payment);
      if (sent !== "source_busy") return sent;
      await world.pause(sourceLookMs);
    }
    return notTaken("earlier_payment");
  });

async function send(
  world: GivingWorld,
  proof: Proof,
  payment: SignedPayment,
): Promise<Outcome | "source_busy"> {
  const deadline = chainDeadline();
  // Who saved it sends it; after that the sweep does. A trial run would say nothing: it may fail because it landed.
  if (await isSaved(world, proof)) return waitForSender(world, proof, deadline);
  if (await isSourceBusy(world.store, sponsoredSource(world, payment))) return "source_busy";
  const tried = await beforeDeadline(deadline, world.chain.simulate(payment));
  if (!tried.ok) {
    const refused = await notSent(world, proof, deadline, tried.failure);
    // Another process may have saved it meanwhile, with a node that knows more.
    const isElsewhere = isRefusal(refused) && (await isSaved(world, proof));
    return isElsewhere ? waitForSender(world, proof, deadline) : refused;
  }
  const claimed = await claim(world, proof, payment);
  if (claimed === "source_busy") return claimed;
  if (claimed === "elsewhere") return waitForSender(world, proof, deadline);
  if (claimed !== "claimed") return notTaken(claimed, "", payerOf(payment));
  const sent = await beforeDeadline(deadline, world.chain.send(payment));
  if (sent.ok) return waitUntilLanded(world, proof, deadline);
  const refused = await notSent(world, proof, deadline, sent.failure);
  if (isRefusal(refused)) await close(world, proof);
  return refused;
}

const payerOf = ({ transfer }: SignedPayment): string | null => transfer?.authority ?? null;

/**
 * The token account of a payment whose fee the sponsor pays. Of two such payments of the same money one would fail on
 * chain at the sponsor's cost, so they go one after the other, in whatever process.
 */
const sponsoredSource = ({ chain }: GivingWorld, payment: SignedPayment): string | null =>
  payment.fee_payer === chain.sponsor ? (payment.transfer?.source ?? null) : null;

const isRefusal = (outcome: Outcome): boolean =>
  !outcome.ok && outcome.failure.kind === "payment_not_taken";

const isSaved = async ({ store }: GivingWorld, { target, txSignature }: Proof): Promise<boolean> =>
  isBroadcasting(await intentOf(store, target.id, txSignature));

async function waitForSender(
  world: GivingWorld,
  proof: Proof,
  deadline: Deadline,
): Promise<Outcome> {
  const waited = await waitUntilLanded(world, proof, deadline);
  if (!waited.ok || waited.value.kind === "recorded") return waited;
  const intent = await intentOf(world.store, proof.target.id, proof.txSignature);
  return intent?.outcome === refusedByChain ? notTaken(refusedByChain) : waited;
}

/** The chain would not take it. The donor may have broadcast it alone: then money has moved after all. */
async function notSent(
  world: GivingWorld,
  proof: Proof,
  deadline: Deadline,
  failure: { kind: "chain_unclear" | "payment_fails"; why: string },
): Promise<Outcome> {
  if (failure.kind === "chain_unclear") return unclear(proof, failure.why);
  const known = await beforeDeadline(deadline, isOnChain(world.chain, proof.txSignature));
  if (!known.ok) return unclear(proof, known.failure.why);
  return known.value
    ? waitUntilLanded(world, proof, deadline)
    : notTaken("payment_fails", failure.why);
}

async function waitUntilLanded(
  world: GivingWorld,
  proof: Proof,
  deadline: Deadline,
): Promise<Result<RecordedGift | Pending, ProofFailure>> {
  let pauseMs: number = lookEveryMs.first;
  for (let waitedMs = 0; waitedMs < landWaitMs; waitedMs += pauseMs) {
    const lookMs = Math.max(deadline.leftMs(), lookMsMin);
    const landed = await within(world.chain.landed(proof.txSignature), lookMs);
    if (landed?.ok === true && landed.value !== null) {
      return recordLanded(world, proof, landed.value);
    }
    // It was sent: the donor must not hear of a failure, and pay again. The sweep goes on.
    if (landed?.ok !== true && deadline.leftMs() === 0) break;
    await world.pause(pauseMs);
    pauseMs = Math.min(pauseMs * 2, lookEveryMs.most);
  }
  return ok(pendingAnswer(proof.target, proof.txSignature));
}

const unclear = ({ txSignature }: Proof, why: string) =>
  fail({ kind: "chain_unclear" as const, why, tx_signature: txSignature });

function claim(
  world: GivingWorld,
  { target, asked }: Proof,
  payment: SignedPayment,
): ReturnType<typeof claimPayment> {
  const now = world.clock();
  const isSponsored = payment.fee_payer === world.chain.sponsor;
  const claimed = {
    kind: "payment",
    nonprofit_id: target.id,
    proof: payment.tx_signature,
    recipient: target.usdc_wallet,
    amount_micro_usdc: asked,
    payment: Buffer.from(payment.bytes).toString("base64"),
    blockhash: payment.blockhash,
    sponsored_source: sponsoredSource(world, payment),
    sponsored_lamports: isSponsored ? feeLamports(payment) : null,
    sponsored_donor: isSponsored ? (payment.transfer?.authority ?? null) : null,
    now,
    check_at: now.getTime() + firstSweepMs,
  } as const;
  return batchedWrite(world.store, (tx) => claimPayment(tx, claimed, world.sponsorBudget));
}

/** It was saved, and then the chain refused it before taking it: there is nothing left to wait for. */
const close = ({ store }: GivingWorld, { target, txSignature }: Proof): Promise<void> =>
  batchedWrite(store, (tx) =>
    closeIntent(tx, { nonprofit_id: target.id, proof: txSignature }, "refused", refusedByChain),
  );
