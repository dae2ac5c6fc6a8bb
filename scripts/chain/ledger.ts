import { sha256Bytes } from "#content/runtime/digest.ts";
import type { VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import { transactionOf } from "#api/chain/payment.ts";
import type { Clock } from "#content/contract/base/time.ts";
import type { Commitment } from "#content/contract/transfer.ts";
import { balancesIn, accountKeysOf, genesis, type Outcome, type TransactionError } from "./svm.ts";
import type { Entry, Journal } from "./journal.ts";

/** A transaction in its block. */
export type Landing = Entry & {
  transaction: VersionedTransaction;
  /** The time (milliseconds since 1970) from which reads show it; chaos may delay it. */
  visibleFromMs: number;
};

/** A transaction that left no trace; `outcome` is null unless it ran. "undecodable": the bytes are no transaction. */
export type Refusal = { refused: TransactionError; outcome: Outcome | null };

/** Checks before a transaction runs: of its signatures, and of a blockhash from the last minute. */
export type Scrutiny = { verify: boolean; anyBlockhash: boolean };

export type Ledger = ReturnType<typeof openLedger>;

/** Opens the chain: genesis, and the accounts from the journal. */
export function openLedger(clock: Clock, options: SlotOptions, journal: Journal) {
  const slots = countSlots(clock, options);
  const svm = genesis();
  const visibleFrom = new Map<string, number>();

  const landingOf = (entry: Entry): Landing => {
    const transaction = transactionOf(entry.bytes);
    if (transaction === null) throw new Error(`${entry.signature} is damaged in the journal`);
    return { ...entry, transaction, visibleFromMs: visibleFrom.get(entry.signature) ?? 0 };
  };

  function landing(signature: string): Landing | null {
    const entry = journal.get(signature);
    return entry === null ? null : landingOf(entry);
  }

  const isSeen = ({ slot, visibleFromMs }: Landing, commitment: Commitment): boolean =>
    slot <= slots.at(commitment) && visibleFromMs <= clock().getTime();

  function accepted(bytes: Uint8Array, anyBlockhash: boolean): VersionedTransaction | Refusal {
    const transaction = transactionOf(bytes);
    if (transaction === null) return refused("undecodable");
    if (journal.get(signatureOf(transaction)) !== null) return refused("AlreadyProcessed");
    const { recentBlockhash } = transaction.message;
    return anyBlockhash || slots.isValid(recentBlockhash, "processed")
      ? transaction
      : refused("BlockhashNotFound");
  }

  function run(bytes: Uint8Array, transaction: VersionedTransaction, slot: number) {
    const keys = accountKeysOf(transaction);
    if (keys === null) return refused("AddressLookupTableNotFound");
    svm.setTime(slot, slots.timeOf(slot));
    const before = balancesIn(svm, keys);
    const outcome = svm.run(bytes);
    if (!lands(outcome)) return refused(outcome.err ?? "", outcome);
    const after = balancesIn(svm, keys);
    const entry = {
      signature: signatureOf(transaction),
      slot,
      bytes,
      keys,
      outcome,
      before,
      after,
    };
    const changed = keys.all.filter((_, at) => transaction.message.isAccountWritable(at));
    journal.add(
      entry,
      changed.map((address) => ({ address, account: svm.account(address) })),
    );
    return landingOf(entry);
  }

  for (const { address, owner, lamports, data } of journal.accounts()) {
    svm.put(address, owner, BigInt(lamports), data);
  }
  slots.goOnAfter(journal.newest().slot);
  return {
    slots,
    clock,
    /** Runs a transaction and stores it, even a failed one if it pays its fee. */
    send: (bytes: Uint8Array): Landing | Refusal => {
      const transaction = accepted(bytes, false);
      if ("refused" in transaction) return transaction;
      return run(bytes, transaction, slots.now());
    },
    simulate: (bytes: Uint8Array, { verify, anyBlockhash }: Scrutiny): Outcome | Refusal => {
      const transaction = accepted(bytes, anyBlockhash);
      if ("refused" in transaction) return transaction;
      svm.verify(verify);
      const outcome = svm.simulate(bytes);
      svm.verify(true);
      return lands(outcome) ? outcome : refused(outcome.err ?? "", outcome);
    },
    landing,
    /** A transaction as visible at a commitment; null while it is not. */
    seen: (signature: string, commitment: Commitment): Landing | null => {
      const landed = landing(signature);
      return landed !== null && isSeen(landed, commitment) ? landed : null;
    },
    /** Hides a transaction from reads until this time. */
    showFrom: (signature: string, visibleFromMs: number) => {
      visibleFrom.set(signature, visibleFromMs);
    },
    /** Transactions that name an account and are visible at a commitment, the newest first. */
    touching: (address: string, commitment: Commitment, limit: number): Landing[] =>
      journal
        .touching(address, { slot: slots.at(commitment), limit })
        .map(landingOf)
        .filter((landed) => isSeen(landed, commitment)),
    account: svm.account,
    rentFor: svm.rentFor,
    count: () => journal.newest().n,
  };
}

const refused = (err: TransactionError, outcome: Outcome | null = null): Refusal => ({
  refused: err,
  outcome,
});

const signatureOf = ({ signatures }: VersionedTransaction): string =>
  bs58.encode(signatures[0] ?? []);

/** Whether a transaction is put into a block and pays its fee: with no error, or one with details. */
const lands = ({ err }: Outcome): boolean => typeof err !== "string";

export type SlotOptions = {
  /** Slots until a block is confirmed and finalized. */
  confirmedAfter: number;
  finalizedAfter: number;
};

/** About as on mainnet. */
export const slotsAsOnMainnet: SlotOptions = { confirmedAfter: 1, finalizedAfter: 32 };

/** A blockhash is valid for 150 slots, a minute. Source: Solana, MAX_PROCESSING_AGE. */
export const blockhashSlots = 150;
const slotMs = 400;
/** The first block of mainnet, so that slot numbers look as they do there. */
const firstBlockMs = Date.UTC(2020, 2, 16, 14, 29);

/** The local chain's time: a slot every 400 ms, each with a blockhash of its own. */
export type Slots = ReturnType<typeof countSlots>;

/** Starts counting. A slot's hash is derived from its number, so a restarted chain knows the hashes it gave out. */
export function countSlots(clock: Clock, { confirmedAfter, finalizedAfter }: SlotOptions) {
  let readMs = clock().getTime();
  // How far the clock was set back: slots keep their pace, or nothing would be confirmed until it has caught up.
  let aheadMs = 0;
  const now = () => {
    const nowMs = clock().getTime();
    if (nowMs < readMs) aheadMs += readMs - nowMs;
    readMs = nowMs;
    return Math.floor((nowMs + aheadMs - firstBlockMs) / slotMs);
  };
  /** Continues after a slot from the journal, because the clock may have been set back while the chain was off. */
  const goOnAfter = (slot: number) => {
    if (now() <= slot) aheadMs += (slot + 1 - now()) * slotMs;
  };
  const lag: Record<Commitment, number> = {
    processed: 0,
    confirmed: confirmedAfter,
    finalized: finalizedAfter,
  };
  const at = (commitment: Commitment) => now() - lag[commitment];
  return {
    /** The newest slot; it never decreases, whatever the clock does. */
    now,
    goOnAfter,
    /** The newest slot at a commitment. */
    at,
    commitmentOf: (slot: number): Commitment => {
      if (slot <= at("finalized")) return "finalized";
      return slot <= at("confirmed") ? "confirmed" : "processed";
    },
    /** Seconds since 1970. */
    timeOf: (slot: number) => Math.floor((firstBlockMs + slot * slotMs) / 1_000),
    blockhash: hashOf,
    /** Whether a transaction with this blockhash may still land, according to the newest block of that commitment. */
    isValid: (blockhash: string, commitment: Commitment) => {
      const bytes = Buffer.from(bs58.decodeUnsafe(blockhash) ?? []);
      if (bytes.length !== hashBytes) return false;
      const slot = bytes.readUIntBE(hashBytes - slotBytes, slotBytes);
      const age = at(commitment) - slot;
      return age >= 0 && age <= blockhashSlots && hashOf(slot) === blockhash;
    },
  };
}

const hashBytes = 32;
const slotBytes = 6;

/** The hash of a slot ends in its number. */
function hashOf(slot: number): string {
  const hash = sha256Bytes(`almoner local block ${slot}`);
  hash.writeUIntBE(slot, hashBytes - slotBytes, slotBytes);
  return bs58.encode(hash);
}
