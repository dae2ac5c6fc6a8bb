import type { NonprofitDetail } from "#content/contract/nonprofit.ts";
import type { Receipt, SignedReceipt } from "#content/contract/receipt.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";
import { explorerUrl } from "./answers.ts";
import { usdcNumber } from "./money.ts";
import { clusterOfChain } from "./network-words.ts";
import { isoTime } from "#content/contract/time.ts";

/** What a receipt needs of a recorded donation. */
type Given = Pick<
  Receipt["evidence"],
  | "network"
  | "tx_signature"
  | "slot"
  | "commitment"
  | "mint"
  | "source"
  | "recipient"
  | "destination"
  | "donor"
  | "memo"
> & { id: string; amount_micro_usdc: MicroUsdc; settled_at: number; recorded_at: number };

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
  const { network, tx_signature, slot, commitment, mint, recipient, destination, donor, memo } =
    given;
  const source = given.source ?? null;
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
    evidence: {
      cluster: clusterOfChain(network),
      network,
      tx_signature,
      slot,
      commitment,
      mint,
      source,
      recipient,
      destination,
      donor,
      memo,
    },
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
