import { dirname } from "node:path";
import { closeFeedFiles } from "#content/feed/store.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { exportCommitted } from "#site/bundle/export-release.ts";
import {
  commitRelease,
  type Committed,
  type GatheredFiles,
  noteFailures,
  gatherFiles,
} from "#site/bundle/release.ts";
import type { DocumentKey, DocumentKind } from "#site/documents/document.ts";
import { type SearchJob, publishLunrList } from "#site/search/search-job.ts";
import { renderInWorkers, type WorkerSettings } from "./background-worker.ts";
import type { PublisherContext } from "./context.ts";
import type { FeedJob } from "./feed-job.ts";
import { runListJob } from "./list-job.ts";
import { runProfileJob } from "./profile-job.ts";

export type FullBuildOptions = {
  /** Rendering processes; default 2. The bytes do not depend on it. */
  processes?: number;
  settings: Pick<WorkerSettings, "storeUrl" | "storeToken" | "compiledFolder">;
  onProgress?: (documents: number) => void;
  /** Gives the build up. */
  signal?: AbortSignal | undefined;
  /** What has to happen in the store before a build reads it, for example closing files of the change feed. */
  prepare?: (context: PublisherContext, asOf: number) => Promise<void>;
};

export type FullBuildOutcome = {
  release: number;
  files: number;
  /** Paths whose bytes differ from the bundle before, with those that are new or gone; null for a first build. */
  differing: string[] | null;
  failed: { key: DocumentKey; error: string }[];
};

/**
 * Renders everything again in several processes, then makes it current at once. Readers go on with the release before,
 * and the profile job may publish meanwhile: what it rendered from newer data is kept.
 */
export async function buildAll(
  context: PublisherContext,
  options: FullBuildOptions,
): Promise<FullBuildOutcome> {
  const { manifest, source, blobs, exported, inputsDigest } = context;
  const startedAt = context.clock().getTime();
  const asOf = await newestSequence(source.store);
  await options.prepare?.(context, asOf);
  const first = manifest.state().current_release === 0;
  if (first) removeLeftovers(context);
  manifest.setState({ building: 1 });
  const next = gatherFiles(manifest);
  const failed: FullBuildOutcome["failed"] = [];
  const repaired: string[] = [];
  let documents = 0;
  const settings: WorkerSettings = {
    ...options.settings,
    baseUrl: source.baseUrl,
    network: source.network,
    bundleFolder: dirname(manifest.db.filename),
    blobsFolder: blobs.folder,
    // No one reads the folder before the first release, so the workers may fill it themselves.
    exportFolder: first ? exported.folder : null,
  };
  const { processes = 2, signal } = options;
  await renderInWorkers({ settings, processes, signal }, allBatches(context), (batch) => {
    next.add(batch.files);
    failed.push(...batch.failed);
    repaired.push(...batch.repaired);
    documents += batch.keys;
    options.onProgress?.(documents);
  });
  return finish(context, { next, failed, repaired, asOf, first, inputsDigest, startedAt });
}

async function* allBatches({ kinds, source }: PublisherContext): AsyncGenerator<DocumentKey[]> {
  for (const kind of kinds) yield* kind.all(source);
}

function finish(
  context: PublisherContext,
  build: {
    next: GatheredFiles;
    failed: FullBuildOutcome["failed"];
    repaired: string[];
    asOf: number;
    first: boolean;
    inputsDigest: string;
    startedAt: number;
  },
): FullBuildOutcome {
  const { manifest, clock } = context;
  const { asOf, failed, first, inputsDigest } = build;
  const files = build.next.count();
  const known = manifest.state();
  const committed = commitRelease(manifest, {
    files: build.next,
    reason: first ? "first build" : "full build",
    asOf,
    // A page that could not be rendered keeps its older version.
    whole: failed.length === 0,
    first,
    state: {
      fast_sequence: Math.max(known.fast_sequence, asOf),
      slow_sequence: Math.max(known.slow_sequence, asOf),
      inputs_digest: inputsDigest,
      building: 0,
    },
    now: clock(),
  });
  // The profile job may have noted one meanwhile, from newer data.
  manifest.db.query("DELETE FROM failures WHERE failed_at < ?").run(build.startedAt);
  noteFailures(context, [], failed);
  // The workers have filled the folder of a first build.
  if (first) manifest.setState({ exported_release: committed.release });
  else exportCommitted(context, committed);
  return {
    release: committed.release,
    files,
    differing: first ? null : differingPaths(committed, build.repaired),
    failed,
  };
}

const differingPaths = ({ changed, removed }: Committed, repaired: readonly string[]): string[] => [
  ...new Set([...changed.map(({ path }) => path), ...repaired]),
  ...removed,
];

/** A first build that was cut off may have left half-written files under their final names. */
function removeLeftovers({ manifest, blobs, exported }: PublisherContext): void {
  if (manifest.state().building === 0) return;
  blobs.clear();
  exported.clear();
}

export type BuildOptions = Pick<FullBuildOptions, "processes" | "onProgress" | "signal"> & {
  /** Only these documents, for measuring them; the bundle is not complete then. */
  kinds?: readonly DocumentKind[];
  /** Leaves the feed and the signed list to the next run of their job: then `differing` tells of all others. */
  feedLater?: boolean;
};

type Jobs = { context: PublisherContext; feedJob: FeedJob; searchJob: SearchJob };

/**
 * Renders the whole bundle again, with the list of search indexes, the feed and the signed list. What differed is noted
 * in the manifest, for who asks later.
 */
export async function buildBundle(
  jobs: Jobs,
  settings: FullBuildOptions["settings"],
  { kinds, ...options }: BuildOptions,
): Promise<FullBuildOutcome> {
  const { context } = jobs;
  if (kinds !== undefined) return buildAll({ ...context, kinds }, { ...options, settings });
  const outcome = await buildWhole(jobs, settings, options);
  noteDiffering(context, outcome.differing ?? []);
  return outcome;
}

async function buildWhole(
  { context, feedJob, searchJob }: Jobs,
  settings: FullBuildOptions["settings"],
  { feedLater = false, ...options }: Omit<BuildOptions, "kinds">,
): Promise<FullBuildOutcome> {
  // What merely lags behind, search indexes and the snapshot, must not be told as a difference.
  if (context.manifest.state().current_release > 0) {
    await searchJob.run();
    await feedJob.run({});
  }
  const outcome = await buildAll(context, { ...options, settings, prepare: closeFeed });
  const indexes = publishLunrList(context);
  const also = (differing: string[] | null, { changed }: Committed) =>
    differing && [...differing, ...changed.map(({ path }) => path)];
  const differing = also(outcome.differing, indexes);
  if (feedLater) {
    feedJob.renew();
    return { ...outcome, release: indexes.release, differing };
  }
  const feed = await feedJob.run({ full: true });
  return { ...outcome, release: feed.release, differing: also(differing, feed) };
}

function noteDiffering({ manifest, clock }: PublisherContext, differing: readonly string[]): void {
  const { db } = manifest;
  const noting = db.transaction(() => {
    db.run("DELETE FROM differing");
    db.query("INSERT OR IGNORE INTO differing (path) SELECT value FROM json_each(?)").run(
      JSON.stringify(differing),
    );
    manifest.setState({ built_at: clock().getTime() });
  });
  noting.immediate();
}

/** What the newest full build found to differ from the bundle before. */
export const differingFiles = ({ db }: PublisherContext["manifest"]): string[] =>
  db
    .query<{ path: string }, []>("SELECT path FROM differing ORDER BY path")
    .all()
    .map(({ path }) => path);

/** A build renders the change feed as well: files that are due have to be closed before. */
async function closeFeed(
  { manifest, source, clock }: PublisherContext,
  upTo: number,
): Promise<void> {
  const { slow_sequence } = manifest.state();
  await closeFeedFiles(source.store, { after: slow_sequence, upTo, now: clock() });
}

/** More than these are published faster by rendering everything again. */
const changesMax = 1_000;

/**
 * Publishes what waits before a full build, so that this tells no more than what was wrong. Answers how many changes are
 * left to it: 0, or all when they are many or the site is another one.
 */
export async function catchUp(context: PublisherContext): Promise<number> {
  const { manifest, source, inputsDigest } = context;
  const { current_release, slow_sequence, inputs_digest } = manifest.state();
  // The first build differs from nothing.
  if (current_release === 0) return 0;
  const waiting = (await newestSequence(source.store)) - slow_sequence;
  if (waiting > changesMax || inputs_digest !== inputsDigest) return waiting;
  while ((await runProfileJob(context)) > 0);
  while ((await runListJob(context, () => Bun.sleep(0))) !== null);
  return 0;
}
