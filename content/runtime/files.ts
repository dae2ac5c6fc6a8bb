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

/** The paths of all files under a folder. */
export function* everyPath(folder: string, below = ""): Generator<string> {
  for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* everyPath(folder, path);
    else yield path;
  }
}

let drafts = 0;

/**
 * Puts a file in place at once: `write` makes a draft in the same folder, or in `folder` of the same disk, which is renamed.
 * A failure leaves no draft, and what was there as it was.
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
    // On a full disk each attempt would leave another half file behind.
    rmSync(draft, { force: true });
    throw error;
  }
}

const ofOthers = 0o077;
const sticky = 0o1000;
/** The owner's, and the bits that say whose new files in a folder are. */
const ownRights = 0o7700;

/** What was done about the rights of others: there were none, they were taken, the path is not ours to change, or all share it. */
export type Closing = "private" | "closed" | "not ours" | "shared";

/** Makes a folder that no other user of the machine may enter, and closes one that others could. */
export function privateFolder(folder: string): Closing {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return closeToOthers(folder);
}

/** Makes an empty file that no other user of the machine may read, and closes one that others could. */
export function privateFile(path: string): void {
  // A file that is there is not opened: closing it would drop every lock that this process has on it (fcntl(2)).
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  closeToOthers(path);
}

/** Takes the rights of all but the owner. A path where nothing is has none. */
export function closeToOthers(path: string): Closing {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & ofOthers) === 0) return "private";
  // Like /tmp: others have their files there.
  if ((mode & sticky) !== 0) return "shared";
  try {
    chmodSync(path, mode & ownRights);
    return "closed";
  } catch {
    // A volume that another user owns, for example: its owner decides, and the service has to run there.
    return "not ours";
  }
}

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
