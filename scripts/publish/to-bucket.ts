import type { Config } from "#api/config.ts";
import { systemClock } from "#content/contract/base/time.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import { openManifest, publisherFolders } from "#site/bundle/manifest.ts";
import { type PurgeConfig, purgeRelease } from "#site/delivery/purge.ts";
import { uploadRelease } from "#site/delivery/upload.ts";
import { awsClient, type ObjectStore, openS3Target } from "#site/delivery/upload-target.ts";
import { stopSignal, stopWith } from "../support/config.ts";
import { type Progress, startProgress } from "../support/progress.ts";

/** A bucket and how it is filled: as the command line says, else as the settings do. */
export type Bucket = { to: string; extensionless: boolean };

/** The bucket that is to follow the releases; null for none. */
export function bucketOf(
  flags: { to?: string | undefined; extensionless?: boolean | undefined },
  { s3 }: Config,
): Bucket | null {
  const to = flags.to ?? s3.url;
  return to === undefined ? null : { to, extensionless: flags.extensionless ?? s3.extensionless };
}

/** The bucket's store, with the keys of the settings; ends the process when one is not usable. */
export function targetOrExit(to: string, { s3 }: Config, signal?: AbortSignal): ObjectStore {
  const opened = openS3Target(to, s3, { signal });
  return opened.ok ? opened.value : stopWith(`--to: ${opened.failure}`, 2);
}

/** Which caches are purged of changes, and how. */
export function purgeConfigOf(config: Config, log: PurgeConfig["log"]): PurgeConfig {
  const { purgeUrls: urls, purgeMode: mode, purgeHeaders: headers, s3 } = config;
  const client = mode === "cloudfront" ? awsClient(s3, mode) : null;
  const sign = client?.sign.bind(client);
  return { urls, mode, host: new URL(config.baseUrl).host, headers, ...(sign && { sign }), log };
}

/** Brings what changed since the last upload to a bucket. Answers whether the bucket shows the current release. */
export async function bringToBucket(
  config: Config,
  bucket: Bucket & { json: boolean },
  log: PurgeConfig["log"],
): Promise<boolean> {
  const signal = stopSignal();
  const target = targetOrExit(bucket.to, config, signal);
  const { bundle } = publisherFolders(config.dataDir);
  using manifest = openManifest(bundle);
  const display: { progress?: Progress } = {};
  const { touched, ...outcome } = await uploadRelease({
    manifest,
    blobs: openBlobs(manifest),
    target,
    extensionless: bucket.extensionless,
    onProgress: (done, total) => {
      display.progress ??= startProgress("Uploading files", total);
      display.progress.at(done);
    },
    signal,
    now: systemClock(),
  });
  display.progress?.end();
  await purgeRelease(touched, purgeConfigOf(config, log));
  if (bucket.json) console.log(JSON.stringify({ target: target.name, ...outcome }));
  else show(bucket.to, outcome);
  return outcome.release > 0;
}

type UploadReport = Omit<Awaited<ReturnType<typeof uploadRelease>>, "touched">;

function show(
  to: string,
  { release, uploaded, uploadedBytes, removed, failed }: UploadReport,
): void {
  const megabytes = (uploadedBytes / 1_000_000).toFixed(1);
  const counts = `${uploaded} files (${megabytes} MB) uploaded, ${removed} removed`;
  for (const { path, error } of failed) console.error(`not uploaded: ${path}: ${error}`);
  if (release > 0) console.log(`${to} shows release ${release}: ${counts}.`);
  else console.error(`${to} is not complete: ${counts}. The same command goes on from here.`);
}
