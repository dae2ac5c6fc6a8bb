import { SystemProgram } from "@solana/web3.js";
import bs58 from "bs58";
import { programs } from "#api/chain/programs.ts";
import type { Landing } from "./ledger.ts";
import type { Slots } from "./slots.ts";
import { tokenProgramName, uiTokenAmount } from "./token-accounts.ts";

export type TransactionEncoding = "json" | "jsonParsed" | "base64" | "base58";

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
    innerInstructions: innerOf(landing, encoding),
    preBalances: before.lamports,
    postBalances: after.lamports,
    preTokenBalances: before.tokens,
    postTokenBalances: after.tokens,
    rewards: [],
    // jsonParsed lists loaded addresses beside the others instead.
    ...(encoding === "jsonParsed" ? {} : { loadedAddresses: keys.loaded }),
  };
}

function innerOf({ outcome, keys }: Landing, encoding: TransactionEncoding) {
  return outcome.inner.flatMap((inner, index) => {
    if (inner.length === 0) return [];
    const instructions = inner.map((one) => {
      const compiled = one.instruction();
      const accounts = [...compiled.accounts()];
      const stackHeight = one.stackHeight();
      if (encoding !== "jsonParsed") {
        const data = bs58.encode(compiled.data());
        return { programIdIndex: compiled.programIdIndex(), accounts, data, stackHeight };
      }
      const programId = keys.all[compiled.programIdIndex()] ?? "";
      return parseInstruction(
        { programId, accounts: named(keys.all, accounts), data: compiled.data() },
        stackHeight,
      );
    });
    return [{ index, instructions }];
  });
}

const named = (keys: readonly string[], indexes: readonly number[]) =>
  indexes.map((index) => keys[index] ?? "");

function bodyOf(landing: Landing, encoding: TransactionEncoding) {
  if (encoding === "base64") return [Buffer.from(landing.bytes).toString("base64"), "base64"];
  if (encoding === "base58") return [bs58.encode(landing.bytes), "base58"];
  const { signatures } = landing.transaction;
  return {
    signatures: signatures.map((one) => bs58.encode(one)),
    message: encoding === "json" ? messageOf(landing) : parsedMessageOf(landing),
  };
}

function tablesOf({ transaction }: Landing) {
  const { message, version } = transaction;
  if (version === "legacy") return {};
  const addressTableLookups = message.addressTableLookups.map((one) => ({
    accountKey: one.accountKey.toBase58(),
    writableIndexes: one.writableIndexes,
    readonlyIndexes: one.readonlyIndexes,
  }));
  return { addressTableLookups };
}

function messageOf(landing: Landing) {
  const { message } = landing.transaction;
  return {
    header: message.header,
    accountKeys: landing.keys.all.slice(0, landing.keys.named),
    recentBlockhash: message.recentBlockhash,
    instructions: message.compiledInstructions.map((one) => ({
      programIdIndex: one.programIdIndex,
      accounts: one.accountKeyIndexes,
      data: bs58.encode(one.data),
      stackHeight: 1,
    })),
    ...tablesOf(landing),
  };
}

function parsedMessageOf(landing: Landing) {
  const { keys, transaction } = landing;
  return {
    accountKeys: keys.all.map((pubkey, index) => ({
      pubkey,
      signer: keys.isSigner(index),
      writable: keys.isWritable(index),
      source: index < keys.named ? "transaction" : "lookupTable",
    })),
    recentBlockhash: transaction.message.recentBlockhash,
    instructions: transaction.message.compiledInstructions.map((one) =>
      parseInstruction(
        {
          programId: keys.all[one.programIdIndex] ?? "",
          accounts: named(keys.all, one.accountKeyIndexes),
          data: one.data,
        },
        1,
      ),
    ),
    ...tablesOf(landing),
  };
}

/** The memos of a transaction as `getSignaturesForAddress` gives them: "[length] text", joined by "; ". */
export function memosOf(landing: Landing): string | null {
  const { instructions } = parsedMessageOf(landing);
  const texts = instructions.flatMap((one) =>
    "parsed" in one && typeof one.parsed === "string" ? [one.parsed] : [],
  );
  if (texts.length === 0) return null;
  return texts.map((text) => `[${Buffer.byteLength(text)}] ${text}`).join("; ");
}

/** An instruction with its accounts named. */
export type PlainInstruction = { programId: string; accounts: string[]; data: Uint8Array };

/** As the RPC shows it in `jsonParsed`: what it knows is taken apart, the rest is left in base58. */
export type ShownInstruction =
  | { program: string; programId: string; parsed: unknown; stackHeight: number | null }
  | { programId: string; accounts: string[]; data: string; stackHeight: number | null };

/** Names those that payments are made of, as a validator does. */
export function parseInstruction(
  instruction: PlainInstruction,
  stackHeight: number | null,
): ShownInstruction {
  const { programId, accounts, data } = instruction;
  const known = parsersOf(programId);
  const parsed = known?.parse(accounts, Buffer.from(data)) ?? null;
  if (known === null || parsed === null) {
    return { programId, accounts, data: bs58.encode(data), stackHeight };
  }
  return { program: known.program, programId, parsed, stackHeight };
}

/** Null for an instruction that it does not know. */
type Parse = (accounts: string[], data: Buffer) => unknown;

function parsersOf(programId: string): { program: string; parse: Parse } | null {
  if (programId === programs.memo.toBase58()) return { program: "spl-memo", parse: memo };
  if (programId === programs.memoV1.toBase58()) return { program: "spl-memo", parse: memo };
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

const tokens: Parse = (accounts, data) => {
  if (data[0] === 3 && data.length === 9) {
    const [source, destination, authority] = accounts;
    const amount = data.readBigUInt64LE(1).toString();
    return { type: "transfer", info: { source, destination, authority, amount } };
  }
  if (data[0] === 12 && data.length === 10) {
    const [source, mint, destination, authority] = accounts;
    const tokenAmount = uiTokenAmount(data.readBigUInt64LE(1), data[9] ?? 0);
    return { type: "transferChecked", info: { source, mint, destination, authority, tokenAmount } };
  }
  if (data[0] === 7 && data.length === 9) {
    const [mint, account, mintAuthority] = accounts;
    const amount = data.readBigUInt64LE(1).toString();
    return { type: "mintTo", info: { mint, account, mintAuthority, amount } };
  }
  return null;
};
