import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import Database from "libsql";
import { isStoreDamage, StoreDamaged, StoreLost } from "./busy.ts";

/**
 * Remembers the files that an embedded store is, by their inodes, while its log is open: its path may come to name others
 * while it is in use. One in memory has none.
 */
export function storeFiles(path: string) {
  if (path === ":memory:") {
    const nothing = () => {};
    return { checkPlace: nothing, checkDamage: nothing, lacksLog: () => false, leave: nothing };
  }
  const log = `${path}-wal`;
  const inode = (file: string) => statSync(file, { throwIfNoEntry: false })?.ino;
  const [fileInode, logInode] = [inode(path), inode(log)];
  const isThere = () => inode(path) === fileInode && inode(log) === logInode;
  return {
    /** Throws StoreLost once the file or its log is not the one that was opened. Takes microseconds. */
    checkPlace: () => {
      if (isThere()) return;
      throw new StoreLost(
        `${path} or its log was removed or replaced while it was in use: nothing is written from now on. Stop everything that uses this data folder, see to it that the right file is there (docs/backup.md, "The store was replaced"), and start again.`,
      );
    },
    /** Throws StoreDamaged once a process has noted damage. Takes microseconds. */
    checkDamage: () => {
      if (!isDamageNoted(path)) return;
      throw new StoreDamaged(
        `${path} is damaged: nothing is written from now on. Stop everything that uses this data folder, move the folder away, and restore a backup with bun run restore (docs/backup.md, "When the store is damaged").`,
      );
    },
    /** Whether the log alone is gone: what it held can still be brought into the file. */
    lacksLog: () => inode(path) === fileInode && !existsSync(log),
    /** Brings the log into the file and empties it, unless another process uses the store: then its last one does. */
    leave: () => {
      if (isThere()) emptyLog(path);
    },
  };
}

const damageNote = (path: string): string => `${path}-damaged`;

/** What this process knows to be damaged: on a full disk no note is made, and the log may still have room. */
const damaged = new Set<string>();

/** Notes beside a store, for all processes and their threads, what SQLite said of its damage. */
export function noteDamage(path: string, what: string): void {
  damaged.add(path);
  try {
    writeFileSync(damageNote(path), `${what}\n`, { mode: 0o600 });
  } catch {
    // Others meet the damage themselves.
  }
}

/** Does work on the file of a store, and notes the damage that it meets. Rejects as the work does. */
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
    // The disk is full, say: the log stays, and is whole.
  } finally {
    db.close();
  }
}
