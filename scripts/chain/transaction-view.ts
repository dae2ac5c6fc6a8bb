import bs58 from "bs58";
import { memoPrograms } from "#api/chain/accounts.ts";
import type { Landing, Slots } from "./ledger.ts";

/** A transaction as `getTransaction` answers it with the encoding `jsonParsed`. */
export function showTransaction(landing: Landing, slots: Slots) {
  const { keys, outcome, before, after, transaction } = landing;
  const { message } = transaction;
  return {
    slot: landing.slot,
    blockTime: slots.timeOf(landing.slot),
    version: transaction.version,
    meta: {
      err: outcome.err,
      computeUnitsConsumed: outcome.units,
      logMessages: outcome.logs,
      innerInstructions: outcome.inner.flatMap((inner, index) =>
        inner.length === 0
          ? []
          : [{ index, instructions: inner.map((one) => showInstruction(landing, one)) }],
      ),
      preBalances: before.lamports,
      postBalances: after.lamports,
      preTokenBalances: before.tokens,
      postTokenBalances: after.tokens,
    },
    transaction: {
      signatures: transaction.signatures.map((one) => bs58.encode(one)),
      message: {
        accountKeys: keys.all.map((pubkey, index) => ({
          pubkey,
          signer: message.isAccountSigner(index),
          writable: message.isAccountWritable(index),
        })),
        recentBlockhash: message.recentBlockhash,
        instructions: message.compiledInstructions.map((one) =>
          showInstruction(landing, {
            program: one.programIdIndex,
            accounts: one.accountKeyIndexes,
            data: bs58.encode(one.data),
          }),
        ),
      },
    },
  };
}

/** An instruction whose program and accounts are places among the keys of its transaction; its data as base58. */
type Instruction = { program: number; accounts: number[]; data: string };

/** Memos are taken apart, as a validator does; of every other instruction the accounts are named. */
function showInstruction({ keys }: Landing, { program, accounts, data }: Instruction) {
  const programId = keys.all[program] ?? "";
  if (memoPrograms.has(programId)) {
    const parsed = Buffer.from(bs58.decode(data)).toString("utf8");
    return { program: "spl-memo", programId, parsed };
  }
  return { programId, accounts: accounts.map((index) => keys.all[index] ?? ""), data };
}
