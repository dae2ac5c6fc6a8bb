import type { PublisherParts } from "#site/publisher/publisher-parts.ts";

export type Keeping = {
  /** Releases that a rollback can reach. */
  releases: number;
  /** How long hashed assets of older releases stay, in milliseconds. */
  assetGraceMs: number;
};

export const defaultKeeping: Keeping = { releases: 200, assetGraceMs: 24 * 60 * 60 * 1_000 };

type Digest = { digest: string };

/** Releases forgotten in one go: changes wait meanwhile. */
const releasesPerRun = 100;

/**
 * Forgets releases beyond those that are kept, the oldest first and some at a time, and the blobs that nothing names any
 * more. Runs between two lanes: what is rendered but not committed yet must not be among the blobs. Answers whether there
 * is more to forget.
 */
export function prune(parts: PublisherParts, keeping: Keeping): boolean {
  const { manifest, blobs, exported, clock } = parts;
  const { db } = manifest;
  const { current_release, listed_release } = manifest.state();
  const { first } = db
    .query<{ first: number }, []>("SELECT coalesce(min(id), 0) AS first FROM releases")
    .get() ?? { first: 0 };
  const wanted = current_release - keeping.releases + 1;
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
    .all(clock().getTime() - keeping.assetGraceMs, listed_release, oldest);
  for (const { path } of doomed) exported.remove(path);
  const past = db
    .query<Digest, [number]>("DELETE FROM history WHERE release <= ? RETURNING digest")
    .all(oldest);
  db.query("DELETE FROM releases WHERE id < ?").run(oldest);
  const naming = db.query<{ named: number }, [string]>(
    `SELECT EXISTS (SELECT 1 FROM files WHERE digest = ?1)
         OR EXISTS (SELECT 1 FROM history WHERE digest = ?1) AS named`,
  );
  const free = new Set(
    [...doomed, ...past].map(({ digest }) => digest).filter((digest) => digest !== null),
  );
  for (const digest of free) {
    if (naming.get(digest)?.named === 0) blobs.remove(digest);
  }
  return oldest < wanted;
}
