import type { Manifest, NewFile, PublisherState, Release } from "./manifest.ts";

/** What a release changes. A path in `removed` leaves the bundle. */
export type ReleaseDraft = {
  reason: string;
  /** Files as rendered; those the bundle holds already in the same bytes are left alone. */
  files: readonly NewFile[];
  removed: readonly string[];
  /** The newest change that the data was known to include when it was read. */
  asOf: number;
  state: Partial<PublisherState>;
  now: Date;
};

/** What was committed: `release` is the current one, `changed` and `removed` what differs from the one before. */
export type Committed = { release: number; changed: NewFile[]; removed: string[] };

/**
 * Makes a new release current in one transaction. A file that was rendered from newer data meanwhile is kept: lanes
 * may finish out of order. Without any difference only the state moves on and no release is made.
 */
export function commitRelease(manifest: Manifest, draft: ReleaseDraft): Committed {
  const commit = manifest.db.transaction((): Committed => {
    const release = manifest.state().current_release + 1;
    const changed = draft.files.filter((file) => replace(manifest, file, release, draft.asOf));
    const removed = draft.removed.filter((path) => remove(manifest, path, release, draft.asOf));
    if (changed.length + removed.length === 0) {
      manifest.setState(draft.state);
      return { release: release - 1, changed, removed };
    }
    manifest.setState({ ...draft.state, current_release: release });
    recordRelease(manifest, release, draft, changed.length + removed.length);
    return { release, changed, removed };
  });
  return commit.immediate();
}

type Stored = { digest: string; size: number; as_of: number };

function replace(manifest: Manifest, file: NewFile, release: number, asOf: number): boolean {
  const { db } = manifest;
  const stored = db
    .query<Stored & { doomed_at: number | null }, [string]>(
      "SELECT digest, size, as_of, doomed_at FROM files WHERE path = ?",
    )
    .get(file.path);
  if (stored !== null && stored.as_of > asOf) return false;
  if (stored !== null && stored.digest === file.digest) {
    if (stored.as_of < asOf || stored.doomed_at !== null) {
      db.query("UPDATE files SET as_of = ?, doomed_at = NULL WHERE path = ?").run(asOf, file.path);
    }
    return false;
  }
  remember(manifest, file.path, release, stored);
  db.query(
    `INSERT INTO files (path, digest, size, release, as_of) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (path) DO UPDATE SET digest = excluded.digest, size = excluded.size,
       release = excluded.release, as_of = excluded.as_of, doomed_at = NULL`,
  ).run(file.path, file.digest, file.size, release, asOf);
  return true;
}

function remove(manifest: Manifest, path: string, release: number, asOf: number): boolean {
  const { db } = manifest;
  const stored = db
    .query<Stored, [string]>("SELECT digest, size, as_of FROM files WHERE path = ?")
    .get(path);
  if (stored === null || stored.as_of > asOf) return false;
  remember(manifest, path, release, stored);
  db.query("DELETE FROM files WHERE path = ?").run(path);
  return true;
}

/** Notes what a path held until now. The first note of a release counts: it tells the release before. */
function remember(manifest: Manifest, path: string, release: number, stored: Stored | null): void {
  manifest.db
    .query("INSERT OR IGNORE INTO history (path, release, digest, size) VALUES (?, ?, ?, ?)")
    .run(path, release, stored?.digest ?? null, stored?.size ?? null);
}

/** Notes a release and how far publishing had come with it. */
export function recordRelease(
  manifest: Manifest,
  id: number,
  draft: { reason: string; now: Date },
  changed: number,
): void {
  const state = manifest.state();
  manifest.db
    .query(
      `INSERT INTO releases (id, reason, created_at, changed_files, fast_sequence, slow_sequence, inputs_digest)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      id,
      draft.reason,
      draft.now.getTime(),
      changed,
      state.fast_sequence,
      state.slow_sequence,
      state.inputs_digest,
    );
}

/** The newest releases first. */
export const releases = (manifest: Manifest, limit: number): Release[] =>
  manifest.db
    .query<Release, [number]>("SELECT * FROM releases ORDER BY id DESC LIMIT ?")
    .all(limit);

/**
 * The newest release that shows what was published before the newest changes of profiles, or before another version of
 * the site: `publications` such steps back from what readers see now, which after a rollback is the release gone back
 * to. Lists, search indexes and feed follow a profile in releases of their own, and numbers of the directory change
 * by themselves: none of these is a step. Null when none so old is kept.
 */
export function releaseBefore(manifest: Manifest, publications: number): number | null {
  const { db } = manifest;
  const { held_at, current_release } = manifest.state();
  const changing = db.query<Pick<Release, "id">, [number]>(
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
  let shown: number | null = held_at > 0 ? held_at : current_release;
  for (let step = 0; step < publications && shown !== null; step++) {
    const newest: number | null = changing.get(shown)?.id ?? null;
    shown = newest === null ? null : (before.get(newest)?.id ?? null);
  }
  return shown;
}

/**
 * Goes back to what an older release showed, as a new release, and holds publishing there until it is resumed.
 * Answers null when that release is not kept any more.
 */
export function rollBack(manifest: Manifest, target: number, now: Date): Committed | null {
  const { db } = manifest;
  const aim = db.query<Release, [number]>("SELECT * FROM releases WHERE id = ?").get(target);
  if (aim === null || target >= manifest.state().current_release) return null;
  // The oldest note after the target tells what the path held at the target.
  const notes = db
    .query<{ path: string; digest: string | null; size: number | null }, [number]>(
      `SELECT path, digest, size FROM history AS note
       WHERE release > ?1
         AND release = (SELECT min(release) FROM history WHERE path = note.path AND release > ?1)`,
    )
    .all(target);
  const draft: ReleaseDraft = {
    reason: `rollback to ${target}`,
    files: notes.flatMap(({ path, digest, size }) =>
      digest === null || size === null ? [] : [{ path, digest, size }],
    ),
    removed: notes.filter(({ digest }) => digest === null).map(({ path }) => path),
    asOf: Number.MAX_SAFE_INTEGER,
    state: {
      held_at: target,
      fast_sequence: aim.fast_sequence,
      slow_sequence: aim.slow_sequence,
      inputs_digest: aim.inputs_digest,
    },
    now,
  };
  return db.transaction(() => commitRollback(manifest, target, draft)).immediate();
}

/** All at once: a process that is killed in between must not leave files that no change can replace. */
function commitRollback(manifest: Manifest, target: number, draft: ReleaseDraft): Committed {
  const { db } = manifest;
  const committed = commitRelease(manifest, draft);
  // Pages of that release name its assets, which a newer site may have given up since.
  db.query(
    "UPDATE files SET doomed_at = NULL WHERE release <= ? AND path NOT LIKE 'pagefind/%'",
  ).run(target);
  // What was gone back to is old: the changes that are taken again after it must win.
  db.query("UPDATE files SET as_of = 0 WHERE as_of = ?").run(Number.MAX_SAFE_INTEGER);
  return committed;
}
