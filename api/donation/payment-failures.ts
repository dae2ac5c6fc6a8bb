import type { Payment } from "#api/chain/chain.ts";
import type { PaymentRefusal } from "#content/donation/payment-checks.ts";
import { fail } from "#content/contract/result.ts";
import type { ProofFailure } from "./settle-proof.ts";

/** No money has moved, and none will by this payment: the donor may be asked for another one. */
export type PaymentNotTaken = {
  kind: "payment_not_taken";
  why:
    | PaymentRefusal["kind"]
    | "unsupported_scheme"
    | "wrong_network"
    | "foreign_memo"
    | "earlier_payment"
    | "not_sponsored"
    | "payment_fails";
  /** What the chain or the sponsor said, "" for nothing. */
  detail: string;
};

export type PaymentFailure =
  | PaymentNotTaken
  | ProofFailure
  | { kind: "payment_malformed"; why: string };

/** A payment with every signature it needs. */
export type Signed = Payment & { tx_signature: string };

export const notTaken = (
  why: PaymentNotTaken["why"],
  detail = "",
): { readonly ok: false; readonly failure: PaymentNotTaken } =>
  fail({ kind: "payment_not_taken", why, detail });
