import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import { Database } from "bun:sqlite";
import { transactionOf } from "#api/chain/payment.ts";
import type { Clock } from "#content/contract/base/time.ts";
import type { Commitment } from "#content/contract/transfer.ts";
import { codeOf } from "#site/bundle/blobs.ts";
import { type Balances, balancesIn, decimalsOf } from "./accounts.ts";
import {
  type AccountKeys,
  accountKeysOf,
  type ChainAccount,
  genesis,
  type Outcome,
  type TransactionError,
} from "./svm.ts";

/** A transaction in its block. */
export type Landing = {
  signature: string;
  slot: number;
  transaction: VersionedTransaction;
  bytes: Uint8Array;
  keys: AccountKeys;
  outcome: Outcome;
  before: Balances;
  after: Balances;
  /** Milliseconds since 1970 from which reads show it: chaos may delay that. */
  visibleFromMs: number;
};

/** A transaction that ran without a trace, and the accounts as they would be. */
export type Trial = { outcome: Outcome; account(address: string): ChainAccount | null };

/** Nothing of it is on the chain; `outcome` is null unless it ran. "undecodable": the bytes are no transaction. */
export type Refused = { refused: TransactionError; outcome: Outcome | null };

/** What a transaction must be to be run: signed, and with a blockhash of the last minute. */
export type Scrutiny = { verify: boolean; anyBlockhash: boolean };

export type Ledger = ReturnType<typeof openLedger>;

/** Opens the chain: genesis, and all that the journal holds once more. */
export function openLedger(clock: Clock, options: SlotOptions, journal: Journal | null) {
  const slots = countSlots(clock, options);
  const svm = genesis();
  const landings = new Map<string, Landing>();
  const touching = new Map<string, Landing[]>();

  function accepted(bytes: Uint8Array, anyBlockhash: boolean): VersionedTransaction | Refused {
    const transaction = transactionOf(bytes);
    if (transaction === null) return refused("undecodable");
    if (landings.has(signatureOf(transaction))) return refused("AlreadyProcessed");
    const { recentBlockhash } = transaction.message;
    return anyBlockhash || slots.isValid(recentBlockhash, "processed")
      ? transaction
      : refused("BlockhashNotFound");
  }

  function run(bytes: Uint8Array, transaction: VersionedTransaction, slot: number) {
    const keys = accountKeysOf(transaction, svm);
    if (keys === null) return refused("AddressLookupTableNotFound");
    svm.setTime(slot, slots.timeOf(slot));
    const before = balancesIn(svm, keys);
    const outcome = svm.run(bytes);
    if (!lands(outcome)) return refused(outcome.err ?? "", outcome);
    const after = balancesIn(svm, keys);
    const signature = signatureOf(transaction);
    const ran = { signature, slot, transaction, bytes, keys, outcome, before, after };
    const landing: Landing = { ...ran, visibleFromMs: 0 };
    landings.set(signature, landing);
    for (const key of keys.all) {
      const others = touching.get(key);
      if (others === undefined) touching.set(key, [landing]);
      else others.push(landing);
    }
    return landing;
  }

  svm.verify(false);
  for (const { slot, bytes } of journal?.all() ?? []) {
    const transaction = transactionOf(bytes);
    if (transaction !== null) run(bytes, transaction, slot);
    slots.goOnAfter(slot);
  }
  svm.verify(true);
  return {
    slots,
    clock,
    /** Runs a transaction and keeps it, failed ones as well when they pay their fee. */
    send: (bytes: Uint8Array): Landing | Refused => {
      const transaction = accepted(bytes, false);
      if ("refused" in transaction) return transaction;
      const slot = slots.now();
      const landing = run(bytes, transaction, slot);
      if (!("refused" in landing)) journal?.add(slot, bytes);
      return landing;
    },
    simulate: (bytes: Uint8Array, { verify, anyBlockhash }: Scrutiny): Trial | Refused => {
      const transaction = accepted(bytes, anyBlockhash);
      if ("refused" in transaction) return transaction;
      svm.verify(verify);
      const { outcome, after } = svm.simulate(bytes);
      svm.verify(true);
      if (!lands(outcome)) return refused(outcome.err ?? "", outcome);
      return { outcome, account: (of) => after.get(of) ?? svm.account(of) };
    },
    landing: (signature: string): Landing | null => landings.get(signature) ?? null,
    /** Transactions that name an account, the oldest first. */
    touching: (address: string): readonly Landing[] => touching.get(address) ?? [],
    account: svm.account,
    accountsOf: svm.accountsOf,
    rentFor: svm.rentFor,
    decimals: (mint: string) => decimalsOf(svm, mint),
    /** How many transactions there are. */
    count: () => landings.size,
  };
}

const refused = (err: TransactionError, outcome: Outcome | null = null): Refused => ({
  refused: err,
  outcome,
});

const signatureOf = ({ signatures }: VersionedTransaction): string =>
  bs58.encode(signatures[0] ?? []);

/** Whether a transaction takes its place in a block and pays its fee: errors with details do, the others leave no trace. */
const lands = ({ err }: Outcome): boolean => typeof err !== "string";

/** The transactions of the chain in their order. Anyone who runs them once more has the same chain. */
export type Journal = ReturnType<typeof openJournal>;

/** Another process keeps this journal. */
export class JournalTaken extends Error {
  override name = "JournalTaken";
}

/** How long a new chain waits for one that is ending. */
const waitMs = 2_000;

/**
 * Opens a journal, and makes its folder. One process holds it until it ends, however it ends; throws JournalTaken when
 * that is another. A transaction that was written survives the process, not a power cut.
 */
export function openJournal(path: string) {
  mkdirSync(dirname(path), { recursive: true });
  const db = new Database(path, { create: true });
  try {
    db.run(`PRAGMA busy_timeout = ${waitMs}`);
    db.run("PRAGMA locking_mode = EXCLUSIVE");
    db.run("PRAGMA journal_mode = WAL");
    db.run("PRAGMA synchronous = OFF");
    // Only a write takes the lock.
    db.run("BEGIN IMMEDIATE");
    db.run(
      "CREATE TABLE IF NOT EXISTS landed (n INTEGER PRIMARY KEY, slot INTEGER NOT NULL, bytes BLOB NOT NULL)",
    );
    db.run("COMMIT");
  } catch (cause) {
    db.close();
    if (!codeOf(cause).startsWith("SQLITE_BUSY")) throw cause;
    throw new JournalTaken(`another process keeps ${path}`, { cause });
  }
  const rows = db.query<{ slot: number; bytes: Uint8Array }, []>(
    "SELECT slot, bytes FROM landed ORDER BY n",
  );
  const insert = db.query("INSERT INTO landed (slot, bytes) VALUES (?, ?)");
  return {
    all: () => rows.iterate(),
    add: (slot: number, bytes: Uint8Array) => void insert.run(slot, bytes),
    close: () => db.close(),
  };
}

export type SlotOptions = {
  /** Slots until a block is confirmed and finalized. */
  confirmedAfter: number;
  finalizedAfter: number;
};

/** As on mainnet, about. */
export const slotsAsOnMainnet: SlotOptions = { confirmedAfter: 1, finalizedAfter: 32 };

/** Blockhashes live for 150 slots: a minute. Source: Solana, MAX_PROCESSING_AGE. */
export const blockhashSlots = 150;
const slotMs = 400;
/** The first block of mainnet, so that slots look as they do there. */
const firstBlockMs = Date.UTC(2020, 2, 16, 14, 29);

/** Time as the local chain counts it: a slot every 400 ms, a blockhash of its own for each. */
export type Slots = ReturnType<typeof countSlots>;

/** Starts counting. A slot's hash is that of its number, so that a restarted chain still knows the hashes it gave away. */
export function countSlots(clock: Clock, { confirmedAfter, finalizedAfter }: SlotOptions) {
  let readMs = clock().getTime();
  // What a clock that was set back owes: slots go on at their pace, or nothing would be confirmed until it has caught up.
  let aheadMs = 0;
  const now = () => {
    const nowMs = clock().getTime();
    if (nowMs < readMs) aheadMs += readMs - nowMs;
    readMs = nowMs;
    return Math.floor((nowMs + aheadMs - firstBlockMs) / slotMs);
  };
  /** Goes on after a slot that the journal knows: the clock may have been set back while the chain was away. */
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
    /** The newest slot; never smaller than before, whatever the clock does. */
    now,
    goOnAfter,
    /** The newest slot that has come so far. */
    at,
    commitmentOf: (slot: number): Commitment => {
      if (slot <= at("finalized")) return "finalized";
      return slot <= at("confirmed") ? "confirmed" : "processed";
    },
    /** Seconds since 1970. */
    timeOf: (slot: number) => Math.floor((firstBlockMs + slot * slotMs) / 1_000),
    blockhash: hashOf,
    /** Whether a transaction with this blockhash may still land, as the newest block of that commitment sees it. */
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
  const hash = createHash("sha256").update(`almoner local block ${slot}`).digest();
  hash.writeUIntBE(slot, hashBytes - slotBytes, slotBytes);
  return bs58.encode(hash);
}
