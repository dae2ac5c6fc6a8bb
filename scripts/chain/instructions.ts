import {
  type Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import bs58 from "bs58";
import { programs, tokenAccount } from "#api/chain/accounts.ts";
import type { Ledger } from "./ledger.ts";
import { faucetKeypair, usdcDecimals, usdcMint } from "./svm.ts";

// Instructions of the token programs, as wallets make them. Source: SPL Token, Associated Token Account, Memo.

const writable = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: true });
const readable = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: false });
const signing = (pubkey: PublicKey) => ({ pubkey, isSigner: true, isWritable: false });

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
      writable(tokenAccount(wallet, mint, program)),
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

/** How a donor pays: micro-USDC to a wallet, found by its memo and its Solana Pay references. */
export type Payment = {
  to: string;
  amount: bigint;
  memo?: string | undefined;
  references?: readonly string[];
  /** Pays the network fee in place of the donor; its signature is left missing. */
  feePayer?: string;
  /** Makes the recipient's token account first, unless it is there. */
  makeAccount?: boolean;
};

/** A signed payment of USDC as wallets make it. No one has sent it yet. */
export function buildPayment(
  donor: Keypair,
  { to, amount, memo: text, references = [], feePayer, makeAccount = false }: Payment,
  blockhash: string,
): Built {
  const [authority, wallet] = [donor.publicKey, new PublicKey(to)];
  const transfer = transferChecked({
    source: tokenAccount(authority, usdcMint),
    mint: usdcMint,
    destination: tokenAccount(wallet, usdcMint),
    authority,
    amount,
    decimals: usdcDecimals,
    references: references.map((one) => new PublicKey(one)),
  });
  const instructions = [
    ...(makeAccount ? [createTokenAccount(authority, wallet, usdcMint)] : []),
    transfer,
    ...(text === undefined ? [] : [memo(text)]),
  ];
  const payer = feePayer === undefined ? {} : { payer: new PublicKey(feePayer) };
  return signedTransaction(instructions, { signers: [donor], blockhash, ...payer });
}

/** What someone asks the faucet for: lamports, and micro-USDC. */
export type Wish = { wallet: PublicKey; lamports?: bigint; usdc?: bigint };

/**
 * Gives away SOL and USDC, by transactions like any other. Makes the wallet's USDC account also when it asks for none.
 * Answers the signature. Throws when the chain refuses, which means that the wish cannot be.
 */
export function give(
  { slots, send }: Pick<Ledger, "slots" | "send">,
  { wallet, lamports = 0n, usdc }: Wish,
): string {
  const faucet = faucetKeypair.publicKey;
  const wishes = [
    // Two like wishes within a slot would be one transaction.
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
