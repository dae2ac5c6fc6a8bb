import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "#content/runtime/files.ts";

/** The file whose time is that of the last backup; anyone who makes backups by other means touches it. */
export const backupMark = "last-backup";
const failureMark = "last-backup-failed";
/** The problem if the disk was too full to note it. */
const notNoted = "it could not be noted why";

/**
 * The state of a data folder's backups, for the health page, metrics and the schedule: when the last one was made, in
 * milliseconds since 1970 (null if unknown), and why a later one failed (null if none did).
 */
export function lastBackup(dataDir: string) {
  const madeAt = statSync(join(dataDir, backupMark), { throwIfNoEntry: false })?.mtimeMs ?? null;
  const failedAtMs = statSync(join(dataDir, failureMark), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const isNewer = failedAtMs > (madeAt ?? 0);
  return {
    at: madeAt,
    problem: isNewer ? readFileSync(join(dataDir, failureMark), "utf8").trim() || notNoted : null,
  };
}

/** Notes that a backup was made and verified (null), or why it failed. */
export function noteBackup(dataDir: string, problem: string | null): void {
  const mark = join(dataDir, problem === null ? backupMark : failureMark);
  // The existing file may belong to root, so replace it by a new one.
  const text = `${problem ?? "made by bun run backup"}\n`;
  replaceFile(mark, (draft) => writeFileSync(draft, text, { mode: 0o600 }));
  if (problem === null) rmSync(join(dataDir, failureMark), { force: true });
}
