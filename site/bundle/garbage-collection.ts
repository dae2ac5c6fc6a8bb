import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { BundleContext } from "./release.ts";
import type { Manifest } from "./manifest.ts";

/** How long hashed assets of older releases stay. */
export const assetGraceMs = 24 * 60 * 60 * 1_000;

type Digest = { digest: string | null };

/** Releases forgotten in one go: changes wait meanwhile. */
const releasesPerRun = 100;

/**
 * Forgets releases beyond those that are kept (a rollback can reach no others), the oldest first and some at a time, and
 * the blobs that nothing names any more. Runs between two jobs: what is rendered but not committed yet must not be among
 * the blobs. Answers whether there is more to forget.
 */
export function prune(parts: BundleContext, releasesKept: number): boolean {
  const { manifest, exported, clock } = parts;
  const { db } = manifest;
  const { current_release, listed_release } = manifest.state();
  const first = manifest.oldestRelease();
  const wanted = current_release - releasesKept + 1;
  const oldest = Math.min(wanted, first + releasesPerRun);
  // A rollback brings back pages that name the assets of their time, however long ago that was. It leaves the index for
  // people alone, so what an older one named may go. What the signed list still tells stays until it does not.
  const doomed = db
    .query<{ path: string; digest: string }, [number, number, number]>(
      `DELETE FROM files
       WHERE doomed_at < ? AND release <= ?
         AND (path LIKE 'pagefind/%'
           OR doomed_at < (SELECT min(created_at) FROM releases WHERE id >= ?))
       RETURNING path, digest`,
    )
    .all(clock().getTime() - assetGraceMs, listed_release, oldest);
  for (const { path } of doomed) exported.remove(path);
  const past = db
    .query<Digest, [number]>("DELETE FROM history WHERE release <= ? RETURNING digest")
    .all(oldest);
  db.query("DELETE FROM releases WHERE id < ?").run(oldest);
  removeUnnamed(parts, [...doomed, ...past]);
  return oldest < wanted;
}

/** Tells whether a release names a blob, or it waits to be deleted. */
function namingIn({ db }: Manifest): (digest: string) => boolean {
  const naming = db.query<{ named: number }, [string]>(
    `SELECT EXISTS (SELECT 1 FROM files WHERE digest = ?1)
         OR EXISTS (SELECT 1 FROM history WHERE digest = ?1)
         OR EXISTS (SELECT 1 FROM spare_blobs WHERE digest = ?1) AS named`,
  );
  return (digest) => naming.get(digest)?.named === 1;
}

function removeUnnamed({ manifest, blobs }: BundleContext, released: readonly Digest[]): void {
  const isNamed = namingIn(manifest);
  for (const { digest } of released) if (digest !== null && !isNamed(digest)) blobs.remove(digest);
}

/** A younger blob may belong to a release that is being made. */
const youngMs = 60 * 60 * 1_000;

/**
 * Removes blobs that nothing names: a publisher that was killed between writing and committing leaves some behind.
 * Looks through one of the 256 folders at a time and lets others work in between. Answers how many went.
 */
export async function sweepBlobs({ manifest, blobs, clock }: BundleContext): Promise<number> {
  const isNamed = namingIn(manifest);
  const oldBefore = clock().getTime() - youngMs;
  let removed = 0;
  for (let at = 0; at < 256; at++) {
    const start = at.toString(16).padStart(2, "0");
    const folder = join(blobs.folder, start);
    for (const rest of await readdir(folder).catch(() => [])) {
      if (isNamed(start + rest)) continue;
      const written = await stat(join(folder, rest)).catch(() => null);
      if (written === null || written.mtimeMs > oldBefore) continue;
      blobs.remove(start + rest);
      removed++;
    }
  }
  return removed;
}

/** A reader that has looked up a file opens it long before this. */
const spareForMs = 60_000;

/** Removes what was set aside and is named by nothing, once no reader can be about to open it. */
export function deletePending(context: BundleContext): void {
  const due = context.manifest.db
    .query<Digest, [number]>("DELETE FROM spare_blobs WHERE spare_since < ? RETURNING digest")
    .all(context.clock().getTime() - spareForMs);
  removeUnnamed(context, due);
}
