import { setImmediate } from "node:timers/promises";
import { type FeedState, feedPaths } from "#content/shapes/feed.ts";
import { feedEpoch, newestFeedFile } from "#content/store/feed.ts";
import { draftManifest, type ManifestDraft } from "./bundle-manifest.ts";
import type { NewFile } from "./manifest.ts";
import { exportCommitted } from "./publish-files.ts";
import type { PublisherParts } from "./publisher-parts.ts";
import { type Committed, commitRelease } from "./release.ts";
import type { GiveWay } from "./second-lane.ts";
import { keySetOf, type Signer } from "./signing.ts";
import { joinSnapshot, snapshotParts } from "./snapshot-file.ts";

/** The last of the publisher's lanes, with a pace of its own for joining the snapshot. */
export type FeedLane = {
  /**
   * `full`: make everything anew, as a full build does. `paced`: a snapshot that costs much to join may lag behind its
   * parts for a while. `giveWay` is called between slices of a few milliseconds.
   */
  run(options: { full?: boolean; paced?: boolean; giveWay?: GiveWay }): Promise<Committed>;
  /** Whether a release was made that the signed list does not tell, or the snapshot lags behind and may be joined. */
  isDue(): boolean;
};

type Run = { signer: Signer; giveWay: GiveWay; full: boolean; joining: boolean };

/** A reader that has looked up a file opens it long before this. */
const spareForMs = 60_000;

const encoder = new TextEncoder();

/** A snapshot of 12 MB, that of 41,000 profiles, is joined once a second at most, one of 120 MB every ten. */
const joinedBytesPerSecondMax = 12_000_000;

/** Opens the lane. A snapshot that costs more to join is joined less often; the feed's state says what it holds. */
export function openFeedLane(
  parts: PublisherParts,
  signer: Signer,
  { joinedBytesPerSecond = joinedBytesPerSecondMax }: { joinedBytesPerSecond?: number } = {},
): FeedLane {
  let joinAfterMs = 0;
  const isBehind = () =>
    parts.manifest.state().snapshot_parts !== snapshotParts(parts.manifest).digest;
  let behind = isBehind();
  // The key may be another one than when the list was signed: the first run finds out.
  let looked = false;
  return {
    run: async ({ full = false, paced = false, giveWay = () => setImmediate() }) => {
      const joining = !paced || performance.now() >= joinAfterMs;
      const committed = await publishFeed(parts, { signer, giveWay, full, joining });
      const joined = committed.changed.find(({ path }) => path === feedPaths.snapshot);
      if (joined !== undefined) {
        joinAfterMs = performance.now() + (joined.size / joinedBytesPerSecond) * 1_000;
      }
      behind = !joining && isBehind();
      looked = true;
      return committed;
    },
    isDue: () => {
      const { current_release, listed_release } = parts.manifest.state();
      if (current_release === 0) return false;
      return (
        !looked || current_release > listed_release || (behind && performance.now() >= joinAfterMs)
      );
    },
  };
}

/**
 * Publishes what tells mirrors of the releases before it, as one release: the state of the change feed, the snapshot
 * and the signed list of all files. These files depend on nothing but the rest of the bundle and the feed's numbers, so
 * they keep no history: after a rollback they are made again. With nothing to do it changes nothing.
 */
async function publishFeed(parts: PublisherParts, run: Run): Promise<Committed> {
  removeSpareBlobs(parts);
  const { file: snapshot, state: joined } = await currentSnapshot(parts, run);
  await run.giveWay();
  const own = [
    ...snapshot,
    textFile(parts, feedPaths.keys, keySetOf(run.signer)),
    textFile(parts, feedPaths.state, await feedState(parts, joined)),
  ].filter(({ path, digest }) => parts.manifest.find(path)?.digest !== digest);
  const draft = await draftManifest(parts, { ...run, own });
  await run.giveWay();
  const signature = `${await run.signer.sign(draft.root)}\n`;
  const files = [
    ...own,
    ...draft.files,
    bytesFile(parts, feedPaths.manifest, draft.root),
    textFile(parts, feedPaths.signature, signature),
  ];
  return commit(parts, files, draft, joined);
}

type Joined = { snapshot_parts: string; snapshot_number: number; parts: number };

async function currentSnapshot(
  parts: PublisherParts,
  { full, joining, giveWay }: Run,
): Promise<{ file: NewFile[]; state: Joined }> {
  const { manifest, source, blobs } = parts;
  const state = manifest.state();
  const newest = (await newestFeedFile(source.store.raw, state.slow_sequence))?.number ?? 0;
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
    file: [await joinSnapshot(parts, pieces, giveWay)],
    state: { snapshot_parts: digest, snapshot_number: newest, parts: pieces.length },
  };
}

async function feedState({ manifest, source }: PublisherParts, joined: Joined): Promise<string> {
  const newest = await newestFeedFile(source.store.raw, manifest.state().slow_sequence);
  const state: FeedState = {
    epoch: await feedEpoch(source.store.raw),
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

const textFile = (parts: PublisherParts, path: string, text: string): NewFile =>
  bytesFile(parts, path, encoder.encode(text));

const bytesFile = ({ blobs }: PublisherParts, path: string, body: Uint8Array): NewFile => ({
  path,
  digest: blobs.put(body),
  size: body.length,
});

function commit(
  parts: PublisherParts,
  files: NewFile[],
  draft: ManifestDraft,
  { snapshot_parts, snapshot_number }: Joined,
): Committed {
  const { manifest, clock } = parts;
  const now = clock();
  const committing = manifest.db.transaction((): Committed => {
    const before = manifest.state();
    for (const { path, digest } of files) setAside(parts, path, digest, now);
    const committed = commitRelease(manifest, {
      reason: "feed, snapshot and signed list",
      files,
      removed: [],
      // Nobody else writes these files, so none can be newer.
      asOf: Number.MAX_SAFE_INTEGER,
      state: { snapshot_parts, snapshot_number, listed_inputs: before.inputs_digest },
      now,
    });
    for (const { path } of committed.changed) {
      manifest.db
        .query("DELETE FROM history WHERE path = ? AND release = ?")
        .run(path, committed.release);
    }
    // What another lane published since the list was drawn up is not in it.
    const overtaken = before.current_release > draft.release;
    manifest.setState({ listed_release: overtaken ? draft.release : committed.release });
    return committed;
  });
  const committed = committing.immediate();
  exportCommitted(parts, committed);
  return committed;
}

function setAside({ manifest }: PublisherParts, path: string, digest: string, now: Date): void {
  const held = manifest.find(path);
  if (held === null || held.digest === digest) return;
  manifest.db
    .query("INSERT OR REPLACE INTO spare_blobs (digest, spare_since) VALUES (?, ?)")
    .run(held.digest, now.getTime());
}

/** Removes what older snapshots and lists held, once no reader can be about to open it. */
function removeSpareBlobs({ manifest, blobs, clock }: PublisherParts): void {
  const named = `SELECT digest FROM files WHERE files.digest = spare_blobs.digest
    UNION ALL SELECT digest FROM history WHERE history.digest = spare_blobs.digest`;
  const spare = manifest.db
    .query<{ digest: string; named: number }, [number]>(
      `SELECT digest, EXISTS (${named}) AS named FROM spare_blobs WHERE spare_since < ?`,
    )
    .all(clock().getTime() - spareForMs);
  for (const { digest, named: kept } of spare) {
    if (kept === 0) blobs.remove(digest);
    manifest.db.query("DELETE FROM spare_blobs WHERE digest = ?").run(digest);
  }
}
