/** One millionth of a USDC; 1 USDC = 1_000_000n. Never negative. */
export type MicroUsdc = bigint & { readonly unit: "micro-usdc" };

/** What a token account gained in one transaction: balance after less balance before, inner instructions included. */
export type Credit = {
  /** The token account that was paid. */
  destination: string;
  /** Whose account it is. */
  owner: string;
  mint: string;
  amount_micro_usdc: MicroUsdc;
  /** Who authorised it: the owner of the account that lost the money. Null when no wallet or several did. */
  donor: string | null;
  /** The token account that lost the money. Null when none or several did. */
  source: string | null;
};

export type Commitment = "processed" | "confirmed" | "finalized";

/** The facts of a transaction that the chain holds. They are read, never trusted: content/giving/payment-checks.ts judges them. */
export type TransactionFacts = {
  tx_signature: string;
  slot: number;
  /** Seconds since 1970; null when the chain does not know. */
  block_time: number | null;
  commitment: Commitment;
  /** Whether the chain ran it and refused it; then it moved nothing but fees. */
  failed: boolean;
  credits: readonly Credit[];
  /** Every account that signed it, the fee payer first. */
  signers: readonly string[];
  /** The texts of its memo instructions. */
  memos: readonly string[];
};

/** The network on which donations are made; `local` is a chain for development, whose money is worth nothing. */
export const donationNetworks = ["local", "solana-devnet", "solana"] as const;
export type DonationNetwork = (typeof donationNetworks)[number];
