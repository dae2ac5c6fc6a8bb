import { version } from "#content/contract/base/version.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Version and commit of the code that runs; without the commit where that is not known. */
export function software(): { version: string; commit?: string } {
  const id = commit();
  return id === null ? { version } : { version, commit: id };
}

/** The same in words: "0.4.0 (0123456789ab)", or "0.4.0". */
export function softwareVersion(): string {
  const { version: number, commit: id } = software();
  return id === undefined ? number : `${number} (${id})`;
}

const commitLength = 12;

/** The commit of the code in a folder, in 12 letters: that of its clone or of its `git archive`. Null where neither tells. */
export function commitOf(folder: string): string | null {
  const archived = readFileSync(join(folder, "content/runtime/commit.txt"), "utf8");
  if (/^[0-9a-f]{40}/.test(archived)) return archived.slice(0, commitLength);
  try {
    // Named, the repository is neither that of a folder above nor refused because another user owns it.
    const repository = `--git-dir=${join(folder, ".git")}`;
    const { success, stdout } = Bun.spawnSync(["git", repository, "rev-parse", "HEAD"]);
    return success ? stdout.toString().slice(0, commitLength) : null;
  } catch {
    return null; // Git is not installed.
  }
}

let codeCommit: string | null | undefined;

/** The commit of the code that runs, as it was when it was first asked for: the files may be replaced meanwhile. */
export const commit = (): string | null =>
  codeCommit === undefined
    ? (codeCommit = commitOf(join(import.meta.dirname, "../..")))
    : codeCommit;
