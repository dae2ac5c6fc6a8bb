import {
  readdirSync,
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  statSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

export function* everyPath(folder: string, below = ""): Generator<string> {
  for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* everyPath(folder, path);
    else yield path;
  }
}

let drafts = 0;

/**
 * Replaces a file atomically: `write` makes a draft in the same folder, or in `folder` on the same disk, which is then
 * renamed. A failure leaves no draft and the old file unchanged.
 */
export function replaceFile(
  target: string,
  write: (draft: string) => void,
  folder = dirname(target),
): void {
  const draft = join(folder, `.${process.pid}-${drafts++}-${basename(target)}.draft`);
  try {
    write(draft);
    renameSync(draft, target);
  } catch (error) {
    // On a full disk each attempt would leave another partial file.
    rmSync(draft, { force: true });
    throw error;
  }
}

const ofOthers = 0o077;
const sticky = 0o1000;
/** The owner's rights, and the bits that set the ownership of new files in a folder. */
const ownRights = 0o7700;

/** The result for the rights of others: there were none, they were removed, the path is not ours, or all users share it. */
export type Closing = "private" | "closed" | "not ours" | "shared";

/** Creates a folder that no other user may enter, or closes an existing one to others. */
export function privateFolder(folder: string): Closing {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return closeToOthers(folder);
}

/** Creates an empty file that no other user may read, or closes an existing one to others. */
export function privateFile(path: string): void {
  // Do not open an existing file: closing it would release all locks of this process on it (fcntl(2)).
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  closeToOthers(path);
}

/** Removes the rights of all but the owner. A missing path counts as private. */
export function closeToOthers(path: string): Closing {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & ofOthers) === 0) return "private";
  // Like /tmp, where others have files too.
  if ((mode & sticky) !== 0) return "shared";
  try {
    chmodSync(path, mode & ownRights);
    return "closed";
  } catch {
    // For example a volume of another user: its owner decides, and the service must run there.
    return "not ours";
  }
}

/**
 * Whether Bun's SQLite reports that the file is damaged or no database. The store uses another library, whose errors have
 * other names.
 */
export const isDamaged = (error: unknown): boolean =>
  error instanceof Error &&
  error.name === "SQLiteError" &&
  "code" in error &&
  /^SQLITE_(?:CORRUPT|NOTADB)/.test(String(error.code));

/**
 * Moves a damaged database file away, replacing one moved away before, so that the next open starts with a new file. Only
 * for files whose content can be made again.
 */
export function setAside(path: string): void {
  for (const beside of ["-wal", "-shm"]) rmSync(`${path}${beside}`, { force: true });
  renameSync(path, `${path}.damaged`);
}

/** Opens such a file; a damaged one is moved away, reported by `onDamaged`, and opened again. */
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
