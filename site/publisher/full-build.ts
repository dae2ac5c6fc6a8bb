import { closeFeedFiles } from "#content/feed/store.ts";
import { openListIndex } from "#content/find/browse-store.ts";
import { nonprofitIdsAfter } from "#content/nonprofit/record-store.ts";
import type { Queryable } from "#content/store/open.ts";
import { changeMark, newestSequence } from "#content/nonprofit/changes-store.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import { collectDead } from "#site/bundle/garbage-collection.ts";
import { exportInSlices, publishRelease } from "#site/bundle/export-release.ts";
import {
  assetsFolder,
  commitRelease,
  noteFailures,
  gatherFiles,
  isWrittenByOthers,
  storeFiles,
} from "#site/bundle/release.ts";
import { type DocumentKey, renderKeys } from "#site/documents/document.ts";
import { assetsKey } from "#site/documents/kinds.ts";
import { type SearchJob, publishLunrList } from "#site/search/search-job.ts";
import { inWorkers, renderBatch } from "./background-worker.ts";
import type { PublisherContext, RenderedBatch } from "./context.ts";
import type { FeedJob } from "./feed-job.ts";
import { publishChanges } from "./list-job.ts";

export type BuildOptions = {
  /**
   * The number of rendering processes. Default: 2, or none beside this one for a small directory. The bytes are the same
   * either way; other processes keep a publisher free to work while it builds.
   */
  processes?: number | undefined;
  onProgress?: (documents: number) => void;
  signal?: AbortSignal | undefined;
  /** Leaves the feed and the signed list to the next run of their job. `differing` then names all other files only. */
  feedLater?: boolean;
};

export type FullBuildOutcome = {
  release: number;
  files: number;
  /** Paths whose bytes differ from the bundle before, including new and removed ones; null for a first build. */
  differing: string[] | null;
  /** Paths whose content was damaged on the disk and has been written again. */
  repaired: string[];
  /** Number of changes that came during the build and were not published separately: their files count in `differing`. */
  waiting: number;
  failed: { key: DocumentKey; error: string }[];
};

type Jobs = { context: PublisherContext; feedJob: FeedJob; searchJob: SearchJob };

/**
 * Renders the whole bundle again, with the list of search indexes, the feed and the signed list. Notes in the manifest
 * which files differed.
 */
export async function buildBundle(
  { context, feedJob, searchJob }: Jobs,
  options: BuildOptions,
): Promise<FullBuildOutcome> {
  const damagedPaths = await forgetDamage(context);
  if (damagedPaths.length > 0) feedJob.renew();
  const { current_release, fast_sequence, inputs_digest } = context.manifest.state();
  if (current_release > 0 && inputs_digest !== context.inputsDigest) {
    // The service draws pages of the new site already, and they need its styles and scripts. Other assets wait, because
    // those of the site before have the same names, and a rollback to it would show the new ones.
    const { files } = await renderKeys([assetsKey], context.kinds, context.source);
    const named = files.filter(({ path }) => path.startsWith(assetsFolder));
    const stored = storeFiles(context, named);
    publishRelease(context, { reason: "assets", asOf: fast_sequence, state: {}, ...stored });
  } else if (current_release > 0) {
    // Search indexes and the snapshot may merely lag behind; that must not count as a difference.
    searchJob.lookAgain();
    const catchingUp = searchJob.run().then(() => feedJob.run());
    // If files are gone from the blobs, these jobs fail until the build has made the files again.
    await catchingUp.catch((error: unknown) => {
      if (options.signal?.aborted === true) throw error;
      context.log("a full build begins although search indexes or feed lag behind", {
        error: String(error),
      });
    });
  }
  const newest = await newestSequence(context.source.store);
  const outcome = await buildDocuments(context, options);
  const jobOutcomes = [publishLunrList(context)];
  if (options.feedLater === true) feedJob.renew();
  else jobOutcomes.push(await feedJob.run({ full: true }));
  const also = jobOutcomes.flatMap(({ changed }) => changed.map(({ path }) => path));
  // Search indexes follow later: if changes came meanwhile, an index that lags behind is not a difference.
  const laggingPrefix = context.manifest.state().fast_sequence > newest ? "search/" : null;
  const differing =
    outcome.differing &&
    [...outcome.differing, ...also].filter(
      (path) => !laggingPrefix || !path.startsWith(laggingPrefix),
    );
  const repaired = [...outcome.repaired, ...damagedPaths];
  noteFindings(context, { differing: differing ?? [], repaired });
  const release = jobOutcomes.at(-1)?.release ?? outcome.release;
  return { ...outcome, release, differing, repaired };
}

/** Forgets damaged content of files that other jobs write, so that they write it again. Returns their paths. */
async function forgetDamage({ manifest, blobs }: PublisherContext): Promise<string[]> {
  const damagedPaths: string[] = [];
  const paths = manifest.selectPaths("SELECT path FROM files WHERE doomed_at IS NULL");
  for (const path of paths.filter(isWrittenByOthers)) {
    const digest = manifest.find(path)?.digest ?? "";
    // Content with a file of its own is written again each time.
    if (blobs.ownFile(digest) === null && blobs.find(digest) === null) {
      blobs.remove(digest);
      damagedPaths.push(path);
    }
    // A running publisher goes on with its work.
    await Bun.sleep(0);
  }
  return damagedPaths;
}

/**
 * Renders all documents again, then makes them current at once. Meanwhile readers get the release before, and the profile
 * job may publish: files that it rendered from newer data are kept.
 */
async function buildDocuments(
  context: PublisherContext,
  { processes: processCount, onProgress, signal }: BuildOptions,
): Promise<FullBuildOutcome> {
  const { manifest, source, kinds, clock, inputsDigest } = context;
  const startedAt = clock().getTime();
  const asOf = await newestSequence(source.store);
  const mark = await changeMark(source.store, asOf);
  const { current_release, slow_sequence } = manifest.state();
  // The change feed is rendered as well, so close the feed files that are due first.
  await closeFeedFiles(source.store, { after: slow_sequence, upTo: asOf, now: clock() });
  const first = current_release === 0;
  const next = gatherFiles(manifest);
  const failed: FullBuildOutcome["failed"] = [];
  const repaired: string[] = [];
  let documents = 0;
  await learnDocuments(context);
  async function* batches() {
    for (const kind of kinds) yield* kind.all(source);
  }
  const onResult = (batch: RenderedBatch) => {
    next.add(batch.files);
    failed.push(...batch.failed);
    repaired.push(...batch.repaired);
    documents += batch.keys;
    onProgress?.(documents);
  };
  const processes = processCount ?? ((await isSmall(source.store)) ? 0 : 2);
  try {
    if (processes === 0) {
      await renderHere(context, batches(), onResult, signal);
    } else {
      const pool = { settings: context.workers, processes, ahead: batchesAhead, signal };
      await inWorkers(pool, batches(), async (worker, keys) =>
        onResult(await worker.run("renderBatch", keys)),
      );
    }
  } catch (error) {
    // The disk may be full: free the space that the failed build took.
    collectDead(context, 0);
    throw error;
  }
  // Some files contain changes that came meanwhile. Published first, these are newer than the build and no difference.
  const waiting = first ? 0 : await catchUp(context);
  const files = next.count();
  // The profile job may have published further changes meanwhile.
  const state = manifest.state();
  const outcome = commitRelease(manifest, {
    reason: first ? "first build" : "full build",
    files: next,
    first,
    // A page that failed to render keeps its older version.
    whole: failed.length === 0,
    asOf,
    state: {
      fast_sequence: Math.max(state.fast_sequence, asOf),
      slow_sequence: Math.max(state.slow_sequence, asOf),
      ...(state.fast_sequence <= asOf && { known_change: mark }),
      inputs_digest: inputsDigest,
    },
    now: clock(),
  });
  // Failures that the profile job noted since the start come from newer data, so they stay.
  manifest.db.query("DELETE FROM failures WHERE failed_at < ?").run(startedAt);
  noteFailures(context, [], failed);
  await exportInSlices(context);
  const { release, changed, removed } = outcome;
  const differing = first ? null : [...changed.map(({ path }) => path), ...removed];
  return { release, files, differing, repaired, waiting, failed };
}

/** Renders in this process, with newly opened lists and blobs: the cached ones may be what is wrong. */
async function renderHere(
  { source, kinds, manifest }: PublisherContext,
  batches: AsyncIterable<DocumentKey[]>,
  onResult: (batch: RenderedBatch) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const damagedDigests = new Set<string>();
  const blobs = openBlobs(manifest, { onDamaged: (digest) => damagedDigests.add(digest) });
  const rendering = { kinds, blobs, source: { ...source, lists: openListIndex(source.store) } };
  try {
    for await (const keys of batches) {
      signal?.throwIfAborted();
      onResult(await renderBatch(rendering, damagedDigests, keys));
    }
  } finally {
    blobs.close();
  }
}

/** Fewer nonprofits than `smallMax` are rendered before a second process has started. */
export const isSmall = async (store: Queryable): Promise<boolean> =>
  (await nonprofitIdsAfter(store, 0, smallMax)).length < smallMax;
const smallMax = 100;

/** Each process has its next batch ready while it renders one. */
const batchesAhead = 2;

/** At most this many documents of each kind serve as samples. */
const learntFrom = 10;

/** Makes the dictionaries that compress the documents of this site, once for each version of the site. */
async function learnDocuments({ manifest, blobs, source, kinds, inputsDigest }: PublisherContext) {
  if (manifest.state().learnt_inputs === inputsDigest) return;
  const samples: { path: string; body: Uint8Array }[] = [];
  for (const kind of kinds) {
    for await (const batch of kind.all(source)) {
      const every = Math.ceil(batch.length / learntFrom);
      const keys = batch.filter((_, at) => at % every === 0);
      const { files } = await renderKeys(keys, kinds, source);
      for (const { path, body } of files)
        if (body !== null) samples.push({ path, body: Buffer.from(body) });
      break;
    }
  }
  blobs.dictionaries.learn(samples);
  manifest.setState({ learnt_inputs: inputsDigest });
}

function noteFindings({ manifest, clock }: PublisherContext, findings: BuildFindings): void {
  const { db } = manifest;
  const transaction = db.transaction(() => {
    for (const table of ["differing", "repaired"] as const) {
      db.run(`DELETE FROM ${table}`);
      db.query(`INSERT OR IGNORE INTO ${table} (path) SELECT value FROM json_each(?)`).run(
        JSON.stringify(findings[table]),
      );
    }
    manifest.setState({ built_at: clock().getTime() });
  });
  transaction.immediate();
}

/** Paths of files that differed from the bundle before a full build, and of files that were damaged on the disk. */
export type BuildFindings = { differing: string[]; repaired: string[] };

export const buildFindings = ({ selectPaths }: PublisherContext["manifest"]): BuildFindings => ({
  differing: selectPaths("SELECT path FROM differing ORDER BY path"),
  repaired: selectPaths("SELECT path FROM repaired ORDER BY path"),
});

/** For more changes than this, rendering everything again is faster. */
const changesMax = 1_000;

/**
 * Publishes waiting changes before a full build, so that the build's differences are faults only. Returns how many
 * changes it leaves to the build: 0, or all of them when they are more than `changesMax` or the site has changed.
 */
export async function catchUp(context: PublisherContext): Promise<number> {
  const { manifest, source, inputsDigest } = context;
  const { current_release, slow_sequence, inputs_digest } = manifest.state();
  // The first build differs from nothing.
  if (current_release === 0) return 0;
  const waiting = (await newestSequence(source.store)) - slow_sequence;
  if (waiting > changesMax || inputs_digest !== inputsDigest) return waiting;
  await publishChanges(context);
  return 0;
}
