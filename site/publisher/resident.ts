import { makeDurable } from "./durable.ts";
import { runFastLane } from "./fast-lane.ts";
import { codeOf } from "./blobs.ts";
import type { FeedLane } from "./feed-lane.ts";
import { defaultKeeping, type Keeping, prune } from "./prune.ts";
import { exportCommitted } from "./export-step.ts";
import type { PublisherParts } from "./publisher-parts.ts";
import { type Committed, rollBack } from "./release.ts";
import { retryFailures } from "./retry-failures.ts";
import { runSecondLane } from "./second-lane.ts";

export type ResidentOptions = {
  signal: AbortSignal;
  /** How often the store is asked for changes. */
  pollMs: number;
  /** How long the second lane waits after a change, so that a burst costs one run. */
  secondLaneDelayMs: number;
  keeping?: Keeping;
  feedLane: FeedLane;
  /** Renders everything anew. */
  buildAll: () => Promise<void>;
  /** Told after each turn in which releases were made. */
  onRelease?: () => Promise<void>;
};

const signOfLifeEveryMs = 2_000;
const durableEveryMs = 2_000;
const pruneEveryMs = 60_000;
const afterFailureMs = 1_000;

/**
 * Publishes as long as the process lives: changes at once, what they shift a little later, and in quiet moments makes
 * releases durable. An error (a full disk, say) leaves the release before serving; the work is taken up again.
 */
export async function runResident(parts: PublisherParts, options: ResidentOptions): Promise<void> {
  const behind = backgroundLanes(parts, options);
  const turn = oneTurn(parts, options, behind);
  let told = parts.manifest.state().current_release;
  while (!options.signal.aborted) {
    try {
      const busy = await turn();
      const { current_release } = parts.manifest.state();
      if (current_release !== told) await options.onRelease?.();
      told = current_release;
      if (!busy) await Bun.sleep(options.pollMs);
    } catch (error) {
      const full = codeOf(error) === "ENOSPC" || codeOf(error) === "SQLITE_FULL";
      parts.log(
        full
          ? "the disk is full: the release before goes on serving, publishing is tried again"
          : "publishing failed and is tried again",
        { error: error instanceof Error ? (error.stack ?? error.message) : "unknown" },
      );
      await Bun.sleep(afterFailureMs);
    }
  }
  // What is half done commits nothing and is taken up again by the next process.
  parts.slowWork.close();
  await behind.ended();
}

/** One look at what there is to do; answers whether there may be more at once. */
function oneTurn(
  parts: PublisherParts,
  options: ResidentOptions,
  behind: BackgroundLanes,
): () => Promise<boolean> {
  const { manifest } = parts;
  const keepHouse = housekeeping(parts, options);
  let signedMs = 0;
  return async () => {
    behind.throwIfFailed();
    const nowMs = performance.now();
    if (nowMs - signedMs > signOfLifeEveryMs) {
      signedMs = nowMs;
      manifest.setState({ seen_at: parts.clock().getTime() });
      // What an operator asks for finds no lane half-way.
      if (!behind.running()) await takeRequest(parts, options);
    }
    const { held_at, request, fast_sequence, slow_sequence } = manifest.state();
    if (held_at > 0) {
      // What was gone back to is told to mirrors too; no lane may take changes meanwhile.
      if (!behind.running() && options.feedLane.isDue())
        await options.feedLane.run({ paced: true });
      return false;
    }
    const busy = (await runFastLane(parts)) > 0;
    const free = !behind.running() && request === "";
    const started = free && behind.start({ lists: slow_sequence < fast_sequence, nowMs });
    if (free && !busy && !started) await keepHouse(nowMs);
    return busy;
  };
}

type BackgroundLanes = ReturnType<typeof backgroundLanes>;

/** The lanes that nobody waits for: they go on beside the fast lane, one run at a time. */
function backgroundLanes(parts: PublisherParts, { feedLane, secondLaneDelayMs }: ResidentOptions) {
  const giveWay = () => Bun.sleep(0);
  let waitingSinceMs: number | null = null;
  let running: Promise<void> | null = null;
  let failed: unknown = null;
  const begin = (work: () => Promise<unknown>) => {
    running = work().then(
      () => void (running = null),
      (error: unknown) => void ([running, failed] = [null, error]),
    );
    return true;
  };
  return {
    running: () => running !== null,
    ended: async () => {
      await running;
    },
    /** A failure is thrown once, where those of the fast lane are. */
    throwIfFailed: () => {
      const error = failed;
      failed = null;
      if (error !== null) throw error;
    },
    /** Starts what is due; a burst of changes costs one run. Answers whether anything was started or waits. */
    start: ({ lists, nowMs }: { lists: boolean; nowMs: number }): boolean => {
      if (!lists) return feedLane.isDue() && begin(() => feedLane.run({ giveWay, paced: true }));
      waitingSinceMs ??= nowMs;
      if (nowMs - waitingSinceMs < secondLaneDelayMs) return true;
      waitingSinceMs = null;
      return begin(async () => {
        await runSecondLane(parts, giveWay);
        await feedLane.run({ giveWay, paced: true });
      });
    },
  };
}

/** What is done in quiet moments, when no lane has anything in hand. */
function housekeeping(parts: PublisherParts, { keeping, signal }: ResidentOptions) {
  let prunedMs = performance.now();
  let durableAfterMs = 0;
  return async (nowMs: number): Promise<void> => {
    if (nowMs - prunedMs > pruneEveryMs) {
      prunedMs = nowMs;
      prune(parts, keeping ?? defaultKeeping);
      await retryFailures(parts);
    }
    if (nowMs < durableAfterMs) return;
    // A busy disk takes its time, and no change waits for it.
    durableAfterMs = Number.POSITIVE_INFINITY;
    makeDurable(parts)
      .catch((error: unknown) => {
        if (!signal.aborted) parts.log("releases are not durable yet", { error: String(error) });
      })
      .finally(() => {
        durableAfterMs = performance.now() + durableEveryMs;
      });
  };
}

/** Does what an operator asked for on the command line while this process holds the publisher's lock. */
async function takeRequest(parts: PublisherParts, options: ResidentOptions): Promise<void> {
  const { manifest, log } = parts;
  const { request } = manifest.state();
  if (request === "") return;
  log("an operator asked for something", { request });
  const [verb, target] = request.split(" ");
  if (verb === "full" || verb === "resume") manifest.setState({ held_at: 0 });
  // A rollback may have gone back to pages of an older site: then no page is up to date.
  const outdated = manifest.state().inputs_digest !== parts.inputsDigest;
  if (verb === "full" || (verb === "resume" && outdated)) {
    await buildBesideFastLane(parts, options, { outdated });
  }
  if (verb === "rollback" && rollBackTo(parts, Number(target)) === null) {
    log("that release is not kept, nothing was gone back to", { release: Number(target) });
  }
  manifest.setState({ request: "" });
}

/**
 * Changes go live during a full build as well. Not so when the site is another one: pages that name its assets must
 * not be published before these.
 */
async function buildBesideFastLane(
  parts: PublisherParts,
  { buildAll, pollMs }: ResidentOptions,
  { outdated }: { outdated: boolean },
): Promise<void> {
  let building = true;
  const built = buildAll().finally(() => {
    building = false;
  });
  try {
    while (building) {
      if (outdated || (await runFastLane(parts)) === 0) await Bun.sleep(pollMs);
    }
  } finally {
    // A fast lane that failed must not leave a build running by itself.
    await built;
  }
}

/** Asks for a full build at a scheduled time, unless a rollback holds publishing or an operator waits for something. */
export function requestScheduledBuild({ manifest, log }: PublisherParts): void {
  const { held_at, request } = manifest.state();
  if (held_at === 0 && request === "") manifest.setState({ request: "full" });
  else log("the scheduled rebuild is left out", { held_at, request });
}

/** Goes back to a kept release and shows it in the folder too; null when it is not kept. */
export function rollBackTo(parts: PublisherParts, target: number): Committed | null {
  const committed = rollBack(parts.manifest, target, parts.clock());
  if (committed !== null) exportCommitted(parts, committed);
  return committed;
}
