import { dayMs, isoTime } from "#content/contract/base/time.ts";
import { type BundleManifest, feedPaths, type FeedState } from "#content/contract/feed.ts";
import registers from "#content/editorial/registers.json";
import { keySetOf, type Signer } from "#content/feed/signing-keys.ts";
import {
  feedEpoch,
  issueList,
  newestFeedFile,
  renewListAfterMs,
  signingKeys,
  type StoredIssue,
} from "#content/feed/store.ts";
import { sha256Of } from "#content/runtime/digest.ts";
import { publishInSlices } from "#site/bundle/export-release.ts";
import { deletePending } from "#site/bundle/garbage-collection.ts";
import type { NewFile } from "#site/bundle/manifest.ts";
import { type ReleaseOutcome, storeFiles, noteFailures } from "#site/bundle/release.ts";
import { draftManifest, type UnissuedList } from "#site/bundle/signed-list.ts";
import {
  joinedPartsMax,
  joinSnapshot,
  snapshotParts,
  snapshotState,
} from "#site/bundle/snapshot.ts";
import type { DataFileSet } from "#site/data/make-data.ts";
import { renderKeys } from "#site/documents/document.ts";
import { pageKey } from "#site/documents/pages.ts";
import type { FeedDraft, FeedTask, PublisherContext } from "./context.ts";

/** Publishes the feed's state, the snapshot, the signed list and the files of /data, after all other jobs. */
export type FeedJob = ReturnType<typeof openFeedJob>;

const encoder = new TextEncoder();

export function openFeedJob(
  context: PublisherContext,
  signer: Signer,
  { listValidDays = 7 }: { listValidDays?: number } = {},
) {
  let renewAtMs = Infinity;
  // The signing key may have changed since the list was signed, so the first run always signs again.
  let hasLooked = false;
  let isRenewing = false;
  const dataFiles = openDataFiles(context);
  return {
    /** Makes the next run make everything again. */
    renew: (): void => {
      isRenewing = true;
    },
    /** `full`: makes everything again, as a full build does. `paced`: files of /data may lag behind for about an hour. */
    run: async ({
      full = isRenewing,
      paced = false,
      signal,
    }: { full?: boolean; paced?: boolean; signal?: AbortSignal } = {}) => {
      const data = await dataFiles.run({ full, paced, signal });
      const validMs = listValidDays * dayMs;
      const { committed, issuedAtMs } = await publishFeed(context, { signer, full, validMs });
      renewAtMs = performance.now() + issuedAtMs + renewListAfterMs - context.clock().getTime();
      hasLooked = true;
      if (full) isRenewing = false;
      return { ...committed, changed: [...data, ...committed.changed] };
    },
    /**
     * When the next run is due: for a release that the signed list does not name yet, for files of /data that lag behind,
     * or some days before the signed list expires. Null before the first release.
     */
    dueAtMs: (): number | null => {
      const { current_release, listed_release } = context.manifest.state();
      if (current_release === 0) return null;
      if (!hasLooked || isRenewing || current_release > listed_release) return 0;
      return Math.min(renewAtMs, dataFiles.dueAtMs());
    },
  };
}

/**
 * Publishes the state of the change feed, the snapshot and the signed list of all files as one release, so that mirrors
 * learn of the releases before it. These files depend only on the rest of the bundle and the feed's numbers, so they keep
 * no history: after a rollback they are made again. Changes nothing when there is nothing to do.
 */
async function publishFeed(
  context: PublisherContext,
  { signer, full, validMs }: { signer: Signer; full: boolean; validMs: number },
): Promise<{ committed: ReleaseOutcome; issuedAtMs: number }> {
  deletePending(context);
  const keySet = keySetOf(signer, await signingKeys(context.source.store));
  const draft = await context.background.draftFeed({ full, keySet });
  const digest = sha256Of(JSON.stringify(draft.root));
  const issue = await issueList(context.source.store, { digest, now: context.clock() });
  const root = issuedRoot(draft.root, issue, validMs);
  const signature = `${await signer.sign(encoder.encode(root))}\n`;
  const signedFiles = storeFiles(context, [
    { path: feedPaths.manifest, body: root },
    { path: feedPaths.signature, body: signature },
  ]).files;
  const { snapshot_parts } = draft;
  const before = context.manifest.state();
  // The list does not name files that another job published after it was drafted.
  const isOvertaken = before.current_release > draft.release;
  const outcome = await publishInSlices(context, {
    reason: "feed, snapshot and signed list",
    files: [...draft.files, ...signedFiles],
    removed: draft.removed,
    withoutHistory: "",
    // Only this job writes these files, so none of them can be newer.
    asOf: Number.MAX_SAFE_INTEGER,
    state: (release) => ({
      snapshot_parts,
      listed_inputs: before.inputs_digest,
      listed_release: isOvertaken ? draft.release : release,
      epoch: draft.epoch,
    }),
  });
  return { committed: outcome, issuedAtMs: issue.issued_at };
}

/** The list of all files as JSON, with the number and dates by which a mirror knows that it is the newest one. */
function issuedRoot(
  list: UnissuedList,
  { sequence, issued_at }: StoredIssue,
  validMs: number,
): string {
  const expires_at = isoTime(issued_at + validMs);
  const issue = { sequence, issued_at: isoTime(issued_at), expires_at };
  return `${JSON.stringify({ version: 1, issue, ...list } satisfies BundleManifest)}\n`;
}

type DraftParts = Pick<PublisherContext, "manifest" | "blobs" | "source">;

/** Makes the state of the change feed, the snapshot and the list of all files. Takes up to a second. */
export async function draftFeed(context: DraftParts, job: FeedTask): Promise<FeedDraft> {
  const { manifest, source } = context;
  const newest = await newestFeedFile(source.store, manifest.state().slow_sequence);
  const { parts, mark } = snapshotState(manifest);
  const isJoined = parts <= joinedPartsMax;
  const snapshot = isJoined ? await currentSnapshot(context, job, mark) : [];
  const epoch = await feedEpoch(source.store);
  const texts = [
    { path: feedPaths.keys, body: job.keySet },
    { path: feedPaths.state, body: feedState(newest, parts, epoch) },
  ];
  const ownFiles = [...snapshot, ...storeFiles(context, texts).files].filter(
    // Content that was lost, and is written again, needs a release to tell where it lies.
    ({ path, digest, at }) => at !== undefined || manifest.find(path)?.digest !== digest,
  );
  const removedPaths =
    isJoined || manifest.find(feedPaths.snapshot) === null ? [] : [feedPaths.snapshot];
  const { files, removed, ...list } = draftManifest(context, {
    full: job.full,
    ownFiles,
    removedPaths,
  });
  const all = { files: [...ownFiles, ...files], removed: [...removed, ...removedPaths] };
  return { ...list, ...all, snapshot_parts: mark, epoch };
}

/** The snapshot, joined again; an empty array when the published one is already joined from these parts. */
async function currentSnapshot(
  { manifest, blobs }: DraftParts,
  { full }: FeedTask,
  mark: string,
): Promise<NewFile[]> {
  const current = manifest.find(feedPaths.snapshot);
  const isHeld = current !== null && blobs.has(current.digest);
  if (isHeld && mark === manifest.state().snapshot_parts && !full) return [];
  return [await joinSnapshot(blobs, snapshotParts(manifest))];
}

type Newest = Awaited<ReturnType<typeof newestFeedFile>>;

function feedState(newest: Newest, parts: number, epoch: string): string {
  const state: FeedState = {
    epoch,
    sequence: newest?.number ?? 0,
    change_sequence: newest?.last_sequence ?? 0,
    snapshot: {
      path: parts > joinedPartsMax ? null : `/${feedPaths.snapshot}`,
      sequence: newest?.number ?? 0,
      parts,
      part_path: `/${feedPaths.snapshotPart("{n}")}`,
    },
    manifest: `/${feedPaths.manifest}`,
    registers: registers.map(({ id, name, licence, tags_licence, attribution }) => ({
      id,
      name,
      licence,
      attribution,
      ...(tags_licence && { tags_licence }),
    })),
  };
  return `${JSON.stringify(state)}\n`;
}

/** The files of /data of a million profiles take minutes of a processor. */
const madeEveryMs = 3_600_000;

/** A publisher that has just started has more urgent work. */
const firstAfterDefaultMs = 30_000;

/** The part of the feed job that makes the files of /data, and the page that names them, after the snapshot changed. */
export function openDataFiles(context: PublisherContext, firstAfterMs = firstAfterDefaultMs) {
  const { manifest, background, log } = context;
  let newest: DataFileSet | null = null;
  let startAfterMs = performance.now() + firstAfterMs;
  let isBehind = false;
  const make = async (): Promise<void> => {
    startAfterMs = performance.now() + madeEveryMs;
    newest = await background.makeData();
  };
  return {
    /** Infinity while a rollback holds publishing: a run would change nothing, and be due again at once. */
    dueAtMs: (): number => {
      if (manifest.state().held_at > 0) return Infinity;
      return newest === null ? (isBehind ? startAfterMs : Infinity) : 0;
    },
    /**
     * Publishes files that are ready and returns those that changed. When `paced`, makes files once an hour at most in
     * the background, and a later run publishes them. A failure after the signal is the end of the background work.
     */
    run: async ({
      full,
      paced,
      signal,
    }: {
      full: boolean;
      paced: boolean;
      signal?: AbortSignal | undefined;
    }): Promise<NewFile[]> => {
      if (full) manifest.setState({ data_parts: "" });
      const { held_at, data_parts } = manifest.state();
      // A rollback holds publishing, so nothing may be rendered.
      if (held_at > 0) return [];
      isBehind = snapshotState(manifest).mark !== data_parts;
      if (isBehind && !paced) await make();
      else if (isBehind && performance.now() >= startAfterMs) {
        make().catch((error: unknown) => {
          if (signal?.aborted === true) return;
          log("files of /data could not be made; trying again in an hour", {
            error: String(error),
          });
        });
      }
      const ready = newest;
      newest = null;
      return ready === null ? [] : publishData(context, ready);
    },
  };
}

async function publishData(context: PublisherContext, { files, parts, dataPackage }: DataFileSet) {
  const { manifest, source, kinds } = context;
  const keys = [pageKey("data")];
  const page = await renderKeys(keys, kinds, { ...source, dataPackage: () => dataPackage });
  noteFailures(context, keys, page.failed);
  const paths = new Set(files.map(({ path }) => path));
  const { changed } = await publishInSlices(context, {
    reason: "files of /data",
    files: [...files, ...storeFiles(context, page.files).files],
    removed: manifest
      .under(feedPaths.data)
      .map(({ path }) => path)
      .filter((path) => !paths.has(path)),
    withoutHistory: "",
    asOf: manifest.state().slow_sequence,
    state: { data_parts: parts },
  });
  return changed;
}
