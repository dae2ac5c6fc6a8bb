import { type BackgroundWork, inBackground } from "./in-background.ts";
import type { PublisherParts } from "./publisher-parts.ts";
import { type PurgeConfig, purgeRelease } from "./purge.ts";
import { uploadRelease } from "./upload.ts";
import type { UploadTarget } from "./upload-target.ts";

export type UploaderOptions = {
  target: UploadTarget;
  extensionless?: boolean;
  /** Caches in front of the target: they are told what changed there once it did. */
  purge: PurgeConfig;
  signal?: AbortSignal;
};

/**
 * Keeps a target in step with the releases of a resident publisher, in the background. The first run compares
 * everything; later ones look only at what came since. What failed is tried again with the next release.
 */
export function startUploader(
  { manifest, blobs, clock, log }: Pick<PublisherParts, "manifest" | "blobs" | "clock" | "log">,
  { target, purge, extensionless = false, signal }: UploaderOptions,
): BackgroundWork {
  let since = 0;
  return inBackground(
    async () => {
      const outcome = await uploadRelease({
        ...{ manifest, blobs, target, extensionless, since, signal },
        now: clock(),
      });
      const { release, uploaded, removed, touched, failed } = outcome;
      since = failed.length > 0 ? since : Math.max(since, release);
      if (uploaded + removed > 0) log("uploaded", { release, uploaded, removed });
      for (const { path, error } of failed) log("a file could not be uploaded", { path, error });
      await purgeRelease({ changed: touched.map((path) => ({ path })) }, purge);
    },
    (error) =>
      log("uploading failed and is tried again with the next release", { error: String(error) }),
  );
}
