import { Keypair } from "@solana/web3.js";

/**
 * A valid Solana address for one organisation of the sample, the same in every run. Its secret key can be computed by
 * anyone who reads this line: it is for devnet and the local chain, never for money.
 */
export function sampleWallet(seedNumber: number, index: number): string {
  const secret = new Uint8Array(32);
  new TextEncoder().encodeInto(`almoner sample ${seedNumber} ${index}`, secret);
  return Keypair.fromSeed(secret).publicKey.toBase58();
}
