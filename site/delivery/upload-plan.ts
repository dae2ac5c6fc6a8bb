import { sha256Of } from "#content/runtime/digest.ts";
import { type BundleManifest, feedPaths, type ManifestShard } from "#content/contract/feed.ts";
import { exportRank } from "#site/bundle/export-release.ts";
import type { Manifest } from "#site/bundle/manifest.ts";
import { headerRulesText } from "./http-headers.ts";
import type { ObjectStore } from "./upload-target.ts";

/** A file that differs at the target; a digest of null says that it has to go. */
export type PlannedFile = { path: string; digest: string | null };

/** What has to be brought to a target for it to show one release. */
export type UploadPlan = ReturnType<typeof openUploadPlan>;

const currentRules = sha256Of(headerRulesText).slice(0, 16);
const batchMax = 1_000;
const deletions = 100;

/**
 * Compares the current release with what was uploaded to `target` before, as of one instant: the plan stays the same
 * while publishing goes on. It is kept on the disk, because a first upload may have millions of files. A file that was
 * sent under other header rules is sent again. `since` is a release that the target is known to show: only what came
 * after it is looked at; 0: everything is.
 */
export function openUploadPlan(manifest: Manifest, target: string, since = 0) {
  const { db } = manifest;
  for (const statement of tables) db.run(statement);
  const planning = db.prepare<null, [number, string, string | null]>(
    "INSERT INTO temp.upload_plan (stage, path, digest) VALUES (?, ?, ?)",
  );
  const release = db.transaction(() => {
    // What was removed in a release that is not kept any more is not known.
    const from = manifest.oldestRelease() <= since + 1 ? since : 0;
    const changed = db.query<PlannedFile, [string, string, number]>(changedFiles);
    for (const { path, digest } of changed.iterate(target, currentRules, from)) {
      planning.run(stageOf(path), path, digest);
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
  const reading = db.query<PlannedFile, [number, string, number]>(
    "SELECT path, digest FROM temp.upload_plan WHERE stage = ? AND path > ? ORDER BY path LIMIT ?",
  );
  return {
    release,
    total: stages.reduce((sum, { files }) => sum + files, 0),
    stages: stages.map(({ stage }) => stage),
    files: function* (stage: number): Generator<PlannedFile> {
      let batch = reading.all(stage, "", batchMax);
      for (; batch.length > 0; batch = reading.all(stage, batch.at(-1)?.path ?? "", batchMax)) {
        yield* batch;
      }
    },
    remember: (path: string, digest: string, now: Date) =>
      void remembering.run(target, path, digest, currentRules, now.getTime()),
    forget: (path: string) => void forgetting.run(target, path),
  };
}

/**
 * Takes from a bucket's own list what it holds, unless that list was uploaded from here: another publisher may have filled
 * it. Throws when the bucket cannot be read.
 */
export async function adoptUploads(
  { db }: Manifest,
  name: string,
  target: Pick<ObjectStore, "get">,
): Promise<void> {
  for (const statement of tables) db.run(statement);
  const list = await target.get(feedPaths.manifest);
  if (!list.ok && list.failure.kind === "missing") return;
  if (!list.ok) throw new Error(list.failure.message);
  const own = db
    .query<{ digest: string; rules: string }, [string, string]>(
      "SELECT digest, rules FROM uploads WHERE target = ? AND path = ?",
    )
    .get(name, feedPaths.manifest);
  if (own?.digest === sha256Of(list.value)) return;
  db.run("DELETE FROM uploads WHERE target = ?", [name]);
  const adopting = db.query(
    "INSERT INTO uploads (target, path, digest, rules, uploaded_at) VALUES (?, ?, ?, ?, 0)",
  );
  const rules = own?.rules ?? currentRules;
  for await (const files of listedAt(target, list.value)) {
    db.transaction(() => {
      for (const { path, sha256 } of files) adopting.run(name, path, sha256, rules);
    })();
  }
}

/** What a signed list says is in a bucket, shard by shard; one of a newer list, which never came, vouches for nothing. */
async function* listedAt(target: Pick<ObjectStore, "get">, list: Uint8Array) {
  const { shards } = JSON.parse(Buffer.from(list).toString()) as BundleManifest;
  for (let next = shards.pop(); next !== undefined; next = shards.pop()) {
    const shard = await target.get(next.path);
    if (!shard.ok || sha256Of(shard.value) !== next.sha256) continue;
    const text = Buffer.from(shard.value).toString();
    const { files = [], parts = [] } = JSON.parse(text) as ManifestShard;
    shards.push(...parts);
    yield [...files, next];
  }
}

/**
 * The order of the export, drawn apart where an upload takes long: lists after all profiles, Pagefind's entry after what
 * it names, the signed list after the files it vouches for.
 */
function stageOf(path: string): number {
  if (/\.pf_[a-z]+$/.test(path)) return 0;
  if (path.startsWith("api/nonprofits/pages/")) return 20;
  if (path.startsWith("snapshot/manifest")) return 25;
  return exportRank(path) * 10;
}

const changedFiles = `
  SELECT files.path, lower(hex(files.digest)) AS digest
  FROM files
  LEFT JOIN uploads ON uploads.target = ?1 AND uploads.path = files.path
  WHERE files.release > ?3
    AND (uploads.digest IS NULL OR uploads.digest <> lower(hex(files.digest)) OR uploads.rules <> ?2)`;

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
