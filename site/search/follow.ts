import type { BundleContext } from "#site/bundle/context.ts";
import type { SearchLane } from "./search-job.ts";

/** Indexing that follows publishing at a distance. */
export type IndexFollower = {
  /** Says that a release was made. Returns at once. */
  notice(): void;
  /** Waits until the run that is going on has ended. */
  idle(): Promise<void>;
};

export type FollowOptions = {
  log: BundleContext["log"];
  signal: AbortSignal;
  /** Time from the end of one run to the beginning of the next, whatever changes meanwhile; default 30 s. */
  gapMs?: number;
  /** Time until a run that failed is tried again; default 5 min. */
  afterFailureMs?: number;
};

/**
 * Runs the lane after releases, never more often than every `gapMs`. A failure is logged and
 * tried again; publishing goes on whatever happens here.
 */
export function followWithIndexes(
  lane: SearchLane,
  { log, signal, gapMs = 30_000, afterFailureMs = 300_000 }: FollowOptions,
): IndexFollower {
  let running: Promise<void> | null = null;
  let timer: Timer | null = null;
  let noticed = false;
  let notBeforeMs = 0;
  const schedule = () => {
    if (signal.aborted || running !== null || timer !== null || !noticed) return;
    timer = setTimeout(start, Math.max(0, notBeforeMs - performance.now()));
  };
  const start = () => {
    timer = null;
    noticed = false;
    running = once().finally(() => {
      running = null;
      schedule();
    });
  };
  const once = async () => {
    try {
      const committed = await lane.run({ signal });
      if (committed !== null) log("search indexes are in step", { release: committed.release });
      notBeforeMs = performance.now() + (committed === null ? 0 : gapMs);
    } catch (error) {
      if (signal.aborted) return;
      log("search indexes could not be made and are tried again later", {
        error: error instanceof Error ? error.message : "unknown",
      });
      notBeforeMs = performance.now() + afterFailureMs;
      noticed = true;
    }
  };
  signal.addEventListener("abort", () => clearTimeout(timer ?? undefined));
  return {
    notice: () => {
      noticed = true;
      schedule();
    },
    idle: async () => {
      await running;
    },
  };
}
