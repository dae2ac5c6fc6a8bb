import type { PaymentFacts } from "#content/donation/payment-checks.ts";

/** No RPC endpoint gave a clear answer in time: nothing is known, least of all that no money has moved. */
export type ChainUnclear = { kind: "chain_unclear"; why: string };

/** A signed payment that a client handed in, taken apart before anyone broadcasts it. */
export type Payment = PaymentFacts & {
  /** Base58; the donor's signature is the first one, unless the sponsor's is. Null while the sponsor's is missing. */
  tx_signature: string | null;
  memos: readonly string[];
  blockhash: string;
  /** The whole transaction as it came. */
  bytes: Uint8Array;
};
