import { makeDurable } from "#site/bundle/durable.ts";
import { exportRelease } from "#site/bundle/export-release.ts";
import { openCompaction, prune } from "#site/bundle/garbage-collection.ts";
import { partsOf } from "#site/documents/document.ts";
import type { PublisherContext } from "./context.ts";
import { publishKeys } from "./profile-job.ts";

const durableEveryMs = 2_000;
/** While changes keep coming, syncs are rarer to leave the disk to them. */
const durableWhileBusyEveryMs = 30_000;
const repairEveryMs = 500;
const pruneEveryMs = 60_000;
/** Pause between two runs that each delete a part of the old data, so that waiting changes go first. */
const pruneMoreAfterMs = 10;

type Moment = {
  /** Whether a rollback holds publishing, so that nothing may be rendered. */
  held: boolean;
  /** Whether no change waits to be published. */
  quiet: boolean;
};

/** Work done between jobs, when no rendered file waits for its release: export, syncs, pruning, failed documents. */
export function openHousekeeping(
  context: PublisherContext,
  { releasesKept, signal }: { releasesKept: number; signal: AbortSignal },
) {
  const { manifest } = context;
  let pruneAfterMs = performance.now() + pruneEveryMs;
  let repairAfterMs = 0;
  let durableAtMs = 0;
  const compact = openCompaction(context);
  let quietly = true;
  let isSyncing = false;
  const makeThemDurable = (): void => {
    isSyncing = true;
    // Not awaited: a busy disk is slow, and changes must not wait for it.
    makeDurable(context)
      .catch((error: unknown) => {
        if (!signal.aborted) context.log("releases are not durable yet", { error: String(error) });
      })
      .finally(() => {
        isSyncing = false;
        durableAtMs = performance.now();
      });
  };
  const syncDueAtMs = (): number => {
    const { durable_release, current_release } = manifest.state();
    if (isSyncing || durable_release >= current_release) return Infinity;
    return durableAtMs + (quietly ? durableEveryMs : durableWhileBusyEveryMs);
  };
  const repairDueAtMs = (): number => {
    const { exported_release, current_release } = manifest.state();
    const isBehind = context.exported !== null && exported_release < current_release;
    return isBehind ? repairAfterMs : Infinity;
  };
  return {
    /** When the next run is due; Infinity when nothing is due. */
    dueAtMs: ({ held, quiet }: Moment): number => {
      quietly = quiet;
      return Math.min(repairDueAtMs(), syncDueAtMs(), held ? Infinity : pruneAfterMs);
    },
    run: async ({ held }: Pick<Moment, "held">, nowMs = performance.now()): Promise<void> => {
      if (nowMs >= repairDueAtMs()) {
        repairAfterMs = nowMs + repairEveryMs;
        exportRelease(context);
      }
      if (nowMs >= syncDueAtMs()) makeThemDurable();
      if (held || nowMs < pruneAfterMs) return;
      // Set first: if a full disk makes the rest throw, it is tried again in a minute.
      pruneAfterMs = nowMs + pruneEveryMs;
      const more = prune(context, releasesKept) || compact();
      if (more) pruneAfterMs = nowMs + pruneMoreAfterMs;
      if (!more) await retryFailures(context);
    },
  };
}

const keysPerRoundMax = 50;

/**
 * Tries up to 50 failed documents again: the cause (a store that did not answer, say) may be gone, and no further change
 * may ever touch them. Returns how many of them still fail.
 */
export async function retryFailures(context: PublisherContext): Promise<number> {
  const { manifest, kinds } = context;
  const kindNames = new Set(kinds.map(({ kind }) => kind));
  const keys = manifest.db
    .query<{ key: string }, [number]>("SELECT key FROM failures ORDER BY failed_at LIMIT ?")
    .all(keysPerRoundMax)
    .map(({ key }) => key)
    .filter((key) => kindNames.has(partsOf(key)[0] ?? ""));
  if (keys.length === 0) return 0;
  // Read before the documents are rendered, so these hold at least the changes up to it.
  const asOf = manifest.state().fast_sequence;
  return publishKeys(context, keys, { reason: "pages that had failed", asOf, state: {} });
}
