import { feedPaths } from "#content/shapes/feed.ts";
import type { Manifest, NewFile, PublisherState } from "./manifest.ts";
import { type Committed, recordRelease } from "./release.ts";

/** The files of a build that is not current yet. */
export type NextFiles = { add(files: readonly NewFile[]): void; count(): number };

/** Files that other hands than a full build write into the bundle, and remove from it. */
const othersFiles = [
  "snapshot/manifest",
  feedPaths.snapshot,
  feedPaths.state,
  feedPaths.keys,
  "pagefind/",
  "search/index.json",
];
/** Hashed assets of older releases stay for pages that are still open somewhere. */
const assetsFolder = "_astro/";

export function openNextFiles({ db }: Manifest): NextFiles {
  db.run("DROP TABLE IF EXISTS temp.next_files");
  db.run(
    "CREATE TEMP TABLE next_files (path TEXT PRIMARY KEY, digest TEXT NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID",
  );
  const adding = db.query(
    "INSERT INTO temp.next_files (path, digest, size) SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)",
  );
  return {
    add: (files) => {
      adding.run(JSON.stringify(files.map(({ path, digest, size }) => [path, digest, size])));
    },
    count: () =>
      db.query<{ n: number }, []>("SELECT count(*) AS n FROM temp.next_files").get()?.n ?? 0,
  };
}

type NextRelease = {
  reason: string;
  asOf: number;
  removeOthers: boolean;
  state: Partial<PublisherState>;
  now: Date;
};

/** Makes the next files current in one transaction, by the rules of `commitRelease`. */
export function commitNextFiles(manifest: Manifest, draft: NextRelease): Committed {
  const commit = manifest.db.transaction((): Committed => {
    const release = manifest.state().current_release + 1;
    const changed = differing(manifest, draft.asOf);
    const removed = draft.removeOthers ? vanished(manifest, draft.asOf) : [];
    if (changed.length + removed.length > 0) {
      replaceFiles(manifest, release, draft.asOf);
      removeFiles(manifest, release, removed);
    }
    if (draft.removeOthers) doomAssets(manifest, draft.now);
    keepAssets(manifest);
    manifest.db
      .query(
        `UPDATE files SET as_of = ?1
         WHERE as_of < ?1 AND path IN (SELECT path FROM temp.next_files)`,
      )
      .run(draft.asOf);
    if (changed.length + removed.length === 0) {
      manifest.setState(draft.state);
      return { release: release - 1, changed, removed };
    }
    manifest.setState({ ...draft.state, current_release: release });
    recordRelease(manifest, release, draft, changed.length + removed.length);
    return { release, changed, removed };
  });
  const committed = commit.immediate();
  manifest.db.run("DROP TABLE temp.next_files");
  return committed;
}

const differing = ({ db }: Manifest, asOf: number): NewFile[] =>
  db
    .query<NewFile, [number]>(
      `SELECT next.path, next.digest, next.size
       FROM temp.next_files AS next LEFT JOIN files USING (path)
       WHERE files.path IS NULL OR (files.digest <> next.digest AND files.as_of <= ?)`,
    )
    .all(asOf);

function vanished({ db }: Manifest, asOf: number): string[] {
  const rows = db
    .query<{ path: string }, [number]>(
      `SELECT path FROM files
       WHERE as_of <= ? AND path NOT IN (SELECT path FROM temp.next_files)`,
    )
    .all(asOf);
  const kept = [...othersFiles, assetsFolder];
  return rows
    .map(({ path }) => path)
    .filter((path) => !kept.some((start) => path.startsWith(start)));
}

function replaceFiles({ db }: Manifest, release: number, asOf: number): void {
  // Before the first release there is nothing to go back to.
  if (release > 1) {
    db.query(
      `INSERT OR IGNORE INTO history (path, release, digest, size)
       SELECT next.path, ?1, files.digest, files.size
       FROM temp.next_files AS next LEFT JOIN files USING (path)
       WHERE files.path IS NULL OR (files.digest <> next.digest AND files.as_of <= ?2)`,
    ).run(release, asOf);
  }
  db.query(
    `INSERT INTO files (path, digest, size, release, as_of)
     SELECT path, digest, size, ?1, ?2 FROM temp.next_files WHERE true
     ON CONFLICT (path) DO UPDATE SET digest = excluded.digest, size = excluded.size,
       release = excluded.release, as_of = excluded.as_of, doomed_at = NULL
     WHERE files.digest <> excluded.digest AND files.as_of <= ?2`,
  ).run(release, asOf);
}

function removeFiles({ db }: Manifest, release: number, removed: readonly string[]): void {
  const paths = JSON.stringify(removed);
  db.query(
    `INSERT OR IGNORE INTO history (path, release, digest, size)
     SELECT path, ?1, digest, size FROM files WHERE path IN (SELECT value FROM json_each(?2))`,
  ).run(release, paths);
  db.query("DELETE FROM files WHERE path IN (SELECT value FROM json_each(?))").run(paths);
}

function doomAssets({ db }: Manifest, now: Date): void {
  db.query(
    `UPDATE files SET doomed_at = ?1
     WHERE path >= ?2 AND path < ?3 AND doomed_at IS NULL
       AND path NOT IN (SELECT path FROM temp.next_files)`,
  ).run(now.getTime(), assetsFolder, "_astro0");
}

/** What this build names is not old, whatever an earlier one said. */
function keepAssets({ db }: Manifest): void {
  db.query(
    "UPDATE files SET doomed_at = NULL WHERE doomed_at IS NOT NULL AND path IN (SELECT path FROM temp.next_files)",
  ).run();
}
