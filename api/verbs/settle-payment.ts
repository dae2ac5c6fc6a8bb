import type { Payment } from "#api/chain/chain.ts";
import { asksToPay, readMemo } from "#content/rules/donation-memo.ts";
import { judgePayment, type PaymentDue } from "#content/rules/payment-checks.ts";
import { ok, type Result } from "#content/shapes/result.ts";
import type { MicroUsdc } from "#content/shapes/transfer.ts";
import type { DonateTarget } from "#content/store/donate-target.ts";
import { broadcast } from "./broadcast-payment.ts";
import type { DonateParts } from "./donate-parts.ts";
import {
  notTaken,
  type PaymentFailure,
  type PaymentNotTaken,
  type Signed,
} from "./payment-failures.ts";
import type { Settled } from "./record-donation.ts";
import { type Pending, recordedOf } from "./settle-proof.ts";

/** A signed payment as a client handed it in. */
export type SignedPayment = {
  /** x402's name of the network. */
  network: string;
  scheme: string;
  /** Base64. */
  transaction: string;
};

export type PaymentCall = {
  target: DonateTarget & { usdc_wallet: string };
  /** What the request asked to give: counts for a client that dropped our memo. */
  asked: MicroUsdc;
  payment: SignedPayment;
};

/**
 * Takes a signed payment: checks it, adds the sponsor's signature where that is missing, broadcasts it and records what
 * landed. Nothing is signed or sent before every check has passed. Source: facts on x402; decisions.md, "Donation".
 */
export async function settlePayment(
  parts: DonateParts,
  call: PaymentCall,
): Promise<Result<Settled | Pending, PaymentFailure>> {
  const read = parts.chain.readPayment(call.payment.transaction);
  if (!read.ok) return read;
  const amount = amountOf(parts, call, read.value);
  if (!amount.ok) return amount;
  const judged = judgePayment(read.value, dueOf(parts, call, amount.value));
  if (!judged.ok) return notTaken(judged.failure.kind);
  const signed = signedBy(parts, read.value);
  if (!signed.ok) return signed;
  const { target } = call;
  const proof = { target, txSignature: signed.value.tx_signature, asked: amount.value };
  const known = await recordedOf(parts, proof);
  return known === null ? broadcast(parts, proof, signed.value) : ok(known);
} // prettier-ignore

/** What this payment is to hold: the amount of our memo, or of the request when the client dropped the memo. */
function amountOf(
  { chain, offeredNetwork, seal }: DonateParts,
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
    const isOurs = memo.nonprofit_id === target.id && asksToPay(text, target.usdc_wallet, seal);
    // Also that of a wallet which is no longer in effect: the money must go to the one that is.
    if (!isOurs || amount !== null) return notTaken("foreign_memo");
    amount = memo.amount;
  }
  return ok(amount ?? asked);
}

const dueOf = (
  { chain, sponsoredMin }: DonateParts,
  { target }: PaymentCall,
  amount: MicroUsdc,
): PaymentDue => ({
  amount,
  mint: chain.mint,
  recipient: target.usdc_wallet,
  destination: chain.tokenAccountOf(target.usdc_wallet),
  sponsor: chain.sponsor,
  sponsorTokenAccount: chain.sponsor === null ? null : chain.tokenAccountOf(chain.sponsor),
  sponsoredMin,
});

/** The payment with every signature it needs. */
function signedBy({ chain }: DonateParts, payment: Payment): Result<Signed, PaymentNotTaken> {
  const { tx_signature, unsigned } = payment;
  if (tx_signature !== null && unsigned.length === 0) return ok({ ...payment, tx_signature });
  const signed = chain.sponsored(payment);
  if (!signed.ok) return notTaken("not_sponsored", signed.failure.why);
  const { unsigned: missing, badly_signed } = signed.value;
  return missing.length + badly_signed.length === 0 ? signed : notTaken("not_signed");
}
