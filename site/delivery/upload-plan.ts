import type { Manifest } from "#site/bundle/manifest.ts";

/** A file that differs at the target; a digest of null says that it has to go. */
export type PlannedFile = { path: string; digest: string | null };

/** What has to be brought to a target for it to show one release. */
export type UploadPlan = ReturnType<typeof openUploadPlan>;

export type UploadQuestion = {
  target: string;
  rules: string;
  /** The stage of a path; smaller ones are brought first. */
  rankOf: (path: string) => number;
  /** A release that the target is known to show: only what came after it is looked at. 0: everything is. */
  since?: number | undefined;
};

const batchMax = 1_000;
const deletions = 100;

/**
 * Compares the current release with what was uploaded to `target` before, as of one instant: the plan stays the same
 * while publishing goes on. It is kept on the disk, because a first upload may have millions of files. `rules` are the
 * header rules: a file that was sent under others is sent again.
 */
export function openUploadPlan(
  manifest: Manifest,
  { target, rules, rankOf, since = 0 }: UploadQuestion,
) {
  const { db } = manifest;
  for (const statement of tables) db.run(statement);
  const rulesDigest = new Bun.CryptoHasher("sha256").update(rules).digest("hex").slice(0, 16);
  const planning = db.prepare<null, [number, string, string | null]>(
    "INSERT INTO temp.upload_plan (stage, path, digest) VALUES (?, ?, ?)",
  );
  const release = db.transaction(() => {
    const from = isKept(manifest, since) ? since : 0;
    const changed = db.query<PlannedFile, [string, string, number]>(changedFiles);
    for (const { path, digest } of changed.iterate(target, rulesDigest, from)) {
      planning.run(rankOf(path), path, digest);
    }
    const gone = db.query<PlannedFile, [string, number]>(from > 0 ? goneSince : goneFiles);
    for (const { path } of gone.iterate(target, from)) planning.run(deletions, path, null);
    return manifest.state().current_release;
  })();
  const remembering = db.query<null, [string, string, string, string, number]>(
    `INSERT OR REPLACE INTO uploads (target, path, digest, rules, uploaded_at) VALUES (?, ?, ?, ?, ?)`,
  );
  const forgetting = db.query<null, [string, string]>(
    "DELETE FROM uploads WHERE target = ? AND path = ?",
  );
  const stages = db
    .query<{ stage: number; files: number }, []>(
      "SELECT stage, count(*) AS files FROM temp.upload_plan GROUP BY stage ORDER BY stage",
    )
    .all();
  return {
    release,
    total: stages.reduce((sum, { files }) => sum + files, 0),
    /** In the order in which they are brought. */
    stages: stages.map(({ stage }) => stage),
    batches: (stage: number) => batchesOf(db, stage),
    /** Notes that the target has this content. */
    remember: (path: string, digest: string, now: Date) =>
      void remembering.run(target, path, digest, rulesDigest, now.getTime()),
    forget: (path: string) => void forgetting.run(target, path),
  };
}

function* batchesOf(db: Manifest["db"], stage: number): Generator<PlannedFile[]> {
  const reading = db.query<PlannedFile, [number, string, number]>(
    `SELECT path, digest
     FROM temp.upload_plan
     WHERE stage = ? AND path > ?
     ORDER BY path
     LIMIT ?`,
  );
  for (let after = ""; ;) {
    const batch = reading.all(stage, after, batchMax);
    const last = batch.at(-1);
    if (last === undefined) return;
    yield batch;
    after = last.path;
  }
}

/** Whether the notes of all releases after this one are still there. */
const isKept = (manifest: Manifest, release: number): boolean =>
  release > 0 && manifest.oldestRelease() <= release + 1;

const changedFiles = `
  SELECT files.path, files.digest
  FROM files
  LEFT JOIN uploads ON uploads.target = ?1 AND uploads.path = files.path
  WHERE files.release > ?3
    AND (uploads.digest IS NULL OR uploads.digest <> files.digest OR uploads.rules <> ?2)`;

const goneFiles = `
  SELECT path, NULL AS digest
  FROM uploads
  WHERE target = ?1 AND ?2 = 0
    AND NOT EXISTS (SELECT 1 FROM files WHERE files.path = uploads.path)`;

const goneSince = `
  SELECT DISTINCT path, NULL AS digest
  FROM history
  WHERE release > ?2
    AND NOT EXISTS (SELECT 1 FROM files WHERE files.path = history.path)
    AND EXISTS (SELECT 1 FROM uploads WHERE target = ?1 AND path = history.path)`;

const tables = [
  // What each target is known to hold.
  `CREATE TABLE IF NOT EXISTS uploads (
     target TEXT NOT NULL, path TEXT NOT NULL, digest TEXT NOT NULL, rules TEXT NOT NULL,
     uploaded_at INTEGER NOT NULL, PRIMARY KEY (target, path)
   ) WITHOUT ROWID`,
  "DROP TABLE IF EXISTS temp.upload_plan",
  `CREATE TEMP TABLE upload_plan (
     stage INTEGER NOT NULL, path TEXT NOT NULL, digest TEXT, PRIMARY KEY (stage, path)
   ) WITHOUT ROWID`,
];
