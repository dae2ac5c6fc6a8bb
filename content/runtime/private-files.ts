import { chmodSync, closeSync, mkdirSync, openSync, statSync } from "node:fs";

const ofOthers = 0o077;

/**
 * Makes a folder that no other user of the machine may enter, and closes one that others could. Answers whether it was
 * open. Throws when the folder is not ours to close.
 */
export function privateFolder(folder: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return closeToOthers(folder);
}

/** Makes an empty file that no other user of the machine may read, and closes one that others could. */
export function privateFile(path: string): void {
  closeSync(openSync(path, "a", 0o600));
  closeToOthers(path);
}

/** Takes the rights of all but the owner. A path where nothing is has none. Answers whether there were any. */
export function closeToOthers(path: string): boolean {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & ofOthers) === 0) return false;
  chmodSync(path, mode & 0o700);
  return true;
}
