import canonicalize from "canonicalize";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import {
  DonationEvidence,
  Receipt,
  type ReceiptCorrection,
  SignedCorrection,
  type SignedReceipt,
} from "#content/contract/donation.ts";
import { objectIn } from "#content/contract/base/json.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { isoTime } from "#content/contract/base/time.ts";
import { isSignatureOf, keyIdOf, type PublicKey, type Signer } from "#content/feed/signing-keys.ts";
import { clusterOfChain, explorerUrl, offeredCaip2Of } from "./network.ts";
import type { Donation } from "./store.ts";
import { usdcNumber } from "#content/contract/base/money.ts";

/** The part of a recorded donation that a receipt needs. */
type ReceiptDonation = Omit<
  Donation,
  "nonprofit_id" | "check_at" | "unknown" | "voided_at" | "void_reason"
>;

type Nonprofit = Pick<NonprofitDetail, "slug" | "name" | "registrations" | "identifiers">;

/** The receipt of a donation. The same donation and profile give the same receipt. `baseUrl` has no trailing slash. */
export function receiptOf(
  donation: ReceiptDonation,
  { slug, name, registrations, identifiers }: Nonprofit,
  baseUrl: string,
): Receipt {
  const cluster = clusterOfChain(donation.network);
  const network = offeredCaip2Of(cluster, donation.network);
  return {
    type: "almoner-donation-receipt/1",
    id: donation.id,
    issuer: baseUrl,
    nonprofit: { slug, name, registrations, identifiers },
    amount_usdc: usdcNumber(donation.amount_micro_usdc),
    amount_atomic: donation.amount_micro_usdc.toString(),
    currency: "USDC",
    settled_at: isoTime(donation.settled_at),
    recorded_at: isoTime(donation.recorded_at),
    evidence: DonationEvidence.parse({ ...donation, cluster, network }),
  };
}

/** The correction that voids a donation's receipt; null when the receipt is valid. */
export function correctionOf(
  donation: Pick<Donation, "id" | "tx_signature" | "voided_at" | "void_reason">,
  issuer: string,
): ReceiptCorrection | null {
  const { id, tx_signature, voided_at, void_reason: reason } = donation;
  if (voided_at === null || reason === null) return null;
  return {
    type: "almoner-receipt-correction/1",
    donation_id: id,
    issuer,
    tx_signature,
    voided_at: isoTime(voided_at),
    reason,
  };
}

/** The answer with a receipt. Only the receipt and its correction are signed. */
export function signedAnswer(
  receipt: Receipt,
  signature: string,
  correction: SignedCorrection | null = null,
): SignedReceipt {
  const { issuer, nonprofit, id, evidence } = receipt;
  const query = new URLSearchParams({ nonprofit: nonprofit.slug, id });
  return {
    receipt,
    signature,
    correction,
    keys_url: `${issuer}/.well-known/almoner-keys.json`,
    page_url: `${issuer}/receipt?${query}`,
    explorer_url: explorerUrl(evidence.tx_signature, evidence.cluster),
  };
}

const encoder = new TextEncoder();

/** The bytes to sign: RFC 8785 defines one form for a value, regardless of the order of its members. */
const canonicalBytes = (value: unknown): Uint8Array => encoder.encode(canonicalize(value));

/** A detached JWS over the canonical JSON. Equal receipts and keys give equal signatures. */
export const signReceipt = (
  receipt: Receipt | ReceiptCorrection,
  signer: Signer,
): Promise<string> => signer.sign(canonicalBytes(receipt));

export type ReceiptFailure =
  /** The text is not a receipt at all. */
  | { kind: "not_a_receipt"; why: string }
  /** The receipt names a different key as its signer. */
  | { kind: "wrong_key"; signed_by: string; key: string }
  /** The receipt names this key as its signer, but the signature does not fit. */
  | { kind: "altered" }
  /** The key signed the receipt and later voided it. */
  | { kind: "voided"; voided_at: string; reason: ReceiptCorrection["reason"] };

/** The content of a receipt before anything is verified. */
export type ClaimedReceipt = {
  receipt: Receipt;
  signature: string;
  signed_by: string;
  whole: unknown;
  /** The correction that came with the receipt, if any. */
  correction: SignedCorrection | null;
};

/** Reads the JSON text of a receipt. Nothing is verified yet. */
export function readReceipt(text: string): Result<ClaimedReceipt, ReceiptFailure> {
  const { receipt: whole, signature, correction = null } = objectIn(text) ?? {};
  if (whole === undefined) return none("it is not JSON with a member `receipt`");
  if (typeof signature !== "string") return none("it has no signature");
  const receipt = Receipt.safeParse(whole);
  if (!receipt.success) {
    const [issue] = receipt.error.issues;
    return none(`receipt.${issue?.path.join(".")}: ${issue?.message}`);
  }
  const signed_by = keyIdOf(signature);
  if (signed_by === null) return none("its signature is not a JWS that names a key");
  const corrected = SignedCorrection.nullable().safeParse(correction);
  if (!corrected.success) return none("its correction cannot be read");
  return ok({ receipt: receipt.data, signature, signed_by, whole, correction: corrected.data });
}

/**
 * Verifies that this key signed the receipt and that no correction voids it. Unknown fields are part of the signed text.
 * Works offline.
 */
export async function verifyReceipt(
  { receipt, signature, signed_by, whole, correction: beside }: ClaimedReceipt,
  key: PublicKey,
): Promise<Result<Receipt, ReceiptFailure>> {
  if (signed_by !== key.kid) return fail({ kind: "wrong_key", signed_by, key: key.kid });
  if (!(await isSigned(whole, signature, key))) return fail({ kind: "altered" });
  if (beside === null) return ok(receipt);
  const { correction } = beside;
  const isOfThis = correction.donation_id === receipt.id && correction.issuer === receipt.issuer;
  if (!isOfThis || !(await isSigned(correction, beside.signature, key))) {
    return fail({ kind: "altered" });
  }
  const { voided_at, reason } = correction;
  return fail({ kind: "voided", voided_at, reason });
}

async function isSigned(value: unknown, signature: string, key: PublicKey): Promise<boolean> {
  try {
    return await isSignatureOf(signature, canonicalBytes(value), key);
  } catch {
    // Text without a canonical form, such as half a surrogate pair, was never signed.
    return false;
  }
}

const none = (why: string): Result<never, ReceiptFailure> => fail({ kind: "not_a_receipt", why });
