import { Keypair, SystemProgram } from "@solana/web3.js";
import { programs } from "#api/chain/programs.ts";
import { openSvm, type Svm } from "./svm.ts";

const lamportsPerSol = 1_000_000_000n;
const faucetSol = 1_000_000n;
const rentOfMint = 1_461_600n;
const usdcDecimals = 6;

/** The chain before its first transaction: the programs of the Solana Program Library, a rich faucet and a mint of USDC. */
export function genesis(): Svm {
  const svm = openSvm();
  svm.put(faucetKeypair.publicKey.toBase58(), {
    owner: SystemProgram.programId.toBase58(),
    lamports: faucetSol * lamportsPerSol,
    data: new Uint8Array(),
  });
  svm.put(usdcMint.toBase58(), {
    owner: programs.token.toBase58(),
    lamports: rentOfMint,
    data: mintData(),
  });
  return svm;
}

/** Source: SPL Token, Mint: the authority that may mint, supply, decimals, whether it is set up, who may freeze. */
function mintData(): Uint8Array {
  const data = Buffer.alloc(82);
  data.writeUInt32LE(1, 0);
  data.set(faucetKeypair.publicKey.toBytes(), 4);
  data.writeUInt8(usdcDecimals, 44);
  data.writeUInt8(1, 45);
  return new Uint8Array(data);
}

/**
 * A keypair made of words, the same on every machine. Anyone who reads the words has the key: for the local chain only,
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
