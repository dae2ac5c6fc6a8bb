import type { Config } from "#api/config.ts";
import { systemClock } from "#content/contract/base/time.ts";
import { saveDirectoryFact } from "#content/nonprofit/save.ts";
import { directoryFact } from "#content/store/facts.ts";
import { print } from "#scripts/support/command.ts";
import { stopWith, stopSignal } from "#scripts/support/config.ts";
import { startProgress, type Progress } from "#scripts/support/progress.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import { syncAll } from "#site/bundle/durable.ts";
import { prune } from "#site/bundle/garbage-collection.ts";
import { type Manifest, openManifest, publisherFolders } from "#site/bundle/manifest.ts";
import { releases } from "#site/bundle/release.ts";
import { releaseBefore } from "#site/bundle/rollback.ts";
import { type PurgeConfig, purgeRelease } from "#site/delivery/purge.ts";
import { awsClient, type ObjectStore, openS3Target } from "#site/delivery/upload-target.ts";
import { uploadRelease } from "#site/delivery/upload.ts";
import { securityContactFact } from "#site/documents/discovery.ts";
import { publicSettingsFact } from "#site/documents/pages.ts";
import { catchUp } from "#site/publisher/full-build.ts";
import { retryFailures } from "#site/publisher/housekeeping.ts";
import { publishChanges } from "#site/publisher/list-job.ts";
import type { Publisher } from "#site/publisher/open-publisher.ts";
import { rollBackTo } from "#site/publisher/requests.ts";

/** Stores the settings that pages show as facts; the pages are rendered with the next changes. */
export async function keepPublicSettings(
  { source: { store }, clock }: Publisher["context"],
  settings: Partial<Config>,
): Promise<void> {
  const { contact, securityContact, operator, operatorCountry, recommendationLogDays } = settings;
  const named = { contact, operator, operatorCountry, recommendationLogDays };
  const facts = {
    [publicSettingsFact]: JSON.stringify(named),
    [securityContactFact]: securityContact ?? "",
  };
  for (const [name, value] of Object.entries(facts)) {
    if (((await directoryFact(store, name)) ?? "") === value) continue;
    await store.write((tx) => saveDirectoryFact(tx, { name, value, now: clock() }));
  }
}

/** Renders everything again. Returns the number of documents that failed. */
export async function publishFull(
  publisher: Publisher,
  processes: number | undefined,
  json: boolean,
) {
  const startedMs = performance.now();
  const { current_release } = publisher.context.manifest.state();
  const waiting = await catchUp(publisher.context);
  const progress = startProgress("Rendering documents", 0);
  const outcome = await publisher.buildAll({ processes, onProgress: progress.at });
  progress.end();
  // Search indexes come last: a full build makes those for programs, and this the one for people.
  if (!json) console.error("Making search indexes (about half a minute for 41,000 nonprofits).");
  const indexed = await publisher.searchJob.run();
  if (indexed !== null) await publisher.feedJob.run();
  await publisher.tidy({ first: current_release === 0 });
  await syncAll(publisher.context);
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  const among = waiting + outcome.waiting;
  print({ json }, { ...outcome, waiting: among, seconds: Number(seconds) }, () => [
    `Release ${outcome.release}: ${outcome.files} files in ${seconds} s.`,
    ...findingLines(outcome),
    ...(among > 0
      ? [`${among} changes were waiting to be published: what they touch is among these.`]
      : []),
  ]);
  if (!json) showFailed(outcome.failed);
  return outcome.failed.length;
}

/** Publishes what has changed. Returns the number of documents that could not be rendered. */
export async function drainOnce(
  { context, feedJob, searchJob }: Publisher,
  { json, releasesKept }: { json: boolean; releasesKept: number },
) {
  const { manifest } = context;
  const { held_at, current_release } = manifest.state();
  if (held_at > 0) stopWith(heldMessage(held_at));
  await publishChanges(context);
  await searchJob.run();
  await feedJob.run();
  await retryFailures(context);
  while (prune(context, releasesKept));
  const state = manifest.state();
  const failed = failuresOf(manifest);
  const releaseCount = state.current_release - current_release;
  const answer = { release: state.current_release, made: releaseCount, failed };
  print({ json }, answer, ({ release }) => [
    releaseCount === 0
      ? `Nothing to publish: release ${release} holds everything.`
      : `Release ${release} is current (${releaseCount} new).`,
  ]);
  if (!json) showFailed(failed);
  return failed.length;
}

type Failure = { key: string; error: string };

export const failuresOf = ({ db }: Manifest): Failure[] =>
  db.query<Failure, []>("SELECT key, error FROM failures").all();

export function showFailed(failed: readonly Failure[]): void {
  for (const { key, error } of failed) console.error(`failed: ${key}: ${error}`);
}

/** Goes back to an older release; "-1" is the state before the newest changes. */
export async function goBack(
  { context, feedJob }: Publisher,
  text: string,
  json: boolean,
): Promise<void> {
  const target = targetOf(text, context.manifest);
  const outcome = rollBackTo(context, target);
  if (outcome === null) stopWith(notKeptMessage(target, context.manifest));
  await feedJob.run();
  // After a power loss, the release that was left must not return.
  await syncAll(context);
  const files = outcome.changed.length + outcome.removed.length;
  print({ json }, { release: outcome.release, held_at: target, files }, ({ release }) => [
    `Release ${release} shows what release ${target} showed (${files} files). Publishing is held; Resume with \`publish --resume\`.`,
  ]);
}

/** The message for publishing while a rollback holds. */
export const heldMessage = (release: number): string =>
  `Publishing is held at release ${release} by a rollback. Resume with \`publish --resume\`.`;

const publicationsMax = 100_000;

/** The release meant by a number, or by -N for the state N publications ago. */
export function targetOf(text: string, manifest: Manifest): number {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isInteger(number) || number === 0 || number < -publicationsMax) {
    stopWith(
      "--rollback: give the number of a release, or -1 for what was shown before the newest changes.",
      2,
    );
  }
  const target = number > 0 ? number : releaseBefore(manifest, -number);
  return target ?? stopWith("No release of earlier changes is kept.");
}

/** The message for a release to which no rollback is possible. */
export function notKeptMessage(target: number, manifest: Manifest): string {
  const [newest, ...older] = releases(manifest, manifest.state().current_release);
  if (newest?.id === target) return `Release ${target} is what readers see.`;
  const last = older[0]?.id;
  const first = older.at(-1)?.id;
  const range = last === undefined ? "none" : `${first} to ${last}`;
  return `Release ${target} is not kept. Kept: ${range}.`;
}

const shownMax = 20;

/** Which files a full build changed or repaired; nothing for a first build. */
export const findingLines = ({ differing, repaired = [] }: FullBuildFindings): string[] => [
  ...(differing?.length === 0 ? ["Nothing differed from the bundle before."] : []),
  ...pathLines("files differed from the bundle before", differing ?? []),
  ...pathLines("files were damaged on the disk, and are whole again", repaired),
];

type FullBuildFindings = { differing?: readonly string[] | null; repaired?: readonly string[] };

const pathLines = (what: string, paths: readonly string[]): string[] =>
  paths.length === 0
    ? []
    : [
        `${paths.length} ${what}:`,
        ...paths.slice(0, shownMax).map((path) => `  ${path}`),
        ...(paths.length > shownMax ? ["  … (--json lists them all)"] : []),
      ];

/** A bucket and how it is filled: from the command line, else from the settings. */
export type Bucket = { to: string; extensionless: boolean };

/** The bucket that follows the releases; null for none. */
export function bucketOf(
  flags: { to?: string | undefined; extensionless?: boolean | undefined },
  { s3 }: Config,
): Bucket | null {
  const to = flags.to ?? s3.url;
  return to === undefined ? null : { to, extensionless: flags.extensionless ?? s3.extensionless };
}

/** The bucket's store, with the keys of the settings. Ends the process if it cannot be used. */
export function targetOrExit(to: string, { s3 }: Config, signal?: AbortSignal): ObjectStore {
  const opened = openS3Target(to, s3, { signal });
  return opened.ok ? opened.value : stopWith(`--to: ${opened.failure}`, 2);
}

/** Which caches to purge of changes, and how. */
export function purgeConfigOf(config: Config, log: PurgeConfig["log"]): PurgeConfig {
  const { purgeUrls: urls, purgeMode: mode, purgeHeaders: headers, s3 } = config;
  const client = mode === "cloudfront" ? awsClient(s3, mode) : null;
  const sign = client?.sign.bind(client);
  return { urls, mode, host: new URL(config.baseUrl).host, headers, ...(sign && { sign }), log };
}

/** Uploads what changed since the last upload. Returns whether the bucket shows the current release. */
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
