import { type BundleManifest, feedPaths, type ManifestShard } from "#content/contract/feed.ts";
import { eachAtMost } from "#content/runtime/concurrency.ts";
import { sha256Of } from "#content/runtime/digest.ts";
import type { Blobs } from "#site/bundle/blobs.ts";
import { exportRank } from "#site/bundle/export-release.ts";
import type { Manifest } from "#site/bundle/manifest.ts";
import type { BundleContext } from "#site/bundle/release.ts";
import { type FollowingWork, inBackground } from "#content/runtime/timing.ts";
import { headersOf, urlPathsOf, headerRulesText } from "./http-headers.ts";
import { gatherMsOf, type PurgeConfig, purgeRelease } from "./purge.ts";
import type { ObjectStore, UploadFailure, UploadTarget } from "./upload-target.ts";

export type UploadOptions = {
  manifest: Manifest;
  blobs: Pick<Blobs, "find">;
  target: UploadTarget;
  /** The number of files uploaded at once. */
  concurrency?: number;
  /** Whether pages are also stored under a key without extension, for buckets without a server that maps addresses. */
  extensionless?: boolean;
  /** A release that the target is known to show, from an earlier outcome; only later changes are compared. */
  since?: number | undefined;
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal | undefined;
  /** Whether this publisher may fill the target, and no other does; default: always. */
  isMine?: () => boolean;
  now: Date;
};

export type UploadOutcome = ReturnType<typeof nothingYet>;

const nothingYet = () => ({
  /** The release that the target now shows in full; 0 when something failed or it was stopped. */
  release: 0,
  uploaded: 0,
  uploadedBytes: 0,
  removed: 0,
  /** Paths that changed at the target and must be purged from a CDN in front of it. At most `touchedMax`. */
  touched: [] as string[],
  failed: [] as { path: string; error: string }[],
});

const concurrencyDefault = 16;
const failuresMax = 20;
const touchedMax = 20_000;
/** Publishing goes on during an upload: new changes are uploaded in another pass, up to this many passes. */
const passesMax = 3;

/**
 * Uploads the current release to a target: only what changed since the last upload, assets first, pages before the lists
 * that name them, the feed's state last, then deletions. Each success is recorded at once, so an interrupted upload
 * continues where it stopped. When a file fails, the files that would name it are not uploaded.
 */
export async function uploadRelease(options: UploadOptions): Promise<UploadOutcome> {
  const outcome = nothingYet();
  const { manifest, target, extensionless = false } = options;
  const name = nameOf(target, extensionless);
  for (let pass = 0; pass < passesMax; pass++) {
    const plan = openUploadPlan(manifest, name, outcome.release || options.since);
    if (!(await bringAll(options, plan, outcome))) return outcome;
    outcome.release = plan.release;
    if (manifest.state().current_release === plan.release) break;
  }
  return outcome;
}

/** The target's name in the manifest; with extensionless keys it counts as another target. */
const nameOf = ({ name }: UploadTarget, extensionless: boolean) =>
  extensionless ? `${name}#extensionless` : name;

/** Uploads one stage after the other; returns whether all of them succeeded. */
async function bringAll(
  options: UploadOptions,
  plan: UploadPlan,
  outcome: UploadOutcome,
): Promise<boolean> {
  const { concurrency = concurrencyDefault, onProgress, signal, isMine = () => true } = options;
  let doneCount = 0;
  let isRefused = false;
  const stops = () =>
    isRefused || outcome.failed.length >= failuresMax || signal?.aborted === true || !isMine();
  for (const stage of plan.stages) {
    await eachAtMost(concurrency, plan.files(stage), async (file) => {
      if (stops()) return;
      const failure = await bring(options, plan, file, outcome);
      if (failure !== null) {
        outcome.failed.push({ path: file.path, error: failure.message });
        isRefused ||= failure.kind === "denied";
      }
      onProgress?.(++doneCount, plan.total);
    });
    if (stops() || outcome.failed.length > 0) return false;
  }
  return true;
}

async function bring(
  options: UploadOptions,
  plan: UploadPlan,
  plannedFile: PlannedFile,
  outcome: UploadOutcome,
): Promise<UploadFailure | null> {
  const { target, extensionless = false, now } = options;
  const { path, digest } = plannedFile;
  const file = digest === null ? null : contentOf(options, path, digest);
  // It left the bundle during the upload; the next pass removes it.
  if (digest !== null && file === null) return null;
  for (const key of extensionless ? keysOf(path) : [path]) {
    const failure =
      file === null
        ? await target.remove(key)
        : await target.put(key, file.body, objectHeaders(path, file.digest));
    if (failure !== null) return failure;
  }
  if (file === null) {
    plan.forget(path);
    outcome.removed++;
  } else {
    plan.remember(path, file.digest, now);
    outcome.uploaded++;
    outcome.uploadedBytes += file.body.length;
  }
  if (outcome.touched.length < touchedMax) outcome.touched.push(path);
  return null;
}

/** The planned content, or the newer content if publishing has replaced it. Null when the file left the bundle. */
function contentOf(
  { blobs, manifest }: UploadOptions,
  path: string,
  plannedDigest: string,
): { digest: string; body: Uint8Array<ArrayBuffer> } | null {
  for (const digest of [plannedDigest, manifest.find(path)?.digest]) {
    if (digest === undefined) return null;
    const body = blobs.find(digest);
    if (body !== null) return { digest, body };
  }
  throw new Error(`the content of ${path} is gone or damaged`);
}

/** With our SHA-256 digest the store can check what it received against the signature. */
function objectHeaders(path: string, digest: string): Record<string, string> {
  const { contentType, cacheControl, surrogateKeys } = headersOf(path);
  const keys = surrogateKeys.join(",");
  return {
    "content-type": contentType,
    "cache-control": cacheControl,
    "x-amz-content-sha256": digest,
    "x-amz-meta-digest": digest,
    ...(/^[\x21-\x7e]*$/.test(keys) ? { "x-amz-meta-cache-tag": keys } : {}),
  };
}

const keysOf = (path: string): string[] =>
  [...new Set([path, ...urlPathsOf(path).map((url) => url.slice(1))])].filter((key) => key !== "");

export type UploaderOptions = {
  target: ObjectStore;
  /** Whether this publisher may fill the target, and no other does. Call `notice` when it changes. */
  isMine: () => boolean;
  extensionless?: boolean;
  /** Caches in front of the target; they are purged after each upload. */
  purge: PurgeConfig;
  signal?: AbortSignal;
  /** Wait before a retry, doubled each time up to five minutes; default 5 s. */
  retryAfterMs?: number;
};

const retryFirstMs = 5_000;
const retryLastMs = 300_000;

/**
 * Uploads the releases of a running publisher in the background while `isMine` holds. The first run compares everything,
 * and first reads the target's own list if another publisher filled it; later runs look only at newer changes. A failed
 * upload is retried with the next release, else at growing intervals of up to five minutes.
 */
export function startUploader(
  { manifest, blobs, clock, log }: Pick<BundleContext, "manifest" | "blobs" | "clock" | "log">,
  options: UploaderOptions,
): FollowingWork {
  const { target, isMine, purge, extensionless = false, signal } = options;
  const { retryAfterMs = retryFirstMs } = options;
  let since: number | null = null;
  let failures = 0;
  let timer: Timer | undefined;
  const tryAgain = () => {
    clearTimeout(timer);
    if (signal?.aborted === true) return;
    timer = setTimeout(() => work.notice(), Math.min(retryAfterMs * 2 ** failures++, retryLastMs));
    timer.unref();
  };
  const work = inBackground(
    async () => {
      if (!isMine()) {
        since = null;
        return;
      }
      if (since === null) await adoptUploads(manifest, nameOf(target, extensionless), target);
      since ??= 0;
      const where = { manifest, blobs, target, extensionless, since, signal, isMine };
      const outcome = await uploadRelease({ ...where, now: clock() });
      const { release, uploaded, removed, touched, failed } = outcome;
      if (failed.length > 0) tryAgain();
      else {
        since = Math.max(since, release);
        failures = 0;
      }
      if (uploaded + removed > 0) log("uploaded", { release, uploaded, removed });
      for (const { path, error } of failed) log("a file could not be uploaded", { path, error });
      await purgeRelease(touched, purge);
    },
    (error) => {
      log("uploading failed; trying again", { error: String(error) });
      tryAgain();
    },
    gatherMsOf(purge),
  );
  return work;
}

/** A file that differs at the target; `digest` null: it must be removed. */
export type PlannedFile = { path: string; digest: string | null };

export type UploadPlan = ReturnType<typeof openUploadPlan>;

const currentRules = sha256Of(headerRulesText).slice(0, 16);
const batchMax = 1_000;
const deletions = 100;

/**
 * Compares the current release with earlier uploads to `target`, as of one instant: publishing does not change the plan.
 * The plan is kept on disk, because a first upload may have millions of files. Files sent under other header rules are sent
 * again. `since`: a release that the target is known to show, so only later changes are compared; 0: compare everything.
 */
export function openUploadPlan(manifest: Manifest, target: string, since = 0) {
  const { db } = manifest;
  for (const statement of tables) db.run(statement);
  const insertQuery = db.prepare<null, [number, string, string | null]>(
    "INSERT INTO temp.upload_plan (stage, path, digest) VALUES (?, ?, ?)",
  );
  const release = db.transaction(() => {
    // Removals in a release that is no longer kept are unknown.
    const from = manifest.oldestRelease() <= since + 1 ? since : 0;
    const changedQuery = db.query<PlannedFile, [string, string, number]>(changedFiles);
    for (const { path, digest } of changedQuery.iterate(target, currentRules, from)) {
      insertQuery.run(stageOf(path), path, digest);
    }
    const goneQuery = db.query<PlannedFile, [string, number]>(from > 0 ? goneSince : goneFiles);
    for (const { path } of goneQuery.iterate(target, from)) insertQuery.run(deletions, path, null);
    return manifest.state().current_release;
  })();
  const rememberQuery = db.query<null, [string, string, string, string, number]>(
    `INSERT OR REPLACE INTO uploads (target, path, digest, rules, uploaded_at) VALUES (?, ?, ?, ?, ?)`,
  );
  const forgetQuery = db.query<null, [string, string]>(
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
      void rememberQuery.run(target, path, digest, currentRules, now.getTime()),
    forget: (path: string) => void forgetQuery.run(target, path),
  };
}

/**
 * Reads from a bucket's own signed list which files it has, unless this publisher uploaded that list: another publisher may
 * have filled it. Throws when the bucket cannot be read.
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
  const ownList = db
    .query<{ digest: string; rules: string }, [string, string]>(
      "SELECT digest, rules FROM uploads WHERE target = ? AND path = ?",
    )
    .get(name, feedPaths.manifest);
  if (ownList?.digest === sha256Of(list.value)) return;
  db.run("DELETE FROM uploads WHERE target = ?", [name]);
  const adoptQuery = db.query(
    "INSERT INTO uploads (target, path, digest, rules, uploaded_at) VALUES (?, ?, ?, ?, 0)",
  );
  const rules = ownList?.rules ?? currentRules;
  for await (const files of listedAt(target, list.value)) {
    db.transaction(() => {
      for (const { path, sha256 } of files) adoptQuery.run(name, path, sha256, rules);
    })();
  }
}

/**
 * The files that a signed list names in a bucket, shard by shard. Skips shards that do not match the list: they were never
 * completely uploaded.
 */
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
 * The stage of a path: as in the export, with finer steps because an upload takes long. Lists come after all profiles,
 * Pagefind's entry after its files, the signed list after the files it vouches for.
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
  // The files that each target is known to have.
  `CREATE TABLE IF NOT EXISTS uploads (
     target TEXT NOT NULL, path TEXT NOT NULL, digest TEXT NOT NULL, rules TEXT NOT NULL,
     uploaded_at INTEGER NOT NULL, PRIMARY KEY (target, path)
   ) WITHOUT ROWID`,
  "DROP TABLE IF EXISTS temp.upload_plan",
  `CREATE TEMP TABLE upload_plan (
     stage INTEGER NOT NULL, path TEXT NOT NULL, digest TEXT, PRIMARY KEY (stage, path)
   ) WITHOUT ROWID`,
];
