import { type PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import type { Ledger } from "./ledger.ts";
import {
  createTokenAccount,
  memo,
  mintTo,
  signedTransaction,
  tokenAccountFor,
} from "./instructions.ts";
import { faucetKeypair, usdcMint } from "./genesis.ts";

/** What someone asks for: lamports, and micro-USDC. */
export type Wish = { wallet: PublicKey; lamports?: bigint; usdc?: bigint };

/**
 * Gives away SOL and USDC, by transactions like any other. Makes the wallet's USDC account also when it asks for none.
 * Answers the signature. Throws when the chain refuses, which means that the wish cannot be.
 */
export function give(ledger: Ledger, { wallet, lamports = 0n, usdc }: Wish): string {
  const faucet = faucetKeypair.publicKey;
  const wishes: TransactionInstruction[] = [];
  if (lamports > 0n) {
    wishes.push(SystemProgram.transfer({ fromPubkey: faucet, toPubkey: wallet, lamports }));
  }
  if (usdc !== undefined) wishes.push(createTokenAccount(faucet, wallet, usdcMint));
  if (usdc !== undefined && usdc > 0n) {
    wishes.push(mintTo(usdcMint, tokenAccountFor(wallet, usdcMint), faucet, usdc));
  }
  // Two like wishes within a slot would be one transaction.
  wishes.push(memo(`faucet ${crypto.randomUUID()}`));
  const { bytes, signature } = signedTransaction(wishes, {
    signers: [faucetKeypair],
    blockhash: ledger.slots.blockhash(ledger.slots.now()),
  });
  const landed = ledger.send(bytes);
  if ("refused" in landed) throw new Error(`the faucet failed: ${JSON.stringify(landed.refused)}`);
  if (landed.outcome.err !== null)
    throw new Error(`the faucet failed: ${JSON.stringify(landed.outcome.err)}`);
  return signature;
}
