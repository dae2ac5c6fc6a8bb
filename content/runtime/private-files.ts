import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";

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
