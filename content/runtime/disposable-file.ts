import { renameSync, rmSync } from "node:fs";

/**
 * Whether Bun's SQLite says that the file itself is damaged, or is no database at all. The store speaks through another
 * library, whose errors have another name.
 */
export const isDamaged = (error: unknown): boolean =>
  error instanceof Error &&
  error.name === "SQLiteError" &&
  "code" in error &&
  /^SQLITE_(?:CORRUPT|NOTADB)/.test(String(error.code));

/**
 * Moves a damaged database file away, in place of the one that was moved away before it: what opens the path next begins
 * again. Only for files whose content is made again from elsewhere.
 */
export function setAside(path: string): void {
  for (const beside of ["-wal", "-shm"]) rmSync(`${path}${beside}`, { force: true });
  renameSync(path, `${path}.damaged`);
}

/** Opens such a file; a damaged one is set aside, which `onDamaged` tells, and opened once more. */
export function openDisposable<Open>(
  path: string,
  open: () => Open,
  onDamaged: (path: string) => void,
): Open {
  try {
    return open();
  } catch (error) {
    if (!isDamaged(error)) throw error;
    setAside(path);
    onDamaged(path);
    return open();
  }
}
