import bs58 from "bs58";
import { z } from "zod";
import { count, named, textOrNull } from "#content/contract/base/json.ts";
import words from "#content/editorial/wallets.json";

/** One millionth of a USDC; 1 USDC = 1_000_000n. Never negative. */
export type MicroUsdc = bigint & { readonly unit: "micro-usdc" };

/** What a token account gained in one transaction: balance after minus balance before, including inner instructions. */
export type Credit = {
  /** The token account that was paid. */
  destination: string;
  owner: string;
  mint: string;
  amount_micro_usdc: MicroUsdc;
  /** The donor: owner of the account that lost the money. Null when no wallet or several did. */
  donor: string | null;
  /** The token account that lost the money. Null when none or several did. */
  source: string | null;
};

export type Commitment = "processed" | "confirmed" | "finalized";

/** The facts of a transaction on chain. They are not judged here: content/giving/payment-checks.ts does that. */
export type TransactionFacts = {
  tx_signature: string;
  slot: number;
  /** Seconds since 1970; null when the chain does not know. */
  block_time: number | null;
  commitment: Commitment;
  /** Whether the chain ran it and it failed; then nothing moved but fees. */
  failed: boolean;
  credits: readonly Credit[];
  /** Every account that signed it, the fee payer first. */
  signers: readonly string[];
  /** The texts of its memo instructions. */
  memos: readonly string[];
};

/** The chain on which donations are made; `local` is a development chain without real money. */
export const donationNetworks = ["local", "solana-devnet", "solana"] as const;
export type DonationNetwork = (typeof donationNetworks)[number];

/** The most addresses in one POST /api/wallets. */
export const walletsMax = 100;

/** What the directory knows about an address. */
export const WalletAnswer = named("WalletAnswer", {
  address: z.string().describe("The address that was asked for"),
  status: z.enum(["held", "active", "revoked", "replaced", "not known"]).describe(words.status),
  slug: textOrNull.describe("Whose it is, or was; null: not known"),
  name: textOrNull,
  since: textOrNull.describe(words.since),
  proof: z.enum(Object.values(words.proofs)).nullable().describe(words.proof),
  jws: z.string().describe(words.jws),
});
export type WalletAnswer = z.infer<typeof WalletAnswer>;

/** Whether a text is base58 of 32 bytes. */
export const isSolanaAddress = (text: string): boolean => base58Bytes(text, 32) !== null;

export const WalletsBody = named("WalletsBody", {
  addresses: z
    .array(z.string().refine(isSolanaAddress, { error: words.malformed }), {
      error: `addresses is an array of 1 to ${walletsMax} Solana addresses.`,
    })
    .min(1)
    .max(walletsMax)
    .meta({ examples: [["4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T"]] }),
});

export const WalletsAnswer = named("WalletsAnswer", {
  count: count.describe("As many as were sent"),
  wallets: z.array(WalletAnswer).describe("In the order in which they were sent"),
});

const base58LengthMax = 100;

/** Decodes a base58 text of exactly this length, else null: 32 bytes are an account, 64 a signature. */
export function base58Bytes(text: string, bytes: 32 | 64): Uint8Array | null {
  // Decoding time grows with the square of the length.
  if (text.length > base58LengthMax) return null;
  const decoded = bs58.decodeUnsafe(text);
  return decoded?.length === bytes ? decoded : null;
}

export const base58Text = (bytes: Uint8Array): string => bs58.encode(bytes);
