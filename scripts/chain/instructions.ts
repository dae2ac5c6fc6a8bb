import {
  type Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import bs58 from "bs58";
import {
  type Payment as OwnPayment,
  createTokenAccount,
  memo,
  paymentInstructions,
  programs,
  signing,
  tokenAccount,
  withAmount,
  writable,
} from "#api/chain/transfer.ts";
import type { Ledger } from "./ledger.ts";
import { faucetKeypair, usdcMint } from "./svm.ts";

export function mintTo(
  mint: PublicKey,
  account: PublicKey,
  authority: PublicKey,
  amount: bigint,
  program: PublicKey = programs.token,
): TransactionInstruction {
  return new TransactionInstruction({
    programId: program,
    keys: [writable(mint), writable(account), signing(authority)],
    data: withAmount(7, amount),
  });
}

/** A serialized transaction. */
export type BuiltTransaction = {
  bytes: Uint8Array;
  base64: string;
  /** The fee payer's signature; 64 ones while it is missing. */
  signature: string;
};

export type Signing = {
  signers: readonly Keypair[];
  /** Pays the fee instead of the first signer; its signature may be missing. */
  payer?: PublicKey;
  blockhash: string;
  legacy?: boolean;
};

/** Builds and signs a transaction, v0 by default. */
export function signedTransaction(
  instructions: TransactionInstruction[],
  { signers, payer, blockhash, legacy = false }: Signing,
): BuiltTransaction {
  const payerKey = payer ?? signers[0]?.publicKey;
  if (payerKey === undefined) throw new Error("a transaction needs a fee payer");
  const message = new TransactionMessage({ payerKey, recentBlockhash: blockhash, instructions });
  const transaction = new VersionedTransaction(
    legacy ? message.compileToLegacyMessage() : message.compileToV0Message(),
  );
  transaction.sign([...signers]);
  const bytes = transaction.serialize();
  const [first] = transaction.signatures;
  return {
    bytes,
    base64: Buffer.from(bytes).toString("base64"),
    signature: bs58.encode(first ?? []),
  };
}

/** A payment by a donor. `feePayer` pays the network fee; its signature is left out. */
export type Payment = OwnPayment & { feePayer?: string };

/** Builds a signed payment of USDC as wallets do, without sending it. */
export function buildPayment(
  donor: Keypair,
  { feePayer, ...payment }: Payment,
  blockhash: string,
): BuiltTransaction {
  const instructions = paymentInstructions(donor.publicKey, usdcMint, payment);
  const payer = feePayer === undefined ? {} : { payer: new PublicKey(feePayer) };
  return signedTransaction(instructions, { signers: [donor], blockhash, ...payer });
}

/** A request to the faucet: lamports, and micro-USDC. */
export type Wish = { wallet: PublicKey; lamports?: bigint; usdc?: bigint };

/**
 * Gives away SOL and USDC by ordinary transactions, and creates the wallet's USDC account even for 0 USDC. Returns the
 * signature. Throws when the chain refuses.
 */
export function give(
  { slots, send }: Pick<Ledger, "slots" | "send">,
  { wallet, lamports = 0n, usdc }: Wish,
): string {
  const faucet = faucetKeypair.publicKey;
  const wishes = [
    // Two equal requests within a slot would otherwise be the same transaction.
    memo(`faucet ${crypto.randomUUID()}`),
    ...(lamports > 0n
      ? [SystemProgram.transfer({ fromPubkey: faucet, toPubkey: wallet, lamports })]
      : []),
    ...(usdc === undefined ? [] : [createTokenAccount(faucet, wallet, usdcMint)]),
    ...(usdc === undefined || usdc === 0n
      ? []
      : [mintTo(usdcMint, tokenAccount(wallet, usdcMint), faucet, usdc)]),
  ];
  const blockhash = slots.blockhash(slots.now());
  const { bytes, signature } = signedTransaction(wishes, { signers: [faucetKeypair], blockhash });
  const landed = send(bytes);
  const err = "refused" in landed ? landed.refused : landed.outcome.err;
  if (err !== null) throw new Error(`the faucet failed: ${JSON.stringify(err)}`);
  return signature;
}
