import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

/** The transactions of the chain in their order. Whoever runs them once more has the same chain. */
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
