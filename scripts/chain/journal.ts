import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { Database } from "bun:sqlite";
import { codeOf } from "#content/store/busy.ts";
import type { Balances, AccountKeys, ChainAccount, Outcome } from "./svm.ts";

/** The effects of a transaction. */
export type Ran = { keys: AccountKeys; outcome: Outcome; before: Balances; after: Balances };

export type Entry = Ran & { signature: string; slot: number; bytes: Uint8Array };

/** An account after a transaction; null when it is gone. */
export type Left = { address: string; account: ChainAccount | null };

/** A chain's transactions with their effects, and its present accounts, so that no start repeats transactions. */
export type Journal = ReturnType<typeof openJournal>;

/** Another process uses this journal. */
export class JournalTaken extends Error {
  override name = "JournalTaken";
}

/** How long a new chain waits for one that is ending. */
const waitMs = 2_000;

const schema = `
  CREATE TABLE IF NOT EXISTS transactions
    (n INTEGER PRIMARY KEY, signature TEXT NOT NULL UNIQUE, slot INTEGER NOT NULL, bytes BLOB NOT NULL, ran TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS touched (address TEXT, n INTEGER, PRIMARY KEY (address, n)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS accounts
    (address TEXT PRIMARY KEY, owner TEXT NOT NULL, lamports INTEGER NOT NULL, data BLOB NOT NULL)`;

/**
 * Opens a journal and creates its folder; null means in memory. One process holds it until it ends in any way; throws
 * JournalTaken for another one. A written transaction survives the process, but not a power cut.
 */
export function openJournal(path: string | null) {
  const db = openFile(path);
  const insert = db.query<{ n: number }, [string, number, Uint8Array, string]>(
    "INSERT INTO transactions (signature, slot, bytes, ran) VALUES (?, ?, ?, ?) RETURNING n",
  );
  const touch = db.query("INSERT OR IGNORE INTO touched (address, n) VALUES (?, ?)");
  const put = db.query(
    "INSERT OR REPLACE INTO accounts (address, owner, lamports, data) VALUES (?, ?, ?, ?)",
  );
  const remove = db.query("DELETE FROM accounts WHERE address = ?");
  const columns = "signature, slot, bytes, ran";
  const selectOne = db.query<Row, [string]>(
    `SELECT ${columns} FROM transactions WHERE signature = ?`,
  );
  const newest = db.query<{ n: number; slot: number }, []>(
    "SELECT n, slot FROM transactions ORDER BY n DESC LIMIT 1",
  );
  const ofAddress = db.query<Row, [string, number, number]>(`
    SELECT ${columns} FROM touched JOIN transactions USING (n)
    WHERE address = ? AND slot <= ?
    ORDER BY n DESC LIMIT ?`);
  const accounts = db.query<AccountRow, []>("SELECT address, owner, lamports, data FROM accounts");
  return {
    accounts: () => accounts.iterate(),
    /** Writes a transaction and the accounts after it, both or nothing. */
    add: db.transaction(({ signature, slot, bytes, ...ran }: Entry, left: readonly Left[]) => {
      const n = insert.get(signature, slot, bytes, JSON.stringify(ran))?.n ?? 0;
      for (const address of ran.keys.all) touch.run(address, n);
      for (const { address, account } of left) {
        if (account === null) remove.run(address);
        else put.run(address, account.owner, account.lamports, account.data());
      }
    }),
    get: (signature: string): Entry | null => entryOf(selectOne.get(signature)),
    /** Transactions that name an account, in slots up to `slot`, the newest first. */
    touching: (address: string, { slot, limit }: { slot: number; limit: number }): Entry[] =>
      ofAddress.all(address, slot, limit).flatMap((row) => entryOf(row) ?? []),
    /** The number of transactions, and the slot of the newest. */
    newest: () => newest.get() ?? { n: 0, slot: 0 },
    close: () => db.close(),
  };
}

/** Opens the file and locks it. Throws a SQLiteError (for example SQLITE_CORRUPT) when it is damaged. */
function openFile(path: string | null): Database {
  if (path !== null) mkdirSync(dirname(path), { recursive: true });
  const db = new Database(path ?? ":memory:", { create: true });
  try {
    db.run(`PRAGMA busy_timeout = ${waitMs}`);
    db.run("PRAGMA locking_mode = EXCLUSIVE");
    db.run("PRAGMA journal_mode = WAL");
    db.run("PRAGMA synchronous = OFF");
    // Only a write takes the lock.
    db.run("BEGIN IMMEDIATE");
    db.run(schema);
    db.run("COMMIT");
    return db;
  } catch (cause) {
    db.close();
    if (codeOf(cause)?.startsWith("SQLITE_BUSY") !== true) throw cause;
    throw new JournalTaken(`another process keeps ${path}`, { cause });
  }
}

type Row = { signature: string; slot: number; bytes: Uint8Array; ran: string };
type AccountRow = { address: string; owner: string; lamports: number; data: Uint8Array };

const entryOf = (row: Row | null): Entry | null =>
  row === null ? null : { ...row, ...(JSON.parse(row.ran) as Ran) };
