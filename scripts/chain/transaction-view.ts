import { SystemProgram } from "@solana/web3.js";
import bs58 from "bs58";
import { z } from "zod";
import { memoPrograms, programs } from "#api/chain/programs.ts";
import { tokenProgramName, uiTokenAmount } from "./accounts.ts";
import type { Landing, Slots } from "./ledger.ts";

export const TransactionEncoding = z.enum(["json", "jsonParsed", "base64", "base58"]);
type TransactionEncoding = z.infer<typeof TransactionEncoding>;

/** A transaction as `getTransaction` answers it. */
export function showTransaction(landing: Landing, encoding: TransactionEncoding, slots: Slots) {
  return {
    slot: landing.slot,
    blockTime: slots.timeOf(landing.slot),
    version: landing.transaction.version,
    meta: metaOf(landing, encoding),
    transaction: bodyOf(landing, encoding),
  };
}

function metaOf(landing: Landing, encoding: TransactionEncoding) {
  const { outcome, before, after, keys } = landing;
  const { err } = outcome;
  return {
    err,
    status: err === null ? { Ok: null } : { Err: err },
    fee: outcome.fee,
    computeUnitsConsumed: outcome.units,
    costUnits: outcome.units,
    logMessages: outcome.logs,
    innerInstructions: innerOf(landing, encoding === "jsonParsed"),
    preBalances: before.lamports,
    postBalances: after.lamports,
    preTokenBalances: before.tokens,
    postTokenBalances: after.tokens,
    rewards: [],
    // jsonParsed lists loaded addresses beside the others instead.
    ...(encoding === "jsonParsed" ? {} : { loadedAddresses: keys.loaded }),
  };
}

const innerOf = (landing: Landing, parsed: boolean) =>
  landing.outcome.inner.flatMap((inner, index) => {
    const instructions = inner.map((one) =>
      showInstruction(landing, { ...one, data: bs58.decode(one.data) }, one.stackHeight, parsed),
    );
    return instructions.length === 0 ? [] : [{ index, instructions }];
  });

function bodyOf(landing: Landing, encoding: TransactionEncoding) {
  if (encoding === "base64") return [Buffer.from(landing.bytes).toString("base64"), "base64"];
  if (encoding === "base58") return [bs58.encode(landing.bytes), "base58"];
  const signatures = landing.transaction.signatures.map((one) => bs58.encode(one));
  return { signatures, message: messageOf(landing, encoding === "jsonParsed") };
}

function messageOf(landing: Landing, parsed: boolean) {
  const { keys, transaction } = landing;
  const { message, version } = transaction;
  const addressTableLookups = message.addressTableLookups.map((one) => ({
    accountKey: one.accountKey.toBase58(),
    writableIndexes: one.writableIndexes,
    readonlyIndexes: one.readonlyIndexes,
  }));
  const accountKeys = keys.all.map((pubkey, index) => ({
    pubkey,
    signer: message.isAccountSigner(index),
    writable: message.isAccountWritable(index),
    source: index < keys.named ? "transaction" : "lookupTable",
  }));
  return {
    ...(parsed
      ? { accountKeys }
      : { header: message.header, accountKeys: keys.all.slice(0, keys.named) }),
    recentBlockhash: message.recentBlockhash,
    instructions: instructionsOf(landing, parsed),
    ...(version === "legacy" ? {} : { addressTableLookups }),
  };
}

const instructionsOf = (landing: Landing, parsed: boolean) =>
  landing.transaction.message.compiledInstructions.map((one) => {
    const plain = { program: one.programIdIndex, accounts: one.accountKeyIndexes, data: one.data };
    return showInstruction(landing, plain, 1, parsed);
  });

/** The memos of a transaction as `getSignaturesForAddress` gives them: "[length] text", joined by "; ". */
export function memosOf(landing: Landing): string | null {
  const texts = instructionsOf(landing, true).flatMap((one) =>
    "parsed" in one && typeof one.parsed === "string" ? [one.parsed] : [],
  );
  if (texts.length === 0) return null;
  return texts.map((text) => `[${Buffer.byteLength(text)}] ${text}`).join("; ");
}

/** An instruction whose program and accounts are places among the keys of its transaction. */
type Instruction = { program: number; accounts: number[]; data: Uint8Array };

/** As the RPC shows it. Parsed: what it knows is taken apart, as a validator does, the rest has its accounts named. */
function showInstruction(
  { keys }: Landing,
  { program, accounts: indexes, data: bytes }: Instruction,
  stackHeight: number | null,
  parsed: boolean,
) {
  const data = bs58.encode(bytes);
  if (!parsed) return { programIdIndex: program, accounts: indexes, data, stackHeight };
  const programId = keys.all[program] ?? "";
  const accounts = indexes.map((index) => keys.all[index] ?? "");
  const known = parserOf(programId);
  const meaning = known?.parse(accounts, Buffer.from(bytes)) ?? null;
  return known === null || meaning === null
    ? { programId, accounts, data, stackHeight }
    : { program: known.program, programId, parsed: meaning, stackHeight };
}

/** Null for an instruction that it does not know. */
type Parse = (accounts: string[], data: Buffer) => unknown;

function parserOf(programId: string): { program: string; parse: Parse } | null {
  if (memoPrograms.has(programId)) return { program: "spl-memo", parse: memo };
  if (programId === SystemProgram.programId.toBase58()) return { program: "system", parse: system };
  if (programId === programs.tokenAccounts.toBase58()) {
    return { program: "spl-associated-token-account", parse: tokenAccounts };
  }
  const token = tokenProgramName(programId);
  return token === null ? null : { program: token, parse: tokens };
}

const memo: Parse = (_accounts, data) => data.toString("utf8");

const system: Parse = ([source, destination], data) => {
  if (data.length !== 12 || data.readUInt32LE(0) !== 2) return null;
  const lamports = Number(data.readBigUInt64LE(4));
  return { type: "transfer", info: { source, destination, lamports } };
};

const tokenAccounts: Parse = (accounts, data) => {
  const type = data.length === 0 ? "create" : ["create", "createIdempotent"][data[0] ?? 9];
  if (type === undefined) return null;
  const [source, account, wallet, mint, systemProgram, tokenProgram] = accounts;
  return { type, info: { source, account, wallet, mint, systemProgram, tokenProgram } };
};

/** By their discriminators: how the instruction is called, and its accounts in their order. */
const tokenInstructions: Readonly<Record<number, { type: string; accounts: string[] }>> = {
  3: { type: "transfer", accounts: ["source", "destination", "authority"] },
  7: { type: "mintTo", accounts: ["mint", "account", "mintAuthority"] },
  12: { type: "transferChecked", accounts: ["source", "mint", "destination", "authority"] },
};

const tokens: Parse = (accounts, data) => {
  const known = tokenInstructions[data[0] ?? 0];
  const isChecked = known?.type === "transferChecked";
  if (known === undefined || data.length !== (isChecked ? 10 : 9)) return null;
  const amount = data.readBigUInt64LE(1);
  const named = known.accounts.map((name, at) => [name, accounts[at]]);
  const paid = isChecked
    ? { tokenAmount: uiTokenAmount(amount, data[9] ?? 0) }
    : { amount: amount.toString() };
  return { type: known.type, info: { ...Object.fromEntries(named), ...paid } };
};
