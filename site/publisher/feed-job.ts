import registers from "#content/editorial/registers.json";
import { dayMs, isoTime } from "#content/contract/base/time.ts";
import { type BundleManifest, feedPaths, type FeedState } from "#content/contract/feed.ts";
import { keySetOf, type Signer } from "#content/feed/signing-keys.ts";
import {
  feedEpoch,
  issueList,
  newestFeedFile,
  renewListAfterMs,
  signingKeys,
  type StoredIssue,
} from "#content/feed/store.ts";
import { digestOf } from "#site/bundle/blobs.ts";
import { publishInSlices } from "#site/bundle/export-release.ts";
import { deletePending } from "#site/bundle/garbage-collection.ts";
import type { NewFile } from "#site/bundle/manifest.ts";
import { type Committed, storeFiles } from "#site/bundle/release.ts";
import { draftManifest, type UnissuedList } from "#site/bundle/signed-list.ts";
import {
  joinedPartsMax,
  joinSnapshot,
  snapshotParts,
  snapshotState,
} from "#site/bundle/snapshot.ts";
import { openDataFiles } from "./data-files.ts";
import type { FeedDraft, FeedTask, Joined, PublisherContext } from "./context.ts";

/** The last of the publisher's jobs, with a pace of its own for joining the snapshot. */
export type FeedJob = ReturnType<typeof openFeedJob>;

const encoder = new TextEncoder();

/** A snapshot of 12 MB, that of 41,000 profiles, is joined once a second at most, one of 120 MB every ten. */
const joinedBytesPerSecondMax = 12_000_000;

/** Opens the job. A snapshot that costs more to join is joined less often; the feed's state says what it holds. */
export function openFeedJob(
  context: PublisherContext,
  signer: Signer,
  {
    joinedBytesPerSecond = joinedBytesPerSecondMax,
    listValidDays = 7,
  }: { joinedBytesPerSecond?: number; listValidDays?: number } = {},
) {
  let joinAfterMs = 0;
  let renewAtMs = Infinity;
  const isBehind = () =>
    context.manifest.state().snapshot_parts !== snapshotState(context.manifest).mark;
  let behind = isBehind();
  // The key may be another one than when the list was signed: the first run finds out.
  let looked = false;
  let renewing = false;
  const dataFiles = openDataFiles(context);
  return {
    /** Has the next run make everything again. */
    renew: (): void => {
      renewing = true;
    },
    /**
     * `full`: make everything again, as a full build does. `paced`: a snapshot that costs much to join may lag behind its
     * parts for a while.
     */
    run: async ({ full = renewing, paced = false } = {}) => {
      const data = await dataFiles.run({ full, paced });
      const joining = !paced || performance.now() >= joinAfterMs;
      const validMs = listValidDays * dayMs;
      const { committed, issuedAtMs } = await publishFeed(context, {
        signer,
        full,
        joining,
        validMs,
      });
      renewAtMs = performance.now() + issuedAtMs + renewListAfterMs - context.clock().getTime();
      const joined = committed.changed.find(({ path }) => path === feedPaths.snapshot);
      if (joined !== undefined) {
        joinAfterMs = performance.now() + (joined.size / joinedBytesPerSecond) * 1_000;
      }
      behind = !joining && isBehind();
      looked = true;
      if (full) renewing = false;
      return { ...committed, changed: [...data, ...committed.changed] };
    },
    /**
     * From when on there is something to do: a release that the signed list does not tell, a snapshot or files of /data that lag
     * behind, or a list that expires some days from now.
     */
    dueAtMs: (): number | null => {
      const { current_release, listed_release } = context.manifest.state();
      if (current_release === 0) return null;
      if (!looked || renewing || current_release > listed_release) return 0;
      return Math.min(behind ? joinAfterMs : Infinity, renewAtMs, dataFiles.dueAtMs());
    },
  };
}

/**
 * Publishes what tells mirrors of the releases before it, as one release: the state of the change feed, the snapshot
 * and the signed list of all files. These files depend on nothing but the rest of the bundle and the feed's numbers, so
 * they keep no history: after a rollback they are made again. With nothing to do it changes nothing.
 */
async function publishFeed(
  context: PublisherContext,
  { signer, full, joining, validMs }: Publishing,
): Promise<{ committed: Committed; issuedAtMs: number }> {
  deletePending(context);
  const keySet = keySetOf(signer, await signingKeys(context.source.store));
  const draft = await context.background.draftFeed({ full, joining, keySet });
  const digest = digestOf(JSON.stringify(draft.root));
  const issue = await issueList(context.source.store, { digest, now: context.clock() });
  const root = issuedRoot(draft.root, issue, validMs);
  const signature = `${await signer.sign(encoder.encode(root))}\n`;
  const signed = storeFiles(context, [
    { path: feedPaths.manifest, body: root },
    { path: feedPaths.signature, body: signature },
  ]).files;
  const { snapshot_parts, snapshot_number } = draft.joined;
  const before = context.manifest.state();
  // What another job published since the list was drawn up is not in it.
  const overtaken = before.current_release > draft.release;
  const committed = await publishInSlices(context, {
    reason: "feed, snapshot and signed list",
    files: [...draft.files, ...signed],
    removed: draft.removed,
    withoutHistory: "",
    // No one else writes these files, so none can be newer.
    asOf: Number.MAX_SAFE_INTEGER,
    state: (release) => ({
      snapshot_parts,
      snapshot_number,
      listed_inputs: before.inputs_digest,
      listed_release: overtaken ? draft.release : release,
      epoch: draft.epoch,
    }),
  });
  return { committed, issuedAtMs: issue.issued_at };
}

type Publishing = { signer: Signer; full: boolean; joining: boolean; validMs: number };

/** The list of all files, with what tells a mirror that it is the newest one. */
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

/** Makes the state of the change feed, the snapshot and the list of all files. Costs up to a second. */
export async function draftFeed(parts: DraftParts, job: FeedTask): Promise<FeedDraft> {
  const newest = await newestFeedFile(parts.source.store, parts.manifest.state().slow_sequence);
  const { file: snapshot, state: joined } = await currentSnapshot(parts, job, newest?.number ?? 0);
  const epoch = await feedEpoch(parts.source.store);
  const texts = [
    { path: feedPaths.keys, body: job.keySet },
    { path: feedPaths.state, body: feedState(newest, joined, epoch) },
  ];
  const own = [...snapshot, ...storeFiles(parts, texts).files].filter(
    ({ path, digest }) => parts.manifest.find(path)?.digest !== digest,
  );
  const isOutgrown =
    joined.parts > joinedPartsMax && parts.manifest.find(feedPaths.snapshot) !== null;
  const gone = isOutgrown ? [feedPaths.snapshot] : [];
  const { files, removed, ...list } = draftManifest(parts, { full: job.full, own, gone });
  return { ...list, files: [...own, ...files], removed: [...removed, ...gone], joined, epoch };
}

async function currentSnapshot(
  parts: DraftParts,
  { full, joining }: FeedTask,
  newest: number,
): Promise<{ file: NewFile[]; state: Joined }> {
  const { manifest, blobs } = parts;
  const state = manifest.state();
  const { parts: count, mark } = snapshotState(manifest);
  const inStep = { snapshot_parts: mark, snapshot_number: newest, parts: count };
  if (count > joinedPartsMax) return { file: [], state: inStep };
  const held = manifest.find(feedPaths.snapshot);
  const there = held !== null && blobs.has(held.digest);
  if (there && mark === state.snapshot_parts && !full) return { file: [], state: inStep };
  if (there && !joining) {
    const snapshot_number = Math.min(state.snapshot_number, newest);
    return { file: [], state: { ...state, snapshot_number, parts: count } };
  }
  return { file: [await joinSnapshot(blobs, snapshotParts(manifest))], state: inStep };
}

type Newest = Awaited<ReturnType<typeof newestFeedFile>>;

function feedState(newest: Newest, joined: Joined, epoch: string): string {
  const state: FeedState = {
    epoch,
    sequence: newest?.number ?? 0,
    change_sequence: newest?.last_sequence ?? 0,
    snapshot: {
      path: joined.parts > joinedPartsMax ? null : `/${feedPaths.snapshot}`,
      sequence: joined.snapshot_number,
      parts: joined.parts,
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
