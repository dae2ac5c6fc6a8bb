import { feedPaths } from "#content/contract/feed.ts";
import { publishInSlices } from "#site/bundle/export-release.ts";
import type { PublisherContext } from "./context.ts";
import { type Committed, storeFiles } from "#site/bundle/release.ts";
import { keySetOf, type Signer } from "#content/feed/signing-keys.ts";
import { snapshotParts } from "./draft-feed.ts";
import { deletePending } from "#site/bundle/garbage-collection.ts";

/** The last of the publisher's jobs, with a pace of its own for joining the snapshot. */
export type FeedJob = ReturnType<typeof openFeedJob>;

/** A snapshot of 12 MB, that of 41,000 profiles, is joined once a second at most, one of 120 MB every ten. */
const joinedBytesPerSecondMax = 12_000_000;

/** Opens the job. A snapshot that costs more to join is joined less often; the feed's state says what it holds. */
export function openFeedJob(
  context: PublisherContext,
  signer: Signer,
  { joinedBytesPerSecond = joinedBytesPerSecondMax }: { joinedBytesPerSecond?: number } = {},
) {
  let joinAfterMs = 0;
  const isBehind = () =>
    context.manifest.state().snapshot_parts !== snapshotParts(context.manifest).digest;
  let behind = isBehind();
  // The key may be another one than when the list was signed: the first run finds out.
  let looked = false;
  let renewing = false;
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
      const joining = !paced || performance.now() >= joinAfterMs;
      const committed = await publishFeed(context, { signer, full, joining });
      const joined = committed.changed.find(({ path }) => path === feedPaths.snapshot);
      if (joined !== undefined) {
        joinAfterMs = performance.now() + (joined.size / joinedBytesPerSecond) * 1_000;
      }
      behind = !joining && isBehind();
      looked = true;
      if (full) renewing = false;
      return committed;
    },
    /** From when on there is something to do: a release that the signed list does not tell, or a snapshot that lags behind. */
    dueAtMs: (): number | null => {
      const { current_release, listed_release } = context.manifest.state();
      if (current_release === 0) return null;
      if (!looked || renewing || current_release > listed_release) return 0;
      return behind ? joinAfterMs : null;
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
  { signer, full, joining }: { signer: Signer; full: boolean; joining: boolean },
): Promise<Committed> {
  deletePending(context);
  const draft = await context.background.draftFeed({ full, joining, keySet: keySetOf(signer) });
  const body = `${await signer.sign(new TextEncoder().encode(draft.root))}\n`;
  const signature = storeFiles(context, [{ path: feedPaths.signature, body }]).kept;
  const { snapshot_parts, snapshot_number } = draft.joined;
  const before = context.manifest.state();
  // What another job published since the list was drawn up is not in it.
  const overtaken = before.current_release > draft.release;
  return publishInSlices(context, {
    reason: "feed, snapshot and signed list",
    files: [...draft.files, ...signature],
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
}
