import bs58 from "bs58";
import type { Landing } from "./ledger.ts";
import { parseInstruction } from "./parse-instruction.ts";
import type { Slots } from "./slots.ts";

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
