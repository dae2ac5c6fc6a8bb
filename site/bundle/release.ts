import { feedPaths } from "#content/contract/feed.ts";
import type { BundleFile, DocumentKey } from "#site/documents/document.ts";
import type { Clock } from "#content/contract/base/time.ts";
import type { Blobs } from "./blobs.ts";
import type { ExportFolder } from "./export-folder.ts";
import type { Manifest, NewFile, PublisherState, Release } from "./manifest.ts";
import { openSegments, packsFolder } from "./segments.ts";

export type BundleContext = {
  readonly manifest: Manifest;
  readonly blobs: Blobs;
  /** The bundle as a plain folder for any web server; null when it is not configured. */
  readonly exported: ExportFolder | null;
  readonly clock: Clock;
  readonly log: (event: string, detail?: Record<string, unknown>) => void;
};

export type ReleaseDraft = {
  reason: string;
  /** Rendered files; those with the same bytes in the bundle are left alone. */
  files: readonly NewFile[] | GatheredFiles;
  removed?: readonly string[];
  /** Paths that leave the bundle but stay readable for another day, for pages that are still open somewhere. */
  retired?: readonly string[];
  /** Whether the files are the whole bundle: every other path goes, except those that other jobs write. */
  whole?: boolean;
  /** Prefix of paths whose old content is not kept, so a rollback does not touch them. "": all paths. */
  withoutHistory?: string;
  /** Whether this is the first build: no history is kept, and `changed` stays empty instead of naming a million paths. */
  first?: boolean;
  /** The newest change included in the data from which the files were rendered. */
  asOf: number;
  /** The publisher's state with this release; it may depend on the release's number. */
  state: Partial<PublisherState> | ((release: number) => Partial<PublisherState>);
  now: Date;
};

/** `release`: the current release. `changed`, `removed`: how it differs from the one before. */
export type ReleaseOutcome = { release: number; changed: NewFile[]; removed: string[] };

/**
 * Makes a new release current in one transaction. Files that were meanwhile rendered from newer data are kept, since jobs
 * may finish out of order. When nothing differs, only the state changes and no release is made.
 */
export function commitRelease(manifest: Manifest, draft: ReleaseDraft): ReleaseOutcome {
  const commit = manifest.db.transaction((): ReleaseOutcome => {
    const { current_release } = manifest.state();
    const { batch } = "batch" in draft.files ? draft.files : gatherFiles(manifest, draft.files);
    const next: NextRelease = { ...draft, batch, release: current_release + 1 };
    const changed = draft.first === true ? [] : differing(manifest, next);
    const removed = draft.whole === true ? vanished(manifest, next) : stillThere(manifest, next);
    const changes = replaceFiles(manifest, next) + removed.length;
    placeContent(manifest, next);
    removeFiles(manifest, next.release, removed);
    const release = changes > 0 ? next.release : current_release;
    retireFiles(manifest, next, release);
    markNamed(manifest, next);
    manifest.db.query("DELETE FROM temp.next_files WHERE batch = ?").run(next.batch);
    const state = typeof draft.state === "function" ? draft.state(release) : draft.state;
    manifest.setState({ ...state, current_release: release });
    if (changes > 0) recordRelease(manifest, next, changes);
    return { release, changed, removed };
  });
  return commit.immediate();
}

export type GatheredFiles = ReturnType<typeof gatherFiles>;

let batches = 0;

/** Begins to gather files for a release, in a temporary table because a full build may have millions. */
export function gatherFiles({ db }: Manifest, files: readonly NewFile[] = []) {
  db.run(
    `CREATE TEMP TABLE IF NOT EXISTS next_files (
       batch INTEGER NOT NULL, path TEXT NOT NULL, digest BLOB NOT NULL, size INTEGER NOT NULL,
       pack INTEGER, start INTEGER, length INTEGER, PRIMARY KEY (batch, path)
     ) WITHOUT ROWID`,
  );
  const batch = ++batches;
  const insertQuery = db.query(
    `INSERT OR REPLACE INTO temp.next_files (batch, path, digest, size, pack, start, length)
     SELECT ?1, value ->> 'path', unhex(value ->> 'digest'), value ->> 'size',
       value ->> '$.at.pack', value ->> '$.at.start', value ->> '$.at.length'
     FROM json_each(?2)`,
  );
  const countQuery = db.query<{ n: number }, [number]>(
    "SELECT count(*) AS n FROM temp.next_files WHERE batch = ?",
  );
  const add = (more: readonly NewFile[]): void => void insertQuery.run(batch, JSON.stringify(more));
  add(files);
  return {
    /** Distinguishes these files from those that other jobs gather at the same time. */
    batch,
    add,
    count: (): number => countQuery.get(batch)?.n ?? 0,
  };
}

type NextRelease = Omit<ReleaseDraft, "files" | "state"> & { batch: number; release: number };

const differingSql = `
  FROM temp.next_files AS next LEFT JOIN files USING (path)
  WHERE next.batch = ?1
    AND (files.path IS NULL OR (files.digest <> next.digest AND files.as_of <= ?2))`;

const differing = ({ db }: Manifest, { batch, asOf }: NextRelease): NewFile[] =>
  db
    .query<NewFile, [number, number]>(
      `SELECT next.path, lower(hex(next.digest)) AS digest, next.size ${differingSql}`,
    )
    .all(batch, asOf);

/** Assets with a digest in their name. Those of older releases stay for pages that are still open somewhere. */
export const assetsFolder = "_astro/";
/** Paths that a full build does not render, because other jobs of the publisher write them. */
const writtenByOthers = [
  "snapshot/manifest",
  feedPaths.snapshot,
  feedPaths.state,
  feedPaths.keys,
  feedPaths.data,
  "pagefind/",
  "search/index.json",
];

/** Whether another job than the full build writes this file. */
export const isWrittenByOthers = (path: string): boolean =>
  writtenByOthers.some((start) => path.startsWith(start));

function vanished(manifest: Manifest, { batch, asOf }: NextRelease): string[] {
  const unnamedPaths = manifest.selectPaths(
    `SELECT path FROM files
     WHERE as_of <= ?2 AND path NOT IN (SELECT path FROM temp.next_files WHERE batch = ?1)`,
    [batch, asOf],
  );
  return unnamedPaths.filter((path) => !isWrittenByOthers(path) && !path.startsWith(assetsFolder));
}

const stillThere = (manifest: Manifest, { removed = [], asOf }: NextRelease): string[] =>
  manifest.selectPaths(
    "SELECT path FROM files WHERE path IN (SELECT value FROM json_each(?)) AND as_of <= ?",
    [JSON.stringify(removed), asOf],
  );

/** Returns how many files changed. */
function replaceFiles(
  { db }: Manifest,
  { batch, release, asOf, first, withoutHistory, now }: NextRelease,
): number {
  if (withoutHistory !== undefined) {
    // No release needs the old content; keep it a little for readers that have just looked it up.
    db.query(
      `INSERT OR REPLACE INTO spare_blobs (digest, spare_since)
       SELECT files.digest, ?3
       FROM temp.next_files AS next JOIN files USING (path)
       WHERE next.batch = ?1 AND files.digest <> next.digest
         AND substr(path, 1, length(?2)) = ?2`,
    ).run(batch, withoutHistory, now.getTime());
  }
  if (first !== true) {
    db.query(
      `INSERT OR IGNORE INTO history (path, release, digest, size)
       SELECT next.path, ?3, files.digest, files.size ${differingSql}
         AND (?4 IS NULL OR substr(next.path, 1, length(?4)) <> ?4)`,
    ).run(batch, asOf, release, withoutHistory ?? null);
  }
  const result = db
    .query(
      `INSERT INTO files (path, digest, size, release, as_of)
       SELECT path, digest, size, ?2, ?3 FROM temp.next_files WHERE batch = ?1
       ON CONFLICT (path) DO UPDATE SET digest = excluded.digest, size = excluded.size,
         release = excluded.release, as_of = excluded.as_of, doomed_at = NULL
       WHERE files.digest <> excluded.digest AND files.as_of <= ?3`,
    )
    .run(batch, release, asOf);
  return result.changes;
}

/** Notes where new content lies. Throws when it no longer exists: it must then be made again. */
function placeContent({ db, folder }: Manifest, { batch, release, first }: NextRelease): void {
  const ends = db
    .query<{ pack: number; end: number }, [number]>(
      "SELECT pack, max(start + length) AS end FROM temp.next_files WHERE batch = ? AND pack > 0 GROUP BY pack",
    )
    .all(batch);
  const segments = openSegments(packsFolder(folder));
  const lostSegment = ends.find(({ pack, end }) => !segments.has({ pack, start: 0, length: end }));
  if (lostSegment !== undefined)
    throw new Error(`segment ${lostSegment.pack} went before it was published`);
  db.query(
    `INSERT INTO blobs (digest, pack, start, length)
     SELECT digest, pack, start, length FROM temp.next_files AS next
     WHERE batch = ?1 AND pack IS NOT NULL
       AND EXISTS (SELECT 1 FROM files WHERE path = next.path AND digest = next.digest)
     ORDER BY digest
     ON CONFLICT (digest) DO UPDATE SET pack = excluded.pack, start = excluded.start, length = excluded.length`,
  ).run(batch);
  if (first === true) return;
  const [missing] = db
    .query<{ path: string }, [number]>(
      `SELECT path FROM files
       WHERE release = ? AND NOT EXISTS (SELECT 1 FROM blobs WHERE digest = files.digest) LIMIT 1`,
    )
    .all(release);
  if (missing !== undefined) throw new Error(`${missing.path} went before it was published`);
}

function removeFiles({ db }: Manifest, release: number, removedPaths: readonly string[]): void {
  const paths = JSON.stringify(removedPaths);
  db.query(
    `INSERT OR IGNORE INTO history (path, release, digest, size)
     SELECT path, ?1, digest, size FROM files WHERE path IN (SELECT value FROM json_each(?2))`,
  ).run(release, paths);
  db.query("DELETE FROM files WHERE path IN (SELECT value FROM json_each(?))").run(paths);
}

/** Marks files that leave the bundle but can still be read; garbage collection removes them a day later at the earliest. */
function retireFiles(
  { db }: Manifest,
  { batch, whole, retired = [], now }: NextRelease,
  release: number,
): void {
  if (whole === true) {
    db.query(
      `UPDATE files SET doomed_at = ?2
       WHERE path >= ?3 AND path < ?4 AND doomed_at IS NULL
         AND path NOT IN (SELECT path FROM temp.next_files WHERE batch = ?1)`,
    ).run(batch, now.getTime(), assetsFolder, "_astro0");
  }
  if (retired.length === 0) return;
  // Marked as changed, so that the signed list of all files leaves them out from now on.
  db.query(
    `UPDATE files SET doomed_at = ?1, release = ?2
     WHERE path IN (SELECT value FROM json_each(?3)) AND doomed_at IS NULL`,
  ).run(now.getTime(), release, JSON.stringify(retired));
}

/** Files of this release get its `as_of` and are no longer retired. */
function markNamed({ db }: Manifest, { batch, asOf }: NextRelease): void {
  db.query(
    `UPDATE files SET as_of = max(as_of, ?2), doomed_at = NULL
     WHERE path IN (SELECT path FROM temp.next_files WHERE batch = ?1)
       AND (as_of < ?2 OR doomed_at IS NOT NULL)`,
  ).run(batch, asOf);
}

/** Notes a release and the publisher's progress. */
function recordRelease(manifest: Manifest, next: NextRelease, changedCount: number): void {
  const { fast_sequence, slow_sequence, inputs_digest } = manifest.state();
  const progress = [fast_sequence, slow_sequence, inputs_digest];
  manifest.db
    .query(
      `INSERT INTO releases (id, reason, created_at, changed_files, fast_sequence, slow_sequence, inputs_digest)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(next.release, next.reason, next.now.getTime(), changedCount, ...progress);
}

export const releases = (manifest: Manifest, limit: number): Release[] =>
  manifest.db
    .query<Release, [number]>("SELECT * FROM releases ORDER BY id DESC LIMIT ?")
    .all(limit);

const encoder = new TextEncoder();

/** Stores rendered files. A file with a null body is to be removed. */
export function storeFiles(
  { blobs }: Pick<BundleContext, "blobs">,
  bundleFiles: readonly BundleFile[],
): { files: NewFile[]; removed: string[] } {
  const files: NewFile[] = [];
  const removed: string[] = [];
  for (const { path, body } of bundleFiles) {
    if (body === null) removed.push(path);
    else {
      const bytes = typeof body === "string" ? encoder.encode(body) : body;
      files.push({ path, ...blobs.put(bytes, path) });
    }
  }
  return { files, removed };
}

/** Notes the documents that could not be rendered, and deletes the notes of those that could. */
export function noteFailures(
  { manifest, clock, log }: Pick<BundleContext, "manifest" | "clock" | "log">,
  keys: Iterable<DocumentKey>,
  failures: readonly { key: DocumentKey; error: string }[],
): void {
  const { db } = manifest;
  // Most releases find no note to delete, and need no write for it.
  if (db.query("SELECT 1 FROM failures LIMIT 1").get() !== null) {
    db.query("DELETE FROM failures WHERE key IN (SELECT value FROM json_each(?))").run(
      JSON.stringify([...keys]),
    );
  }
  for (const { key, error } of failures) {
    log("page failed to render; its older version stays", { key, error });
    const insertQuery = db.query(
      "INSERT OR REPLACE INTO failures (key, error, failed_at) VALUES (?, ?, ?)",
    );
    insertQuery.run(key, error, clock().getTime());
  }
}
