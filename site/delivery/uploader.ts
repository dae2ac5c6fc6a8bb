import { type BackgroundWork, inBackground } from "#site/publisher/in-background.ts";
import type { PublisherParts } from "#site/publisher/publisher-parts.ts";
import { type PurgeConfig, purgeRelease } from "./purge.ts";
import { uploadRelease } from "./upload.ts";
import type { UploadTarget } from "./upload-target.ts";

export type UploaderOptions = {
  target: UploadTarget;
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
 * Keeps a target in step with the releases of a resident publisher, in the background. The first run compares
 * everything; later ones look only at what came since. What failed is tried again with the next release, and without
 * one less and less often, at last every five minutes.
 */
export function startUploader(
  { manifest, blobs, clock, log }: Pick<PublisherParts, "manifest" | "blobs" | "clock" | "log">,
  { target, purge, extensionless = false, signal, retryAfterMs = retryFirstMs }: UploaderOptions,
): BackgroundWork {
  let since = 0;
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
      const outcome = await uploadRelease({
        ...{ manifest, blobs, target, extensionless, since, signal },
        now: clock(),
      });
      const { release, uploaded, removed, touched, failed } = outcome;
      if (failed.length > 0) tryAgain();
      else {
        since = Math.max(since, release);
        failures = 0;
      }
      if (uploaded + removed > 0) log("uploaded", { release, uploaded, removed });
      for (const { path, error } of failed) log("a file could not be uploaded", { path, error });
      await purgeRelease({ changed: touched.map((path) => ({ path })) }, purge);
    },
    (error) => {
      log("uploading failed and is tried again", { error: String(error) });
      tryAgain();
    },
  );
  return work;
}
