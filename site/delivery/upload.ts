import { eachAtMost } from "#content/runtime/concurrency.ts";
import type { Blobs } from "#site/bundle/blobs.ts";
import type { Manifest } from "#site/bundle/manifest.ts";
import type { BundleContext } from "#site/bundle/release.ts";
import { type FollowingWork, inBackground } from "./background-work.ts";
import { headersOf, urlPathsOf } from "./http-headers.ts";
import { gatherMsOf, type PurgeConfig, purgeRelease } from "./purge.ts";
import { adoptUploads, openUploadPlan, type PlannedFile, type UploadPlan } from "./upload-plan.ts";
import type { ObjectStore, UploadFailure, UploadTarget } from "./upload-target.ts";

export type UploadOptions = {
  manifest: Manifest;
  blobs: Pick<Blobs, "find">;
  target: UploadTarget;
  /** Files on their way at once. */
  concurrency?: number;
  /** Store pages also under a key without extension, for buckets that no server maps. */
  extensionless?: boolean;
  /** A release that the target is known to show, as the outcome before said; what came later is looked at. */
  since?: number | undefined;
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal | undefined;
  /** Whether no other publisher fills the target; default always. */
  isMine?: () => boolean;
  now: Date;
};

/** What an upload has done so far. */
export type UploadOutcome = ReturnType<typeof nothingYet>;

const nothingYet = () => ({
  /** The release that the target now shows in full; 0 when something failed or it was stopped. */
  release: 0,
  uploaded: 0,
  uploadedBytes: 0,
  removed: 0,
  /** Paths that changed at the target: what a CDN in front of it has to forget. At most `touchedMax`. */
  touched: [] as string[],
  failed: [] as { path: string; error: string }[],
});

const concurrencyDefault = 16;
const failuresMax = 20;
const touchedMax = 20_000;
/** Publishing goes on meanwhile: what became new is brought in another pass, this many times. */
const passesMax = 3;

/**
 * Brings a target in step with the current release: only what changed since the last upload there, assets first,
 * pages before the lists that name them, the feed's state last, then deletions. Each success is remembered at once, so
 * that an upload that was cut off goes on where it stopped. A file that cannot be brought stops what would name it.
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

/** What a target is called in the manifest: with keys of both kinds it is another one. */
const nameOf = ({ name }: UploadTarget, extensionless: boolean) =>
  extensionless ? `${name}#extensionless` : name;

/** Brings one stage after the other; answers whether all of them came through. */
async function bringAll(
  options: UploadOptions,
  plan: UploadPlan,
  outcome: UploadOutcome,
): Promise<boolean> {
  const { concurrency = concurrencyDefault, onProgress, signal, isMine = () => true } = options;
  let done = 0;
  let refused = false;
  const stops = () =>
    refused || outcome.failed.length >= failuresMax || signal?.aborted === true || !isMine();
  for (const stage of plan.stages) {
    await eachAtMost(concurrency, plan.files(stage), async (file) => {
      if (stops()) return;
      const failure = await bring(options, plan, file, outcome);
      if (failure !== null) {
        outcome.failed.push({ path: file.path, error: failure.message });
        refused ||= failure.kind === "denied";
      }
      onProgress?.(++done, plan.total);
    });
    if (stops() || outcome.failed.length > 0) return false;
  }
  return true;
}

async function bring(
  options: UploadOptions,
  plan: UploadPlan,
  planned: PlannedFile,
  outcome: UploadOutcome,
): Promise<UploadFailure | null> {
  const { target, extensionless = false, now } = options;
  const { path, digest } = planned;
  const file = digest === null ? null : contentOf(options, path, digest);
  // It left the bundle while this ran; the next pass removes it.
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

/** Publishing may have replaced the planned content, which may be gone: then the newer content serves. */
function contentOf(
  { blobs, manifest }: UploadOptions,
  path: string,
  planned: string,
): { digest: string; body: Uint8Array<ArrayBuffer> } | null {
  for (const digest of [planned, manifest.find(path)?.digest]) {
    if (digest === undefined) return null;
    const body = blobs.find(digest);
    if (body !== null) return { digest, body };
  }
  throw new Error(`the content of ${path} is gone or damaged`);
}

/** Our digests are SHA-256, so the store can check what it received against the signature. */
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
  /** Whether no other publisher fills the target. A change of it is to be noticed. */
  isMine: () => boolean;
  extensionless?: boolean;
  /** Caches in front of the target: they are told what changed there once it did. */
  purge: PurgeConfig;
  signal?: AbortSignal;
  /** Wait before what failed is tried again, doubled each time; default 5 s. */
  retryAfterMs?: number;
};

const retryFirstMs = 5_000;
const retryLastMs = 300_000;

/**
 * Keeps a target in step with the releases of a running publisher, in the background, as long as it is this one's. The first run then compares
 * everything with what the target's own list names, where another publisher filled it; later ones look only at what came since. What failed is tried again with the next release, and without
 * one less and less often, at last every five minutes.
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
