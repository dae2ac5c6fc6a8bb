import { notTakenReasons } from "#content/contract/donation-problems.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import { isSound, judgePayment, type PaymentDue } from "./payment-checks.ts";
import { intentOf, isBroadcasting } from "./intent-store.ts";
import { asksToPay, readMemo } from "./memo.ts";
import { type DonateTarget, donationsOf } from "./store.ts";
import { broadcast, notTaken, type PaymentNotTaken } from "./broadcast.ts";
import type { GivingWorld } from "./world.ts";
import {
  type Pending,
  type Proof,
  type ProofFailure,
  recordBySignature,
  recordedBefore,
  type RecordedGift,
} from "./proof.ts";
import {
  type SignedPayment,
  chainDeadline,
  beforeDeadline,
  isOnChain,
  type Payment,
} from "./chain.ts";

/** A payment as a client sent it in a header, of either version of x402. */
export type ClientPayment = {
  /** x402's name of the network: solana in version 1, CAIP-2 in version 2. */
  network: string;
  scheme: string;
  /** The signed transaction, base64. */
  transaction: string;
};

export type PaymentCall = {
  target: DonateTarget;
  /** What the request asked to give: counts for a client that dropped our memo. */
  asked: MicroUsdc;
  /** Keyed hash of the client's network. */
  network: string;
  payment: ClientPayment;
};

export type PaymentFailure =
  | PaymentNotTaken
  | ProofFailure
  | { kind: "payment_malformed"; why: string };

type Outcome = Result<RecordedGift | Pending, PaymentFailure>;

/**
 * Takes a signed payment: checks it, adds the sponsor's signature where that is missing, broadcasts it and records what
 * landed. Nothing is sent before every check has passed. Source: facts on x402; the decisions of the spec, "Donation".
 */
export async function takePayment(world: GivingWorld, call: PaymentCall): Promise<Outcome> {
  const read = world.chain.readPayment(call.payment.transaction);
  if (!read.ok) return read;
  const checked = check(world, call, read.value);
  if (!checked.ok) return refuseUnlessMade(world, call, read.value, checked.failure);
  const { signed, amount } = checked.value;
  const { target, network } = call;
  const proof = { target, txSignature: signed.tx_signature, asked: amount, network };
  const known = await recordedBefore(world, proof);
  return known === null ? broadcast(world, proof, signed) : ok(known);
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
 * A payment that is not taken here may have been made all the same, for an earlier request or by the donor alone: then
 * the chain says what it is worth. Another demand for payment would be paid twice.
 */
async function refuseUnlessMade(
  world: GivingWorld,
  call: PaymentCall,
  payment: Payment,
  refusal: PaymentNotTaken,
): Promise<Outcome> {
  const { target, asked, network } = call;
  const txSignature = signatureOf(world, call, payment);
  if (txSignature === null) return fail(refusal);
  const deadline = chainDeadline();
  const proof = { target, txSignature, asked, network };
  if (await wasTaken(world, proof, payment)) return recordBySignature(world, proof, deadline);
  // Without every signature, no one but us can have sent it.
  if (payment.unsigned.length > 0) return fail(refusal);
  const known = await beforeDeadline(deadline, isOnChain(world.chain, txSignature));
  if (!known.ok) return fail({ ...known.failure, tx_signature: txSignature });
  return known.value ? recordBySignature(world, proof, deadline) : fail(refusal);
}

/**
 * The signature by which the chain would know this payment, null when it cannot land. That of the sponsor is made again
 * to look for it, only for what the sponsor would have signed, and is sent only when the transaction was found.
 */
function signatureOf(world: GivingWorld, call: PaymentCall, payment: Payment): string | null {
  if (payment.badly_signed.length > 0) return null;
  if (payment.unsigned.length === 0) return payment.tx_signature;
  if (!isSound(payment, dueOf(world, call, call.asked))) return null;
  const signed = signedBy(world, payment);
  return signed.ok ? signed.value.tx_signature : null;
}

/** Whether an earlier request brought it: for this nonprofit, or for one that its memos name. */
async function wasTaken(
  { store, seal }: GivingWorld,
  { target, txSignature }: Proof,
  { memos }: Payment,
): Promise<boolean> {
  if ((await donationsOf(store, txSignature)).length > 0) return true;
  const named = memos.flatMap((text) => readMemo(text, seal)?.nonprofit_id ?? []);
  for (const id of new Set([target.id, ...named])) {
    if (isBroadcasting(await intentOf(store, id, txSignature))) return true;
  }
  return false;
}

/** What this payment is to hold: the amount of our memo, or of the request when the client dropped the memo. */
function amountOf(
  { chain, offeredNetwork, seal }: GivingWorld,
  { target, asked, payment: { network, scheme } }: PaymentCall,
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
    // Also that of a wallet which is no longer in effect: the money must go to the one that is.
    if (!isOurs || amount !== null) return notTaken("foreign_memo");
    amount = memo.amount;
  }
  return ok(amount ?? asked);
}

const dueOf = (
  { chain, sponsoredMin }: GivingWorld,
  { target }: PaymentCall,
  amount: MicroUsdc,
): PaymentDue => ({
  amount,
  mint: chain.mint,
  // Without a wallet nothing is the right account.
  recipient: target.usdc_wallet ?? "",
  destination: target.usdc_wallet === null ? "" : chain.tokenAccountOf(target.usdc_wallet),
  sponsor: chain.sponsor,
  sponsorTokenAccount: chain.sponsor === null ? null : chain.tokenAccountOf(chain.sponsor),
  sponsoredMin,
});

/** The payment with every signature it needs. */
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

const detailMax = 200;

/** Code and sentence of the demand that follows a payment which was not taken. */
export const notTakenWords = ({
  why,
  detail,
}: PaymentNotTaken): { code: string; error: string } => ({
  code: why,
  error: `${notTakenReasons[why]} No money has moved.${detail === "" ? "" : ` (${detail.slice(0, detailMax)})`}`,
});
