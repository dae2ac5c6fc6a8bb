import { makeDurable } from "#site/bundle/durable.ts";
import { exportRelease } from "#site/bundle/export-release.ts";
import { openCompaction, prune } from "#site/bundle/garbage-collection.ts";
import { partsOf } from "#site/documents/document.ts";
import type { PublisherContext } from "./context.ts";
import { publishKeys } from "./profile-job.ts";

const durableEveryMs = 2_000;
/** While changes keep coming, the disk is left to them for longer. */
const durableWhileBusyEveryMs = 30_000;
const repairEveryMs = 500;
const pruneEveryMs = 60_000;
/** Between two runs that forget some of many old releases, for changes that wait. */
const pruneMoreAfterMs = 10;

type Moment = {
  /** A rollback holds publishing: nothing may be rendered. */
  held: boolean;
  /** No change is waiting for anything. */
  quiet: boolean;
};

/** What is done between jobs: nothing that is rendered waits to be published then. */
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
    // A busy disk takes its time, and no change waits for it.
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
    /** When there is next something to do. */
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
      // On a full disk what follows is tried again in a minute.
      pruneAfterMs = nowMs + pruneEveryMs;
      const more = prune(context, releasesKept) || compact();
      if (more) pruneAfterMs = nowMs + pruneMoreAfterMs;
      if (!more) await retryFailures(context);
    },
  };
}

const keysPerRoundMax = 50;

/**
 * Tries documents again that could not be rendered: what stopped them (a store that did not answer, say) may be over,
 * and no further change may ever come to them. Answers how many still fail of those tried.
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
  // Read before the data is: what is rendered holds at least these changes.
  const asOf = manifest.state().fast_sequence;
  return publishKeys(context, keys, { reason: "pages that had failed", asOf, state: {} });
}
