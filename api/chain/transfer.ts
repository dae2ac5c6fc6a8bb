import {
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { usdcDecimals } from "#content/contract/base/money.ts";

/** Programs that the instructions of a payment call. Source: Solana Program Library. */
export const programs = {
  token: new PublicKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"),
  token2022: new PublicKey("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"),
  tokenAccounts: new PublicKey("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"),
  memo: new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
  /** The first memo program, which some wallets still use. */
  memoV1: new PublicKey("Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo"),
  /** A memo program that costs less compute, which newer libraries use. */
  memoV4: new PublicKey("Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH"),
  computeBudget: ComputeBudgetProgram.programId,
} as const;

/** The addresses of all memo programs. */
export const memoPrograms: ReadonlySet<string> = new Set(
  [programs.memo, programs.memoV1, programs.memoV4].map((program) => program.toBase58()),
);

/** The default token account of a wallet. Off-curve wallets have one, too. */
export const tokenAccount = (
  wallet: PublicKey,
  mint: PublicKey,
  program: PublicKey = programs.token,
): PublicKey =>
  PublicKey.findProgramAddressSync(
    [wallet.toBytes(), program.toBytes(), mint.toBytes()],
    programs.tokenAccounts,
  )[0];

// Instructions of the token programs, as wallets make them. Source: SPL Token, Associated Token Account, Memo.

export const writable = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: true });
const readable = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: false });
export const signing = (pubkey: PublicKey) => ({ pubkey, isSigner: true, isWritable: false });

/** Creates a wallet's token account unless it exists. */
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
      writable(tokenAccount(wallet, mint, program)),
      readable(wallet),
      readable(mint),
      readable(SystemProgram.programId),
      readable(program),
    ],
    data: Buffer.from([idempotent]),
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
  /** Keys included so that the transfer can be found by them. Source: Solana Pay, reference. */
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

export const memo = (text: string): TransactionInstruction =>
  new TransactionInstruction({
    programId: programs.memo,
    keys: [],
    data: Buffer.from(text, "utf8"),
  });

export function withAmount(instruction: number, amount: bigint): Buffer {
  const data = Buffer.alloc(9);
  data.writeUInt8(instruction, 0);
  data.writeBigUInt64LE(amount, 1);
  return data;
}

/** The terms of a payment: micro-USDC to a wallet, which its memo and its Solana Pay references make findable. */
export type Payment = {
  to: string;
  amount: bigint;
  memo?: string | undefined;
  references?: readonly string[];
  /** Creates the recipient's token account first, unless it exists. */
  makeAccount?: boolean;
};

/** The instructions that pay USDC from a wallet's own token account. */
export function paymentInstructions(
  authority: PublicKey,
  mint: PublicKey,
  { to, amount, memo: text, references: named = [], makeAccount = false }: Payment,
): TransactionInstruction[] {
  const wallet = new PublicKey(to);
  const source = tokenAccount(authority, mint);
  const destination = tokenAccount(wallet, mint);
  const references = named.map((address) => new PublicKey(address));
  const terms = { mint, authority, amount, decimals: usdcDecimals, references };
  return [
    ...(makeAccount ? [createTokenAccount(authority, wallet, mint)] : []),
    transferChecked({ source, destination, ...terms }),
    ...(text === undefined ? [] : [memo(text)]),
  ];
}

/** A payment for its donor to sign, in base64. The donor pays the network fee. */
export function unsignedPayment(
  donor: string,
  mint: string,
  payment: Payment,
  blockhash: string,
): string {
  const payerKey = new PublicKey(donor);
  const instructions = paymentInstructions(payerKey, new PublicKey(mint), payment);
  const message = new TransactionMessage({ payerKey, recentBlockhash: blockhash, instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  return Buffer.from(transaction.serialize()).toString("base64");
}
