/** Why a process cannot start, in two lines for an operator: what is wrong, with the file, and what to do about it. */
export class CannotStart extends Error {
  override name = "CannotStart";
  constructor(what: string, remedy: string, options?: ErrorOptions) {
    super(`${what}\n${remedy}`, options);
  }
}

/** What an operator can mend, by the code of the system or of SQLite: what is said of the file, and what helps. */
const mendable: readonly (readonly [codes: RegExp, state: string, remedy: string])[] = [
  [
    /^(?:EACCES|EPERM|EROFS|SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM)/,
    "cannot be opened for writing",
    "Let the user of the service read and write there (chown, chmod, a disk that is not read-only), or name another place with ALMONER_DATA_DIR.",
  ],
  [
    /^(?:ENOENT|ENOTDIR|EEXIST|EISDIR|ELOOP|ENAMETOOLONG)$/,
    "cannot be made: something else is there, or nothing may be there",
    "Name a folder with ALMONER_DATA_DIR, and a file in a folder with ALMONER_DATABASE_URL.",
  ],
  [
    /^SQLITE_(?:NOTADB|CORRUPT)/,
    "is damaged, or is no database",
    "Stop everything that uses it, keep a copy, and restore a backup; `bun run doctor` says what else is damaged.",
  ],
  [
    /^(?:ENOSPC|EDQUOT|SQLITE_FULL)/,
    "cannot be written: the disk is full",
    "Free some space and start again. What was written before is safe.",
  ],
  [
    /^(?:EIO|SQLITE_IOERR)/,
    "cannot be read or written: the disk reports an error",
    "Look at the disk (dmesg, smartctl), and restore a backup on another one.",
  ],
  [
    /^(?:EMFILE|ENFILE)/,
    "cannot be opened: too many files are open",
    "Raise the limit of open files: `ulimit -n 65536`, or LimitNOFILE= in the unit.",
  ],
  [
    /^ConnectionFailed/,
    "cannot be opened",
    "Look at its rights (chown, chmod), and at the limit of open files (`ulimit -n`, LimitNOFILE= in the unit).",
  ],
  [
    /^(?:ECONNREFUSED|ConnectionRefused|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET|TimeoutError|SERVER_ERROR)/,
    "does not answer",
    "Start the database server, or correct ALMONER_DATABASE_URL.",
  ],
];

/**
 * Throws a failure on this file, folder or server again: in two lines when it is one that an operator can mend, else as it
 * is.
 */
export function explainStart(error: unknown, place: string): never {
  for (let at = error; at instanceof Error && !(error instanceof CannotStart); at = at.cause) {
    // The driver names some failures in their message alone, and time limits are known by their name.
    const names = ["code" in at ? String(at.code) : "", at.name, at.message];
    const known = mendable.find(([codes]) => names.some((name) => codes.test(name)));
    if (known === undefined) continue;
    const code = names.find((name) => known[0].test(name))?.split(/\W/, 1)[0] ?? "";
    throw new CannotStart(`${place} ${known[1]} (${code}).`, known[2], { cause: error });
  }
  throw error;
}
