import {
  ComputeBudgetProgram,
  type Keypair,
  PublicKey,
  type TransactionInstruction,
} from "@solana/web3.js";
import {
  createTokenAccount,
  memo,
  programs,
  tokenAccount,
  transferChecked,
} from "#api/chain/transfer.ts";
import { microUsdcFrom } from "#content/contract/base/money.ts";
import { type BuiltTransaction, signedTransaction } from "#scripts/chain/instructions.ts";
import { usdcMint } from "#scripts/chain/svm.ts";

/** How a donor pays. What is not said is as the x402 `exact` scheme has it. */
export type Paying = {
  /** Wallet of the nonprofit, or several payees of one transaction. */
  to: string | readonly { to: string; usdc: string }[];
  usdc?: string;
  memo?: string | readonly string[];
  /** Who pays the network fee; its signature is left missing, as a sponsored client leaves it. The donor unless said. */
  feePayer?: string;
  /** Solana Pay's. */
  references?: readonly string[];
  computeUnits?: number | null;
  /** Millionths of a lamport for each compute unit. */
  unitPrice?: number | null;
  /** Makes the recipient's account first. */
  makeAccount?: boolean;
  /** Another token than USDC, and the program that keeps it. */
  mint?: PublicKey;
  program?: PublicKey;
  /** Another authority over another source, whose signature is left missing. */
  authority?: string;
  /** A plain Transfer, which names no mint. */
  plain?: boolean;
  legacy?: boolean;
  /** Instructions behind the transfer. */
  also?: readonly TransactionInstruction[];
  signers?: readonly Keypair[];
  /** Another than the newest. */
  blockhash?: string;
};

const decimals = 6;

/** A signed transaction that pays as wallets and x402 clients do, or as they should not. No one has sent it yet. */
export function buildPaying(
  donor: Keypair,
  paying: Paying,
  newestBlockhash: string,
): BuiltTransaction {
  return signedTransaction(instructionsOf(donor.publicKey, paying), {
    // A sponsor who is made the authority leaves the donor nothing to sign.
    signers: [...(signsNothing(paying) ? [] : [donor]), ...(paying.signers ?? [])],
    ...(paying.feePayer === undefined ? {} : { payer: new PublicKey(paying.feePayer) }),
    blockhash: paying.blockhash ?? newestBlockhash,
    legacy: paying.legacy === true,
  });
}

const signsNothing = ({ feePayer, authority }: Paying): boolean =>
  feePayer !== undefined && feePayer === authority;

/** Two like payments of one slot would be one transaction. */
let paid = 0;

function instructionsOf(donor: PublicKey, paying: Paying): TransactionInstruction[] {
  const { makeAccount = false, unitPrice = 1, memo: texts = [], also = [] } = paying;
  // Looking for the address of an account takes some wallets more than 20,000.
  const { computeUnits = (makeAccount ? 100_000 : 20_000) + ++paid } = paying;
  const payees =
    typeof paying.to === "string" ? [{ to: paying.to, usdc: paying.usdc ?? "1" }] : paying.to;
  return [
    ...(computeUnits === null
      ? []
      : [ComputeBudgetProgram.setComputeUnitLimit({ units: computeUnits })]),
    ...(unitPrice === null
      ? []
      : [ComputeBudgetProgram.setComputeUnitPrice({ microLamports: unitPrice })]),
    ...payees.flatMap((payee) => transfersTo(donor, payee, paying)),
    ...also,
    ...[texts].flat().map((text) => memo(text)),
  ];
}

function transfersTo(
  donor: PublicKey,
  payee: { to: string; usdc: string },
  {
    mint = usdcMint,
    program = programs.token,
    references = [],
    authority,
    makeAccount,
    plain = false,
  }: Paying,
): TransactionInstruction[] {
  const wallet = new PublicKey(payee.to);
  const from = authority === undefined ? donor : new PublicKey(authority);
  const transfer = transferChecked({
    source: tokenAccount(from, mint, program),
    mint,
    destination: tokenAccount(wallet, mint, program),
    authority: from,
    amount: micro(payee.usdc),
    decimals,
    program,
    references: references.map((one) => new PublicKey(one)),
  });
  if (plain) {
    // The same without the mint among the accounts and the decimals at the end.
    transfer.keys.splice(1, 1);
    transfer.data = Buffer.concat([Buffer.from([3]), transfer.data.subarray(1, 9)]);
  }
  return makeAccount === true
    ? [createTokenAccount(donor, wallet, mint, program), transfer]
    : [transfer];
}

/** Throws for text that is not an amount. */
export function micro(usdc: string): bigint {
  const amount = microUsdcFrom(usdc);
  if (amount === null) throw new Error(`${usdc} is not an amount`);
  return amount;
}
