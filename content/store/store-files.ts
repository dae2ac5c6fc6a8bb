import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import Database from "libsql";
import { isStoreDamage, StoreDamaged, StoreLost } from "./busy.ts";

/**
 * Remembers the inodes of an embedded store's files while its log is open, because its path may come to name other files.
 */
export function storeFiles(path: string) {
  const log = `${path}-wal`;
  const inode = (file: string) => statSync(file, { throwIfNoEntry: false })?.ino;
  const fileInode = inode(path);
  const logInode = inode(log);
  const isThere = () => inode(path) === fileInode && inode(log) === logInode;
  return {
    /** Throws StoreLost if the file or its log is no longer the one that was opened. Takes microseconds. */
    checkPlace: () => {
      if (isThere()) return;
      throw new StoreLost(
        `${path} or its log was removed or replaced while it was in use: nothing is written from now on. Stop everything that uses this data folder, see to it that the right file is there (docs/backup.md, "The store was replaced"), and start again.`,
      );
    },
    /** Throws StoreDamaged if any process has noted damage. Takes microseconds. */
    checkDamage: () => {
      if (!isDamageNoted(path)) return;
      throw new StoreDamaged(
        `${path} is damaged: nothing is written from now on. Stop everything that uses this data folder, move the folder away, and restore a backup with bun run restore (docs/backup.md, "When the store is damaged").`,
      );
    },
    /** Whether only the log is gone: its content can still be brought into the file. */
    lacksLog: () => inode(path) === fileInode && !existsSync(log),
    /** Empties the log into the file, unless another process uses the store; the last one will do it. */
    leave: () => {
      if (isThere()) emptyLog(path);
    },
  };
}

const damageNote = (path: string): string => `${path}-damaged`;

/** Damage known to this process: on a full disk the note cannot be written, but the log may still have room. */
const damaged = new Set<string>();

/** Notes beside the store, for all processes and threads, what SQLite reported. */
export function noteDamage(path: string, what: string): void {
  damaged.add(path);
  try {
    writeFileSync(damageNote(path), `${what}\n`, { mode: 0o600 });
  } catch {
    // Other processes will meet the damage themselves.
  }
}

/** Runs work on a store's file and notes damage that it meets. Rejects as the work does. */
export async function notingDamage<Value>(
  path: string,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (isStoreDamage(error)) noteDamage(path, String(error));
    throw error;
  }
}

export const isDamageNoted = (path: string): boolean =>
  damaged.has(path) || existsSync(damageNote(path));

export function forgetDamage(path: string): void {
  damaged.delete(path);
  rmSync(damageNote(path), { force: true });
}

function emptyLog(path: string): void {
  const db = new Database(path, { timeout: 0 });
  try {
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // For example a full disk: the log stays and is complete.
  } finally {
    db.close();
  }
}
