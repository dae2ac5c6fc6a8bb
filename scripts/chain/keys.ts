import { Keypair } from "@solana/web3.js";

/**
 * A keypair made of words, the same on every machine. Whoever reads the words has the key: for the local chain only,
 * where money is worth nothing.
 */
export function keypairOf(words: string): Keypair {
  const seed = new Uint8Array(32);
  new TextEncoder().encodeInto(words, seed);
  return Keypair.fromSeed(seed);
}

/** Holds the local chain's SOL, and may make USDC. */
export const faucetKeypair = keypairOf("almoner local faucet");

/** The local chain's USDC. Its address stands in api/chain/clusters.ts. */
export const usdcMint = keypairOf("almoner local usdc").publicKey;
