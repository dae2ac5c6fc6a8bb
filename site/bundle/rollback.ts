import type { Manifest, Release } from "./manifest.ts";
import { type ReleaseOutcome, commitRelease } from "./release.ts";

/**
 * Finds the release to roll back to: `publications` steps back from what readers see now (during a rollback, the release
 * gone back to). A step is a release that changed profiles, or a new version of the site. Lists, search indexes and feed
 * follow a profile in releases of their own, and totals change by themselves, so these are no steps. Null when no such
 * release is kept.
 */
export function releaseBefore(manifest: Manifest, publications: number): number | null {
  const { db } = manifest;
  const { held_at, current_release } = manifest.state();
  const changeQuery = db.query<Pick<Release, "id">, [number]>(
    `SELECT id FROM releases
     WHERE id <= ? AND EXISTS (
       SELECT 1 FROM history
       WHERE release = releases.id
         AND ((path > 'nonprofits/' AND path < 'nonprofits0' AND path LIKE '%.html')
           OR (path > 'api/nonprofits/' AND path < 'api/nonprofits0' AND path NOT LIKE 'api/nonprofits/%/%')))
     ORDER BY id DESC LIMIT 1`,
  );
  const before = db.query<Pick<Release, "id">, [number]>(
    `SELECT older.id
     FROM releases AS newer JOIN releases AS older ON older.id < newer.id
     WHERE newer.id = ?
       AND (older.fast_sequence <> newer.fast_sequence OR older.inputs_digest <> newer.inputs_digest)
     ORDER BY older.id DESC LIMIT 1`,
  );
  let release: number | null = held_at > 0 ? held_at : current_release;
  for (let step = 0; step < publications && release !== null; step++) {
    const newest: number | null = changeQuery.get(release)?.id ?? null;
    release = newest === null ? null : (before.get(newest)?.id ?? null);
  }
  return release;
}

/**
 * Publishes the files of an older release as a new release, and holds publishing until `--resume`. Returns null when that
 * release is not kept or is not older than the current one.
 */
export function rollBack(manifest: Manifest, target: number, now: Date): ReleaseOutcome | null {
  const { db } = manifest;
  const aim = db.query<Release, [number]>("SELECT * FROM releases WHERE id = ?").get(target);
  if (aim === null || target >= manifest.state().current_release) return null;
  const { fast_sequence, slow_sequence, inputs_digest } = aim;
  // The oldest history row after the target gives what the path held at the target.
  const notes = db
    .query<{ path: string; digest: string; size: number | null }, [number]>(
      `SELECT path, lower(hex(digest)) AS digest, size FROM history AS note
       WHERE release > ?1
         AND release = (SELECT min(release) FROM history WHERE path = note.path AND release > ?1)`,
    )
    .all(target);
  // One transaction: a process killed in between would leave files that no change can replace.
  const transaction = db.transaction((): ReleaseOutcome => {
    const outcome = commitRelease(manifest, {
      reason: `rollback to ${target}`,
      files: notes.flatMap(({ path, digest, size }) =>
        size === null ? [] : [{ path, digest, size }],
      ),
      removed: notes.filter(({ size }) => size === null).map(({ path }) => path),
      asOf: Number.MAX_SAFE_INTEGER,
      state: { held_at: target, fast_sequence, slow_sequence, inputs_digest },
      now,
    });
    // Pages of that release need its assets, which a newer site may have retired.
    db.query(
      "UPDATE files SET doomed_at = NULL WHERE release <= ? AND path NOT LIKE 'pagefind/%'",
    ).run(target);
    // The restored files are old, so changes that are published again later must replace them.
    db.query("UPDATE files SET as_of = 0 WHERE as_of = ?").run(Number.MAX_SAFE_INTEGER);
    return outcome;
  });
  return transaction.immediate();
}
