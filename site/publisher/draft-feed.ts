import { type FeedState, feedPaths } from "#content/contract/feed.ts";
import { feedEpoch, newestFeedFile } from "#content/feed/feed.ts";
import { draftManifest } from "#site/bundle/bundle-manifest.ts";
import type { NewFile } from "#site/bundle/manifest.ts";
import type { PublisherParts } from "./publisher-parts.ts";
import type { FeedDraft, FeedJob, Joined } from "./slow-jobs.ts";
import { joinSnapshot, snapshotParts } from "./snapshot-file.ts";

type DraftParts = Pick<PublisherParts, "manifest" | "blobs" | "source">;

const encoder = new TextEncoder();

/** Makes the state of the change feed, the snapshot and the list of all files. Costs up to a second. */
export async function draftFeed(parts: DraftParts, job: FeedJob): Promise<FeedDraft> {
  const { file: snapshot, state: joined } = await currentSnapshot(parts, job);
  const epoch = await feedEpoch(parts.source.store);
  const own = [
    ...snapshot,
    textFile(parts, feedPaths.keys, job.keySet),
    textFile(parts, feedPaths.state, await feedState(parts, joined, epoch)),
  ].filter(({ path, digest }) => parts.manifest.find(path)?.digest !== digest);
  const { files, root, release } = draftManifest(parts, { full: job.full, own });
  const list = textFile(parts, feedPaths.manifest, root);
  return { files: [...own, ...files, list], root, release, joined, epoch };
}

async function currentSnapshot(
  parts: DraftParts,
  { full, joining }: FeedJob,
): Promise<{ file: NewFile[]; state: Joined }> {
  const { manifest, source, blobs } = parts;
  const state = manifest.state();
  const newest = (await newestFeedFile(source.store, state.slow_sequence))?.number ?? 0;
  const { parts: pieces, digest } = snapshotParts(manifest);
  const held = manifest.find(feedPaths.snapshot);
  const there = held !== null && blobs.has(held.digest);
  const inStep = there && digest === state.snapshot_parts && !full;
  if (inStep || (there && !joining)) {
    const snapshot_number = inStep ? newest : Math.min(state.snapshot_number, newest);
    const { snapshot_parts } = state;
    return { file: [], state: { snapshot_parts, snapshot_number, parts: pieces.length } };
  }
  return {
    file: [await joinSnapshot(parts, pieces)],
    state: { snapshot_parts: digest, snapshot_number: newest, parts: pieces.length },
  };
}

async function feedState(
  { manifest, source }: DraftParts,
  joined: Joined,
  epoch: string,
): Promise<string> {
  const newest = await newestFeedFile(source.store, manifest.state().slow_sequence);
  const state: FeedState = {
    epoch,
    sequence: newest?.number ?? 0,
    change_sequence: newest?.last_sequence ?? 0,
    snapshot: {
      path: `/${feedPaths.snapshot}`,
      sequence: joined.snapshot_number,
      parts: joined.parts,
      part_path: `/${feedPaths.snapshotPart("{n}")}`,
    },
    manifest: `/${feedPaths.manifest}`,
  };
  return `${JSON.stringify(state)}\n`;
}

function textFile({ blobs }: DraftParts, path: string, text: string): NewFile {
  const body = encoder.encode(text);
  return { path, digest: blobs.put(body), size: body.length };
}
