import { fail, ok, type Result } from "#content/contract/result.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import type { DonateTarget } from "#content/donation/target.ts";
import type { DonateContext } from "./donate-context.ts";
import type { PaymentFailure, PaymentNotTaken } from "./payment-failures.ts";
import { notTakenWords } from "./payment-words.ts";
import { type Demand, demandPayment } from "./payment-requirements.ts";
import { type SignedPayment, settlePayment } from "./settle-payment.ts";
import type { Settled } from "./record-donation.ts";
import { type Pending, settleProof } from "./settle-proof.ts";

export type DonateCall = {
  slug: string;
  /** What the request asks to give. */
  amount: MicroUsdc;
  /** Wallet of a donor who pays the network fee. */
  payer: string | null;
  /** A signed payment, or the signature of a transfer that the donor broadcast; null: asks what to pay. */
  proof:
    | { kind: "payment"; payment: SignedPayment }
    | { kind: "signature"; tx_signature: string }
    | null;
};

export type DonateOutcome = { kind: "demanded"; demand: Demand } | Settled | Pending;

export type TargetFailure =
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "nonprofit_withdrawn"; slug: string };

type NoWallet = { kind: "nonprofit_without_wallet"; slug: string; donation_url: string | null };

export type DonateFailure = TargetFailure | NoWallet | Exclude<PaymentFailure, PaymentNotTaken>;

const asking = {
  code: "payment_required",
  error:
    "No money has moved. Pay with an x402 client, or transfer USDC to the recipient with this memo and POST {tx_signature}.",
};

/**
 * Answers whoever gives: without a proof with what to pay, with one by what the chain holds. A demand for payment is
 * answered only where no money has moved. Source: decisions.md, "Donation".
 */
export async function donate(
  context: DonateContext,
  call: DonateCall,
): Promise<Result<DonateOutcome, DonateFailure>> {
  const found = await openTarget(context, call.slug);
  if (!found.ok) return found;
  const target = found.value;
  const { proof, amount: asked } = call;
  if (proof?.kind === "signature") {
    return settleProof(context, { target, txSignature: proof.tx_signature, asked });
  }
  if (proof === null) return demanded(context, call, target, asking);
  const outcome = await settlePayment(context, { target, asked, payment: proof.payment });
  if (outcome.ok || outcome.failure.kind !== "payment_not_taken") {
    return outcome as Result<Settled | Pending, Exclude<PaymentFailure, PaymentNotTaken>>;
  }
  return demanded(context, call, target, notTakenWords(outcome.failure));
}

async function demanded(
  context: DonateContext,
  { amount, payer }: DonateCall,
  target: DonateTarget,
  why: { code: string; error: string },
): Promise<Result<DonateOutcome, NoWallet>> {
  const { slug, usdc_wallet, donation_url } = target;
  if (usdc_wallet === null) return fail({ kind: "nonprofit_without_wallet", slug, donation_url });
  const payable = { ...target, usdc_wallet };
  const demand = await demandPayment(context, { target: payable, amount, payer }, why);
  return ok({ kind: "demanded" as const, demand });
}

/** The nonprofit that a request names, unless it takes no donations any more. */
export async function openTarget(
  { targetOf }: Pick<DonateContext, "targetOf">,
  slug: string,
): Promise<Result<DonateTarget, TargetFailure>> {
  const target = await targetOf(slug);
  if (target === null) return fail({ kind: "nonprofit_not_found", slug });
  if (target.status === "withdrawn") return fail({ kind: "nonprofit_withdrawn", slug });
  return ok(target);
}
