import { join } from "node:path";
import type { Config } from "#api/config.ts";
import { systemClock } from "#content/rules/time.ts";
import { openBlobs } from "#site/publisher/blobs.ts";
import { openManifest } from "#site/publisher/manifest.ts";
import { type PurgeConfig, purgeRelease } from "#site/publisher/purge.ts";
import { uploadRelease } from "#site/publisher/upload.ts";
import { openS3Target, readS3Target, type UploadTarget } from "#site/publisher/upload-target.ts";
import { stopSignal, stopWith } from "../support/config.ts";
import { type Progress, startProgress } from "../support/progress.ts";

/** The bucket that --to names, with the keys of the environment; ends the process when one is not usable. */
export function targetOrExit(to: string, signal?: AbortSignal): UploadTarget {
  const read = readS3Target(to, process.env);
  if (!read.ok) stopWith(`--to: ${read.failure.message}`, 2);
  return openS3Target(read.value.address, read.value.keys, { signal });
}

/** Which caches are told of changes, and how. */
export const purgeConfigOf = (config: Config, log: PurgeConfig["log"]): PurgeConfig => ({
  urls: config.purgeUrls,
  mode: config.purgeMode,
  host: new URL(config.baseUrl).host,
  headers: config.purgeHeaders,
  log,
});

/** Brings what changed since the last upload to a bucket. Answers whether the bucket shows the current release. */
export async function bringToBucket(
  bundleFolder: string,
  asked: { to: string; extensionless: boolean; json: boolean },
  config: Config,
  log: PurgeConfig["log"],
): Promise<boolean> {
  const signal = stopSignal();
  const target = targetOrExit(asked.to, signal);
  const manifest = openManifest(bundleFolder);
  let progress: Progress | null = null;
  try {
    const { touched, ...outcome } = await uploadRelease({
      manifest,
      blobs: openBlobs(join(bundleFolder, "blobs")),
      target,
      extensionless: asked.extensionless,
      onProgress: (done, total) => {
        progress ??= startProgress("Uploading files", total);
        progress.at(done);
      },
      signal,
      now: systemClock(),
    });
    // It was set in a callback, which the compiler does not see.
    (progress as Progress | null)?.end();
    await purgeRelease({ changed: touched.map((path) => ({ path })) }, purgeConfigOf(config, log));
    if (asked.json) console.log(JSON.stringify({ target: target.name, ...outcome }));
    else show(asked.to, outcome);
    return outcome.release > 0;
  } finally {
    manifest.close();
  }
}

type Shown = Omit<Awaited<ReturnType<typeof uploadRelease>>, "touched">;

function show(to: string, { release, uploaded, uploadedBytes, removed, failed }: Shown): void {
  const megabytes = (uploadedBytes / 1_000_000).toFixed(1);
  const counts = `${uploaded} files (${megabytes} MB) uploaded, ${removed} removed`;
  for (const { path, error } of failed) console.error(`not uploaded: ${path}: ${error}`);
  if (release > 0) console.log(`${to} shows release ${release}: ${counts}.`);
  else console.error(`${to} is not complete: ${counts}. The same command goes on from here.`);
}
