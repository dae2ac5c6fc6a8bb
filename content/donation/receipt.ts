import canonicalize from "canonicalize";
import { decodeProtectedHeader } from "jose";
import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import { DonationEvidence, Receipt, type SignedReceipt } from "#content/contract/donation.ts";
import { objectIn } from "#content/contract/json-object.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { isoTime } from "#content/contract/time.ts";
import { type PublicKey, type Signer, verifyDetached } from "#content/feed/signing-keys.ts";
import { clusterOfChain, explorerUrl } from "./network.ts";
import type { Donation } from "./store.ts";
import { usdcNumber } from "#content/contract/money.ts";

/** What a receipt needs of a recorded donation. */
type Given = Omit<Donation, "nonprofit_id">;

type Nonprofit = Pick<NonprofitDetail, "slug" | "name" | "registrations" | "identifiers">;

/**
 * What the directory vouches for: the same donation and the same profile give the same receipt. `baseUrl` has no
 * trailing slash.
 */
export function receiptOf(
  given: Given,
  { slug, name, registrations, identifiers }: Nonprofit,
  baseUrl: string,
): Receipt {
  const cluster = clusterOfChain(given.network);
  return {
    type: "almoner-donation-receipt/1",
    id: given.id,
    issuer: baseUrl,
    nonprofit: { slug, name, registrations, identifiers },
    amount_usdc: usdcNumber(given.amount_micro_usdc),
    amount_atomic: given.amount_micro_usdc.toString(),
    currency: "USDC",
    settled_at: isoTime(given.settled_at),
    recorded_at: isoTime(given.recorded_at),
    evidence: DonationEvidence.parse({ ...given, cluster }),
  };
}

/** The answer that carries it; only the receipt itself is signed. */
export function signedAnswer(receipt: Receipt, signature: string): SignedReceipt {
  const { issuer, nonprofit, id, evidence } = receipt;
  const query = new URLSearchParams({ nonprofit: nonprofit.slug, id });
  return {
    receipt,
    signature,
    keys_url: `${issuer}/.well-known/almoner-keys.json`,
    page_url: `${issuer}/receipt?${query}`,
    explorer_url: explorerUrl(evidence.tx_signature, evidence.cluster),
  };
}

const encoder = new TextEncoder();

/** The bytes that are signed: RFC 8785 has one form for a value, in whatever order it was written. */
const canonicalBytes = (value: unknown): Uint8Array => encoder.encode(canonicalize(value));

/** A detached JWS over the canonical JSON of a receipt. An equal receipt and an equal key give an equal signature. */
export const signReceipt = (receipt: Receipt, signer: Signer): Promise<string> =>
  signer.sign(canonicalBytes(receipt));

export type ReceiptFailure =
  /** The text is not a receipt at all. */
  | { kind: "not_a_receipt"; why: string }
  /** Another key than this one is said to have signed. */
  | { kind: "wrong_key"; signed_by: string; key: string }
  /** The key is said to have signed, and did not sign this. */
  | { kind: "altered" };

/** What a text says it is, before any of it is proven. */
export type ClaimedReceipt = {
  receipt: Receipt;
  signature: string;
  signed_by: string;
  whole: unknown;
};

/** Reads the JSON text of a receipt. Nothing of it is proven yet. */
export function readReceipt(text: string): Result<ClaimedReceipt, ReceiptFailure> {
  const { receipt: whole, signature } = objectIn(text) ?? {};
  if (whole === undefined) return none("it is not JSON with a member `receipt`");
  if (typeof signature !== "string") return none("it has no signature");
  const receipt = Receipt.safeParse(whole);
  if (!receipt.success) {
    const [issue] = receipt.error.issues;
    return none(`receipt.${issue?.path.join(".")}: ${issue?.message}`);
  }
  const signed_by = keyIdOf(signature);
  if (signed_by === null) return none("its signature is not a JWS that names a key");
  return ok({ receipt: receipt.data, signature, signed_by, whole });
}

/**
 * Whether this key signed the receipt. Fields that this version does not know are part of what was signed. Works
 * offline.
 */
export async function verifyReceipt(
  { receipt, signature, signed_by, whole }: ClaimedReceipt,
  key: PublicKey,
): Promise<Result<Receipt, ReceiptFailure>> {
  if (signed_by !== key.kid) return fail({ kind: "wrong_key", signed_by, key: key.kid });
  try {
    const verified = await verifyDetached(signature, canonicalBytes(whole), key);
    return verified.ok ? ok(receipt) : fail({ kind: "altered" });
  } catch {
    // What has no canonical form, half a surrogate pair for example, was never signed.
    return fail({ kind: "altered" });
  }
}

const none = (why: string): Result<never, ReceiptFailure> => fail({ kind: "not_a_receipt", why });

function keyIdOf(jws: string): string | null {
  try {
    return decodeProtectedHeader(jws).kid ?? null;
  } catch {
    return null;
  }
}
