import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import { Database } from "bun:sqlite";
import { takeApart, transactionOf } from "#api/chain/payment.ts";
import type { Clock } from "#content/contract/time.ts";
import { genesis } from "./genesis.ts";
import { lands, type Outcome, type TransactionError } from "./outcome.ts";
import { countSlots, type SlotOptions, type Slots } from "./slots.ts";
import { type AccountKeys, accountKeysOf, type ChainAccount, type Svm } from "./svm.ts";
import { type Balances, balancesIn, decimalsOf } from "./token-accounts.ts";

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

/** Refused before it ran: nothing of it is on the chain. "undecodable" stands for bytes that are no transaction. */
export type Refused = { refused: TransactionError; outcome: Outcome | null };

export type Ledger = {
  readonly slots: Slots;
  readonly clock: Clock;
  /** Runs a transaction and keeps it, failed ones as well when they pay their fee. */
  send(bytes: Uint8Array): Landing | Refused;
  simulate(bytes: Uint8Array, how: Scrutiny): Trial | Refused;
  landing(signature: string): Landing | null;
  /** Transactions that name an account, the oldest first. */
  touching(address: string): readonly Landing[];
  account(address: string): ChainAccount | null;
  accountsOf(program: string): { address: string; account: ChainAccount }[];
  /** Of a mint; 0 when it is none. */
  decimals(mint: string): number;
  rentFor(bytes: number): number;
  /** How many transactions there are. */
  count(): number;
};

export type Scrutiny = { verify: boolean; anyBlockhash: boolean };

export type LedgerOptions = { clock: Clock; slots: SlotOptions; journal: Journal | null };

/** Opens the chain: genesis, and all that the journal holds once more. */
export function openLedger({ clock, slots: options, journal }: LedgerOptions): Ledger {
  const slots = countSlots(clock, options);
  const state: State = { svm: genesis(), slots, landings: new Map(), touching: new Map() };
  const { svm, landings } = state;
  svm.verify(false);
  for (const { slot, bytes } of journal?.all() ?? []) run(state, bytes, slot);
  svm.verify(true);
  return {
    slots,
    clock,
    send: (bytes) => {
      const refused = refusalOf(state, bytes, { verify: true, anyBlockhash: false });
      if (refused !== null) return refused;
      const slot = slots.now();
      const landing = run(state, bytes, slot);
      if (!("refused" in landing)) journal?.add(slot, bytes);
      return landing;
    },
    simulate: (bytes, how) => refusalOf(state, bytes, how) ?? simulate(state, bytes, how),
    landing: (signature) => landings.get(signature) ?? null,
    touching: (address) => state.touching.get(address) ?? [],
    account: (address) => svm.account(address),
    accountsOf: (program) => svm.accountsOf(program),
    decimals: (mint) => decimalsOf(svm, mint),
    rentFor: (bytes) => svm.rentFor(bytes),
    count: () => landings.size,
  };
}

type State = {
  svm: Svm;
  slots: Slots;
  landings: Map<string, Landing>;
  touching: Map<string, Landing[]>;
};

const undecodable: Refused = { refused: "undecodable", outcome: null };

function refusalOf({ landings, slots }: State, bytes: Uint8Array, how: Scrutiny): Refused | null {
  const transaction = transactionOf(bytes);
  if (transaction === null) return undecodable;
  const refused = (err: TransactionError): Refused => ({ refused: err, outcome: null });
  if (how.verify) {
    const { unsigned, badly_signed } = takeApart(transaction, bytes);
    if (unsigned.length + badly_signed.length > 0) return refused("SignatureFailure");
  }
  if (landings.has(bs58.encode(transaction.signatures[0] ?? []))) {
    return refused("AlreadyProcessed");
  }
  if (how.anyBlockhash || slots.isValid(transaction.message.recentBlockhash, "processed")) {
    return null;
  }
  return refused("BlockhashNotFound");
}

function simulate({ svm }: State, bytes: Uint8Array, { verify }: Scrutiny): Trial | Refused {
  const transaction = transactionOf(bytes);
  if (transaction === null) return undecodable;
  svm.verify(verify);
  const { outcome, after } = svm.simulate(bytes, transaction.version !== "legacy");
  svm.verify(true);
  if (!lands(outcome.err)) return { refused: outcome.err ?? "", outcome };
  return { outcome, account: (of) => after.get(of) ?? svm.account(of) };
}

function run(state: State, bytes: Uint8Array, slot: number): Landing | Refused {
  const { svm, slots, landings, touching } = state;
  const transaction = transactionOf(bytes);
  if (transaction === null) return undecodable;
  const keys = accountKeysOf(transaction, svm);
  if (keys === null) return { refused: "AddressLookupTableNotFound", outcome: null };
  svm.setTime(slot, slots.timeOf(slot));
  const before = balancesIn(svm, keys);
  const outcome = svm.run(bytes, transaction.version !== "legacy");
  if (!lands(outcome.err)) return { refused: outcome.err ?? "", outcome };
  const after = balancesIn(svm, keys);
  const signature = bs58.encode(transaction.signatures[0] ?? []);
  const landing = {
    signature,
    slot,
    transaction,
    bytes,
    keys,
    outcome,
    before,
    after,
    visibleFromMs: 0,
  };
  landings.set(signature, landing);
  for (const key of keys.all) {
    const others = touching.get(key);
    if (others === undefined) touching.set(key, [landing]);
    else others.push(landing);
  }
  return landing;
}

/** The transactions of the chain in their order. Anyone who runs them once more has the same chain. */
export type Journal = {
  all(): Iterable<{ slot: number; bytes: Uint8Array }>;
  add(slot: number, bytes: Uint8Array): void;
  close(): void;
};

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
export function openJournal(path: string): Journal {
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
    throw new JournalTaken(`another process keeps ${path}`, { cause });
  }
  const rows = db.query<{ slot: number; bytes: Uint8Array }, []>(
    "SELECT slot, bytes FROM landed ORDER BY n",
  );
  const insert = db.query("INSERT INTO landed (slot, bytes) VALUES (?, ?)");
  return {
    all: () => rows.iterate(),
    add: (slot, bytes) => void insert.run(slot, bytes),
    close: () => db.close(),
  };
}
