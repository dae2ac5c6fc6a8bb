import { feedPaths } from "#content/contract/feed.ts";
import type { Manifest, NewFile, PublisherState } from "#site/bundle/manifest.ts";
import { type Committed, recordRelease } from "#site/bundle/release.ts";

/** Files that are to be in the next release. */
export type NextFiles = {
  /** Tells them from others: a full build gathers its own for a while. */
  readonly batch: number;
  add(files: readonly NewFile[]): void;
  count(): number;
};

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

let batches = 0;

export function openNextFiles({ db }: Manifest): NextFiles {
  db.run(
    `CREATE TEMP TABLE IF NOT EXISTS next_files (
       batch INTEGER NOT NULL, path TEXT NOT NULL, digest TEXT NOT NULL, size INTEGER NOT NULL,
       PRIMARY KEY (batch, path)
     ) WITHOUT ROWID`,
  );
  const batch = ++batches;
  const adding = db.query(
    `INSERT INTO temp.next_files (batch, path, digest, size)
     SELECT ?1, value ->> 0, value ->> 1, value ->> 2 FROM json_each(?2)`,
  );
  const counting = db.query<{ n: number }, [number]>(
    "SELECT count(*) AS n FROM temp.next_files WHERE batch = ?",
  );
  return {
    batch,
    add: (files) => {
      adding.run(
        batch,
        JSON.stringify(files.map(({ path, digest, size }) => [path, digest, size])),
      );
    },
    count: () => counting.get(batch)?.n ?? 0,
  };
}

type NextRelease = {
  reason: string;
  asOf: number;
  /** Paths that must not exist any more. */
  removed?: readonly string[];
  /** Whether every path that is not among the next files goes, as after a full build. */
  removeOthers: boolean;
  /** Whether the answer leaves out what changed: where that is everything, and a million paths. */
  untold?: boolean;
  state: Partial<PublisherState>;
  now: Date;
};

/** Makes the next files current in one transaction, by the rules of `commitRelease`. */
export function commitNextFiles(
  manifest: Manifest,
  { batch }: Pick<NextFiles, "batch">,
  draft: NextRelease,
): Committed {
  const commit = manifest.db.transaction((): Committed => {
    const release = manifest.state().current_release + 1;
    const untold = draft.untold === true;
    const changed = untold ? [] : differing(manifest, batch, draft.asOf);
    const changing = untold ? countDiffering(manifest, batch, draft.asOf) : changed.length;
    const removed = draft.removeOthers
      ? vanished(manifest, batch, draft.asOf)
      : stillThere(manifest, draft.removed ?? [], draft.asOf);
    if (changing > 0) replaceFiles(manifest, { batch, release, asOf: draft.asOf });
    if (removed.length > 0) removeFiles(manifest, release, removed);
    if (draft.removeOthers) doomAssets(manifest, batch, draft.now);
    keepNamed(manifest, batch, draft.asOf);
    manifest.db.query("DELETE FROM temp.next_files WHERE batch = ?").run(batch);
    if (changing + removed.length === 0) {
      manifest.setState(draft.state);
      return { release: release - 1, changed, removed };
    }
    manifest.setState({ ...draft.state, current_release: release });
    recordRelease(manifest, release, draft, changing + removed.length);
    return { release, changed, removed };
  });
  return commit.immediate();
}

const differingSql = `
  FROM temp.next_files AS next LEFT JOIN files USING (path)
  WHERE next.batch = ?1
    AND (files.path IS NULL OR (files.digest <> next.digest AND files.as_of <= ?2))`;

const countDiffering = ({ db }: Manifest, batch: number, asOf: number): number =>
  db.query<{ n: number }, [number, number]>(`SELECT count(*) AS n ${differingSql}`).get(batch, asOf)
    ?.n ?? 0;

const differing = ({ db }: Manifest, batch: number, asOf: number): NewFile[] =>
  db
    .query<NewFile, [number, number]>(`SELECT next.path, next.digest, next.size ${differingSql}`)
    .all(batch, asOf);

function vanished({ db }: Manifest, batch: number, asOf: number): string[] {
  const rows = db
    .query<{ path: string }, [number, number]>(
      `SELECT path FROM files
       WHERE as_of <= ?2 AND path NOT IN (SELECT path FROM temp.next_files WHERE batch = ?1)`,
    )
    .all(batch, asOf);
  const kept = [...othersFiles, assetsFolder];
  return rows
    .map(({ path }) => path)
    .filter((path) => !kept.some((start) => path.startsWith(start)));
}

const stillThere = ({ db }: Manifest, removed: readonly string[], asOf: number): string[] =>
  db
    .query<{ path: string }, [string, number]>(
      "SELECT path FROM files WHERE path IN (SELECT value FROM json_each(?)) AND as_of <= ?",
    )
    .all(JSON.stringify(removed), asOf)
    .map(({ path }) => path);

function replaceFiles(
  { db }: Manifest,
  { batch, release, asOf }: { batch: number; release: number; asOf: number },
): void {
  // Before the first release there is nothing to go back to.
  if (release > 1) {
    db.query(
      `INSERT OR IGNORE INTO history (path, release, digest, size)
       SELECT next.path, ?2, files.digest, files.size
       FROM temp.next_files AS next LEFT JOIN files USING (path)
       WHERE next.batch = ?1
         AND (files.path IS NULL OR (files.digest <> next.digest AND files.as_of <= ?3))`,
    ).run(batch, release, asOf);
  }
  db.query(
    `INSERT INTO files (path, digest, size, release, as_of)
     SELECT path, digest, size, ?2, ?3 FROM temp.next_files WHERE batch = ?1
     ON CONFLICT (path) DO UPDATE SET digest = excluded.digest, size = excluded.size,
       release = excluded.release, as_of = excluded.as_of, doomed_at = NULL
     WHERE files.digest <> excluded.digest AND files.as_of <= ?3`,
  ).run(batch, release, asOf);
}

function removeFiles({ db }: Manifest, release: number, removed: readonly string[]): void {
  const paths = JSON.stringify(removed);
  db.query(
    `INSERT OR IGNORE INTO history (path, release, digest, size)
     SELECT path, ?1, digest, size FROM files WHERE path IN (SELECT value FROM json_each(?2))`,
  ).run(release, paths);
  db.query("DELETE FROM files WHERE path IN (SELECT value FROM json_each(?))").run(paths);
}

function doomAssets({ db }: Manifest, batch: number, now: Date): void {
  db.query(
    `UPDATE files SET doomed_at = ?2
     WHERE path >= ?3 AND path < ?4 AND doomed_at IS NULL
       AND path NOT IN (SELECT path FROM temp.next_files WHERE batch = ?1)`,
  ).run(batch, now.getTime(), assetsFolder, "_astro0");
}

/** What a release names is as new as it, and not old, whatever an earlier one said. */
function keepNamed({ db }: Manifest, batch: number, asOf: number): void {
  db.query(
    `UPDATE files SET as_of = max(as_of, ?2), doomed_at = NULL
     WHERE path IN (SELECT path FROM temp.next_files WHERE batch = ?1)
       AND (as_of < ?2 OR doomed_at IS NOT NULL)`,
  ).run(batch, asOf);
}
