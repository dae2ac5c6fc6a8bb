import notTakenReasons from "#content/editorial/payments-not-taken.json";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import { singleFlight } from "#content/runtime/concurrency.ts";
import { type Deadline, withTimeout } from "#content/runtime/timing.ts";
import { batchedStatements, batchedWrite } from "#content/store/write-batcher.ts";
import { isSound, judgePayment, type PaymentDue } from "./payment-checks.ts";
import {
  type NotClaimed,
  closeIntent,
  feeLamports,
  intentOf,
  isUnderWay,
  isSourceBusy,
  planClaim,
} from "./intent-store.ts";
import type { Ending } from "./intent-states.ts";
import { asksToPay, readMemo } from "./memo.ts";
import { type DonateTarget, donationsOf } from "./store.ts";
import {
  type GivingWorld,
  type Payment,
  type SignedPayment,
  beforeDeadline,
  chainDeadline,
  isOnChain,
} from "./world.ts";
import { type Pending, pendingAnswer, type RecordedGift } from "./answers.ts";
import {
  type Proof,
  type ProofFailure,
  recordBySignature,
  recordedBefore,
  recordLanded,
} from "./proof.ts";

/** A payment as a client sent it in a header of x402 version 1 or 2. */
export type ClientPayment = {
  /** x402's name of the chain: solana in version 1, CAIP-2 in version 2. */
  network: string;
  scheme: string;
  /** The signed transaction, base64. */
  transaction: string;
};

type PaymentCall = {
  target: DonateTarget;
  /** The amount that the request names; it counts for a client that dropped our memo. */
  amount: MicroUsdc;
  /** Keyed hash of the client's IP network. */
  network: string;
  payment: ClientPayment;
};

/** This payment moved no money and never will, so the donor may be asked for another one. */
export type PaymentNotTaken = {
  kind: "payment_not_taken";
  /** The key, in the table of reasons, of the code and words of the 402 that follows. */
  why: keyof typeof notTakenReasons;
  /** What the chain or the sponsor said; "" for nothing. */
  detail: string;
  /** The donor, when the donor may pay the fee that the sponsor does not pay. */
  payer: string | null;
};

export type PaymentFailure =
  | PaymentNotTaken
  | ProofFailure
  | { kind: "payment_malformed"; why: string };

type Outcome = Result<RecordedGift | Pending, PaymentFailure>;

/**
 * Takes a signed payment: checks it, adds the sponsor's signature if it is missing, broadcasts it and records what landed.
 * Nothing is sent before every check has passed.
 */
export async function takePayment(world: GivingWorld, call: PaymentCall): Promise<Outcome> {
  const read = world.chain.readPayment(call.payment.transaction);
  if (!read.ok) return read;
  const checked = check(world, call, read.value);
  if (!checked.ok) return refuseUnlessMade(world, call, read.value, checked.failure);
  const { signed, amount } = checked.value;
  const { target, network } = call;
  const proof = { target, txSignature: signed.tx_signature, amount, network };
  const gift = await recordedBefore(world, proof);
  return gift === null ? broadcast(world, proof, signed) : ok(gift);
}

function check(
  world: GivingWorld,
  call: PaymentCall,
  payment: Payment,
): Result<{ signed: SignedPayment; amount: MicroUsdc }, PaymentNotTaken> {
  const amount = amountOf(world, call, payment);
  if (!amount.ok) return amount;
  const judged = judgePayment(payment, dueOf(world, call, amount.value));
  if (!judged.ok) return notTaken(judged.failure.kind);
  const signed = signedBy(world, payment);
  return signed.ok ? ok({ signed: signed.value, amount: amount.value }) : signed;
}

/**
 * A payment that is refused here may still have been made, by an earlier request or by the donor alone. Then the chain
 * decides what it is worth: the donor would pay a second demand as well.
 */
async function refuseUnlessMade(
  world: GivingWorld,
  call: PaymentCall,
  payment: Payment,
  refusal: PaymentNotTaken,
): Promise<Outcome> {
  const { target, amount, network } = call;
  const txSignature = signatureOf(world, call, payment);
  if (txSignature === null) return fail(refusal);
  const deadline = chainDeadline();
  const proof = { target, txSignature, amount, network };
  if (await wasTaken(world, proof, payment)) return recordBySignature(world, proof, deadline);
  // If a signature is missing, only we could have completed and sent it, and our store does not know it.
  if (payment.unsigned.length > 0) return fail(refusal);
  const onChain = await beforeDeadline(deadline, isOnChain(world.chain, txSignature));
  if (!onChain.ok) return fail({ ...onChain.failure, tx_signature: txSignature });
  return onChain.value ? recordBySignature(world, proof, deadline) : fail(refusal);
}

/**
 * The signature under which the chain would know this payment; null when it cannot land. For this search only, the sponsor's
 * signature is added, and only to what the sponsor would have signed; it is sent only if the transaction was found.
 */
function signatureOf(world: GivingWorld, call: PaymentCall, payment: Payment): string | null {
  if (payment.badly_signed.length > 0) return null;
  if (payment.unsigned.length === 0) return payment.tx_signature;
  if (!isSound(payment, dueOf(world, call, call.amount))) return null;
  const signed = signedBy(world, payment);
  return signed.ok ? signed.value.tx_signature : null;
}

/** Whether an earlier request brought the payment, for this nonprofit or for one that its memos name. */
async function wasTaken(
  { store, seal }: GivingWorld,
  { target, txSignature }: Proof,
  { memos }: Payment,
): Promise<boolean> {
  if ((await donationsOf(store, txSignature)).length > 0) return true;
  const named = memos.flatMap((text) => readMemo(text, seal)?.nonprofit_id ?? []);
  for (const id of new Set([target.id, ...named])) {
    if (isUnderWay(await intentOf(store, id, txSignature))) return true;
  }
  return false;
}

/** The amount that this payment must have: that of our memo, or the request's when the client dropped the memo. */
function amountOf(
  { chain, offeredNetwork, seal }: GivingWorld,
  { target, amount: requested, payment: { network, scheme } }: PaymentCall,
  { memos }: Payment,
): Result<MicroUsdc, PaymentNotTaken> {
  if (scheme !== "exact") return notTaken("unsupported_scheme");
  if (![chain.network, chain.caip2, offeredNetwork].includes(network))
    return notTaken("wrong_network");
  let amount: MicroUsdc | null = null;
  for (const text of memos) {
    const memo = readMemo(text, seal);
    if (memo === null) continue;
    const isOurs =
      memo.nonprofit_id === target.id && asksToPay(text, target.usdc_wallet ?? "", seal);
    // This includes a memo for a wallet no longer in effect: the money must go to the current one.
    if (!isOurs || amount !== null) return notTaken("foreign_memo");
    amount = memo.amount;
  }
  return ok(amount ?? requested);
}

const dueOf = (
  { chain, sponsoredMin }: GivingWorld,
  { target }: PaymentCall,
  amount: MicroUsdc,
): PaymentDue => ({
  amount,
  mint: chain.mint,
  // Without a wallet, no account is the right one.
  recipient: target.usdc_wallet ?? "",
  destination: target.usdc_wallet === null ? "" : chain.tokenAccountOf(target.usdc_wallet),
  sponsor: chain.sponsor,
  sponsorTokenAccount: chain.sponsor === null ? null : chain.tokenAccountOf(chain.sponsor),
  sponsoredMin,
});

/** The payment with all required signatures. */
function signedBy(
  { chain }: GivingWorld,
  payment: Payment,
): Result<SignedPayment, PaymentNotTaken> {
  const { tx_signature, unsigned } = payment;
  if (tx_signature !== null && unsigned.length === 0) return ok({ ...payment, tx_signature });
  const signed = chain.sponsored(payment);
  if (!signed.ok) return notTaken("not_sponsored", signed.failure.why);
  const { unsigned: missing, badly_signed } = signed.value;
  return missing.length + badly_signed.length === 0 ? signed : notTaken("not_signed");
}

/** How long a request waits for its payment to land. Most do within two seconds. */
const landWaitMs = 12_000;
const lookMsMin = 1_000;
const lookEveryMs = { first: 100, most: 800 } as const;
/** The sweep leaves a payment to its request for as long as the request may wait. */
const paymentSweptAfterMs = 15_000;
/** How long a sponsored payment waits for an earlier one from the same account, and how often it checks. */
const sourceWaitMs = 10_000;
const sourceLookMs = 250;

/**
 * Broadcasts a payment that has passed every check, waits until it lands, and records it. Its signature is on disk before
 * the chain sees it, so that no crash loses it. Answers "not taken" only if it certainly moved no money: it was never sent,
 * or its only sender learnt that it cannot land.
 */
const broadcast = (world: GivingWorld, proof: Proof, payment: SignedPayment): Promise<Outcome> =>
  singleFlight(world.chain, `broadcast ${proof.target.id} ${proof.txSignature}`, async () => {
    for (let waitedMs = 0; waitedMs < sourceWaitMs; waitedMs += sourceLookMs) {
      const sending = await send(world, proof, payment);
      if (sending !== "source_busy") return sending;
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
  // Another request has saved it and sends it, so only wait. A trial run proves nothing now: it fails if the payment landed.
  if (await isSaved(world, proof)) return waitForSender(world, proof, deadline);
  if (await isSourceBusy(world.store, sponsoredSource(world, payment))) return "source_busy";
  const tried = await beforeDeadline(deadline, world.chain.simulate(payment));
  if (!tried.ok) {
    const refused = await notSent(world, proof, deadline, tried.failure);
    // Another process may have saved it in the meantime, using a node that knows more.
    const isElsewhere = isNotTaken(refused) && (await isSaved(world, proof));
    return isElsewhere ? waitForSender(world, proof, deadline) : refused;
  }
  const claimed = await claim(world, proof, payment);
  if (claimed === "source_busy") return claimed;
  if (claimed === "elsewhere") return waitForSender(world, proof, deadline);
  if (claimed !== "claimed") return notTaken(claimed, "", payerOf(payment));
  const sending = await beforeDeadline(deadline, world.chain.send(payment));
  if (sending.ok) return waitUntilLanded(world, proof, deadline);
  const refused = await notSent(world, proof, deadline, sending.failure);
  if (isNotTaken(refused)) await close(world, proof);
  return refused;
}

const payerOf = ({ transfer }: SignedPayment): string | null => transfer?.authority ?? null;

/**
 * The token account of a payment whose fee the sponsor pays. If two such payments spent the same money, one would fail on
 * chain at the sponsor's cost; so all processes send them one after the other.
 */
const sponsoredSource = ({ chain }: GivingWorld, payment: SignedPayment): string | null =>
  payment.fee_payer === chain.sponsor ? (payment.transfer?.source ?? null) : null;

const isNotTaken = (outcome: Outcome): boolean =>
  !outcome.ok && outcome.failure.kind === "payment_not_taken";

const isSaved = async ({ store }: GivingWorld, { target, txSignature }: Proof): Promise<boolean> =>
  isUnderWay(await intentOf(store, target.id, txSignature));

/** The outcome of an intent whose only sender learnt that it cannot land. */
const refusedByChain = "payment_fails" satisfies Ending;

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

/** The chain refused the payment. The donor may have broadcast it alone, and then money has moved. */
async function notSent(
  world: GivingWorld,
  proof: Proof,
  deadline: Deadline,
  failure: { kind: "chain_unclear" | "payment_fails"; why: string },
): Promise<Outcome> {
  if (failure.kind === "chain_unclear") return unclear(proof, failure.why);
  const onChain = await beforeDeadline(deadline, isOnChain(world.chain, proof.txSignature));
  if (!onChain.ok) return unclear(proof, onChain.failure.why);
  return onChain.value
    ? waitUntilLanded(world, proof, deadline)
    : notTaken(refusedByChain, failure.why);
}

async function waitUntilLanded(
  world: GivingWorld,
  proof: Proof,
  deadline: Deadline,
): Promise<Result<RecordedGift | Pending, ProofFailure>> {
  let pauseMs: number = lookEveryMs.first;
  for (let waitedMs = 0; waitedMs < landWaitMs; waitedMs += pauseMs) {
    const lookMs = Math.max(deadline.leftMs(), lookMsMin);
    const landed = await withTimeout(world.chain.landed(proof.txSignature), lookMs);
    if (landed?.ok === true && landed.value !== null) {
      return recordLanded(world, proof, landed.value);
    }
    // The payment was sent: a donor who heard of a failure might pay again. The sweep continues.
    if (landed?.ok !== true && deadline.leftMs() === 0) break;
    await world.pause(pauseMs);
    pauseMs = Math.min(pauseMs * 2, lookEveryMs.most);
  }
  return ok(pendingAnswer(proof.target, proof.txSignature));
}

const unclear = ({ txSignature }: Proof, why: string) =>
  fail({ kind: "chain_unclear" as const, why, tx_signature: txSignature });

/** Saves a payment before it is broadcast, unless another request has claimed it. */
function claim(
  world: GivingWorld,
  { target, amount }: Proof,
  payment: SignedPayment,
): Promise<"claimed" | NotClaimed> {
  const now = world.clock();
  const isSponsored = payment.fee_payer === world.chain.sponsor;
  const claimed = {
    kind: "payment",
    nonprofit_id: target.id,
    proof: payment.tx_signature,
    recipient: target.usdc_wallet,
    amount_micro_usdc: amount,
    payment: Buffer.from(payment.bytes).toString("base64"),
    blockhash: payment.blockhash,
    sponsored_source: sponsoredSource(world, payment),
    sponsored_lamports: isSponsored ? feeLamports(payment) : null,
    sponsored_donor: isSponsored ? (payment.transfer?.authority ?? null) : null,
    now,
    check_at: now.getTime() + paymentSweptAfterMs,
  } as const;
  const subjects = [payment.tx_signature, ...(isSponsored ? ["sponsored"] : [])];
  return batchedWrite(world.store, subjects, async (store) => {
    const plan = await planClaim(store, claimed, world.sponsorBudget);
    const outcome = plan.ok ? "claimed" : plan.failure;
    return { statements: plan.ok ? [plan.value] : [], answer: () => outcome };
  });
}

/** Closes an intent that was saved before the chain refused the payment: there is nothing left to wait for. */
const close = ({ store }: GivingWorld, { target, txSignature }: Proof): Promise<void> =>
  batchedStatements(
    store,
    closeIntent({ nonprofit_id: target.id, proof: txSignature }, refusedByChain),
  );

const notTaken = (
  why: PaymentNotTaken["why"],
  detail = "",
  payer: string | null = null,
): { readonly ok: false; readonly failure: PaymentNotTaken } =>
  fail({ kind: "payment_not_taken", why, detail, payer });

const detailMax = 200;

/** Code and sentence of the demand that follows a payment that was not taken. */
export const notTakenWords = ({
  why,
  detail,
}: PaymentNotTaken): { code: string; error: string } => ({
  code: why,
  error: `${notTakenReasons[why]} No money has moved.${detail === "" ? "" : ` (${detail.slice(0, detailMax)})`}`,
});
