import {
  type Keypair,
  type PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import bs58 from "bs58";

/** A transaction as it travels. */
export type Built = {
  bytes: Uint8Array;
  base64: string;
  /** The fee payer's; 64 ones while it is missing. */
  signature: string;
};

export type Signing = {
  signers: readonly Keypair[];
  /** Pays the fee in place of the first signer; its signature may be left missing. */
  payer?: PublicKey;
  blockhash: string;
  legacy?: boolean;
};

/** Builds a transaction, v0 unless said, and signs it. */
export function signedTransaction(
  instructions: TransactionInstruction[],
  { signers, payer, blockhash, legacy = false }: Signing,
): Built {
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
