import { version } from "#content/contract/base/version.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Version and commit of the running code; no commit if it is unknown. */
export function software(): { version: string; commit?: string } {
  const id = commit();
  return id === null ? { version } : { version, commit: id };
}

/** `software` as text: "0.4.0 (0123456789ab)", or "0.4.0". */
export function softwareVersion(): string {
  const { version: number, commit: id } = software();
  return id === undefined ? number : `${number} (${id})`;
}

const commitLength = 12;

/** The commit of the code in a folder, 12 characters, from its clone or its `git archive`; null if neither has it. */
export function commitOf(folder: string): string | null {
  const archived = readFileSync(join(folder, "content/runtime/commit.txt"), "utf8");
  if (/^[0-9a-f]{40}/.test(archived)) return archived.slice(0, commitLength);
  try {
    // Name the repository, so that git neither takes one of a parent folder nor refuses one that another user owns.
    const repository = `--git-dir=${join(folder, ".git")}`;
    const { success, stdout } = Bun.spawnSync(["git", repository, "rev-parse", "HEAD"]);
    return success ? stdout.toString().slice(0, commitLength) : null;
  } catch {
    return null; // Git is not installed.
  }
}

let codeCommit: string | null | undefined;

/** The commit of the running code, read once: its files may be replaced later. */
export const commit = (): string | null =>
  codeCommit === undefined
    ? (codeCommit = commitOf(join(import.meta.dirname, "../..")))
    : codeCommit;
