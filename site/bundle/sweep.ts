import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { PublisherParts } from "#site/publisher/publisher-parts.ts";

/** A younger blob may belong to a release that is being made. */
const youngMs = 60 * 60 * 1_000;

/**
 * Removes blobs that nothing names: a publisher that was killed between writing and committing leaves some behind.
 * Looks through one of the 256 folders at a time and lets others work in between. Answers how many went.
 */
export async function sweepBlobs({
  manifest,
  blobs,
  clock,
}: Pick<PublisherParts, "manifest" | "blobs" | "clock">): Promise<number> {
  const naming = manifest.db.query<{ named: number }, [string]>(
    `SELECT EXISTS (SELECT 1 FROM files WHERE digest = ?1)
         OR EXISTS (SELECT 1 FROM history WHERE digest = ?1)
         OR EXISTS (SELECT 1 FROM spare_blobs WHERE digest = ?1) AS named`,
  );
  const oldBefore = clock().getTime() - youngMs;
  let removed = 0;
  for (let at = 0; at < 256; at++) {
    const start = at.toString(16).padStart(2, "0");
    const folder = join(blobs.folder, start);
    for (const rest of await readdir(folder).catch(() => [])) {
      if (naming.get(start + rest)?.named !== 0) continue;
      const written = await stat(join(folder, rest)).catch(() => null);
      if (written === null || written.mtimeMs > oldBefore) continue;
      blobs.remove(start + rest);
      removed++;
    }
  }
  return removed;
}
