import { stopWith } from "#scripts/support/config.ts";
import type { Manifest } from "#site/bundle/manifest.ts";
import { releases } from "#site/bundle/release.ts";
import { releaseBefore } from "#site/bundle/rollback.ts";

/** What an operator is told who publishes while a rollback holds. */
export const heldMessage = (release: number): string =>
  `Publishing is held at release ${release} by a rollback. \`publish --resume\` goes on.`;

const publicationsMax = 100_000;

/** The release that was asked for: its number, or -N for what was shown N publications ago. */
export function targetOf(asked: string, manifest: Manifest): number {
  const number = asked.trim() === "" ? Number.NaN : Number(asked);
  if (!Number.isInteger(number) || number === 0 || number < -publicationsMax) {
    stopWith(
      "--rollback: give the number of a release, or -1 for what was shown before the newest changes.",
      2,
    );
  }
  const target = number > 0 ? number : releaseBefore(manifest, -number);
  return target ?? stopWith("No release of earlier changes is kept.");
}

/** What an operator is told who asked for a release that cannot be gone back to. */
export function notKeptMessage(target: number, manifest: Manifest): string {
  const [newest, ...older] = releases(manifest, manifest.state().current_release);
  if (newest?.id === target) return `Release ${target} is what readers see.`;
  const [last, first] = [older[0]?.id, older.at(-1)?.id];
  const kept = last === undefined ? "none" : `${first} to ${last}`;
  return `Release ${target} is not kept. Kept: ${kept}.`;
}

const shownMax = 20;

/** Says which files a full build changed, for a person. */
export function showDiffering(differing: readonly string[]): void {
  if (differing.length === 0) return console.log("Nothing differed from the bundle before.");
  console.log(`${differing.length} files differed from the bundle before:`);
  for (const path of differing.slice(0, shownMax)) console.log(`  ${path}`);
  if (differing.length > shownMax) console.log("  … (--json lists them all)");
}
