import {
  type Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import bs58 from "bs58";
import { programs } from "#api/chain/programs.ts";

/** Instructions of the token programs, as wallets make them. Source: SPL Token, Associated Token Account, Memo. */

const writable = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: true });
const readable = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: false });
const signing = (pubkey: PublicKey) => ({ pubkey, isSigner: true, isWritable: false });

/** The token account of a wallet for a mint of either token program. */
export const tokenAccountFor = (
  wallet: PublicKey,
  mint: PublicKey,
  program: PublicKey = programs.token,
): PublicKey =>
  PublicKey.findProgramAddressSync(
    [wallet.toBytes(), program.toBytes(), mint.toBytes()],
    programs.tokenAccounts,
  )[0];

/** Makes a wallet's token account, unless it is there. */
export function createTokenAccount(
  payer: PublicKey,
  wallet: PublicKey,
  mint: PublicKey,
  program: PublicKey = programs.token,
): TransactionInstruction {
  const idempotent = 1;
  return new TransactionInstruction({
    programId: programs.tokenAccounts,
    keys: [
      { pubkey: payer, isSigner: true, isWritable: true },
      writable(tokenAccountFor(wallet, mint, program)),
      readable(wallet),
      readable(mint),
      readable(SystemProgram.programId),
      readable(program),
    ],
    data: Buffer.from([idempotent]),
  });
}

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

export type Transfer = {
  source: PublicKey;
  mint: PublicKey;
  destination: PublicKey;
  authority: PublicKey;
  amount: bigint;
  decimals: number;
  program?: PublicKey;
  /** Keys that are named so that the transfer can be found by them. Source: Solana Pay, reference. */
  references?: readonly PublicKey[];
};

export function transferChecked(transfer: Transfer): TransactionInstruction {
  const { source, mint, destination, authority, amount, decimals } = transfer;
  const { program = programs.token, references = [] } = transfer;
  return new TransactionInstruction({
    programId: program,
    keys: [
      writable(source),
      readable(mint),
      writable(destination),
      signing(authority),
      ...references.map(readable),
    ],
    data: Buffer.concat([withAmount(12, amount), Buffer.from([decimals])]),
  });
}

export const memo = (text: string, signers: readonly PublicKey[] = []): TransactionInstruction =>
  new TransactionInstruction({
    programId: programs.memo,
    keys: signers.map(signing),
    data: Buffer.from(text, "utf8"),
  });

function withAmount(instruction: number, amount: bigint): Buffer {
  const data = Buffer.alloc(9);
  data.writeUInt8(instruction, 0);
  data.writeBigUInt64LE(amount, 1);
  return data;
}

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
