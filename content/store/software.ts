import { commit } from "#content/runtime/commit.ts";
import { version } from "#content/contract/base/version.ts";

/** Version and commit of the code that runs; without the commit where that is not known. */
export function software(): { version: string; commit?: string } {
  const known = commit();
  return known === null ? { version } : { version, commit: known };
}

/** The same in words: "0.4.0 (0123456789ab)", or "0.4.0". */
export function softwareVersion(): string {
  const { version: number, commit: known } = software();
  return known === undefined ? number : `${number} (${known})`;
}
