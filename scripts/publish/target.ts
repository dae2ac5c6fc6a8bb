import type { Manifest } from "#site/publisher/manifest.ts";
import { stopWith } from "../support/config.ts";

/** What an operator is told who publishes while a rollback holds. */
export const heldMessage = (release: number): string =>
  `Publishing is held at release ${release} by a rollback. \`publish --resume\` goes on.`;

/**
 * The release that was asked for: a number, or -N for the state before the newest N releases that have a history (the
 * feed and the signed list are made again after each, so that going back over them shows nothing).
 */
export function targetOf(asked: string, manifest: Manifest): number {
  const number = Number(asked === "" ? "-1" : asked);
  if (!Number.isInteger(number) || number === 0) {
    stopWith("--rollback: give the number of a release, or -1 for the one before.", 2);
  }
  if (number > 0) return number;
  const newest = manifest.db
    .query<{ release: number }, [number]>(
      "SELECT DISTINCT release FROM history ORDER BY release DESC LIMIT 1 OFFSET ?",
    )
    .get(-number - 1);
  return (newest?.release ?? 0) - 1;
}
