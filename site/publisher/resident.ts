import { makeDurable } from "./durable.ts";
import { runFastLane } from "./fast-lane.ts";
import { codeOf } from "./blobs.ts";
import type { FeedLane } from "./feed-lane.ts";
import { defaultKeeping, type Keeping, prune } from "./prune.ts";
import { exportCommitted } from "./publish-files.ts";
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

const housekeepingEveryMs = 2_000;
const pruneEveryMs = 60_000;
const afterFailureMs = 1_000;

/**
 * Publishes as long as the process lives: changes at once, what they shift a little later, and in quiet moments makes
 * releases durable. An error (a full disk, say) leaves the release before serving; the work is taken up again.
 */
export async function runResident(parts: PublisherParts, options: ResidentOptions): Promise<void> {
  const turn = oneTurn(parts, options);
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
}

/** One look at what there is to do; answers whether there may be more at once. */
function oneTurn(parts: PublisherParts, options: ResidentOptions): () => Promise<boolean> {
  const { manifest } = parts;
  let waitingSinceMs: number | null = null;
  let housekeptMs = 0;
  let prunedMs = performance.now();
  let durableAfterMs = 0;
  const giveWay = async () => {
    while ((await runFastLane(parts)) > 0);
    await Bun.sleep(0);
  };
  return async () => {
    const nowMs = performance.now();
    if (nowMs - housekeptMs > housekeepingEveryMs) {
      housekeptMs = nowMs;
      manifest.setState({ seen_at: parts.clock().getTime() });
      await takeRequest(parts, options);
    }
    if (manifest.state().held_at > 0) {
      // What was gone back to is told to mirrors too; no lane may take changes meanwhile.
      if (options.feedLane.isDue()) await options.feedLane.run({ paced: true });
      return false;
    }
    if ((await runFastLane(parts)) > 0) {
      waitingSinceMs ??= nowMs;
      return true;
    }
    const { fast_sequence, slow_sequence } = manifest.state();
    if (slow_sequence < fast_sequence) {
      waitingSinceMs ??= nowMs;
      if (nowMs - waitingSinceMs < options.secondLaneDelayMs) return false;
      await runSecondLane(parts, giveWay);
      await options.feedLane.run({ giveWay, paced: true });
      waitingSinceMs = null;
      return true;
    }
    if (options.feedLane.isDue()) {
      await options.feedLane.run({ giveWay, paced: true });
      return true;
    }
    if (nowMs - prunedMs > pruneEveryMs) {
      prunedMs = nowMs;
      prune(parts, options.keeping ?? defaultKeeping);
      await retryFailures(parts);
    }
    if (nowMs >= durableAfterMs && !(await makeDurable(parts))) {
      durableAfterMs = nowMs + housekeepingEveryMs;
    }
    return false;
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
