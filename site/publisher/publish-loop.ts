import { syncAll } from "#site/bundle/durable.ts";
import { catchUp } from "./full-build.ts";
import { runFastLane } from "./profile-job.ts";
import { codeOf } from "#site/bundle/blobs.ts";
import type { FeedLane } from "./feed-job.ts";
import { defaultKeeping, type Keeping } from "#site/bundle/garbage-collection.ts";
import { exportCommitted } from "#site/bundle/export-release.ts";
import { housekeeping } from "./housekeeping.ts";
import type { PublisherContext } from "./context.ts";
import type { Committed } from "#site/bundle/release.ts";
import { rollBack } from "#site/bundle/rollback.ts";
import { runSecondLane } from "./list-job.ts";

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

const afterFailureMs = 1_000;
const afterFailedBuildMs = 10_000;
const sameFailureEveryMs = 60_000;

/**
 * Publishes as long as the process lives: changes at once, what they shift a little later, and in quiet moments makes
 * releases durable. An error (a full disk, say) leaves the release before serving; the work is taken up again.
 */
export async function runResident(
  context: PublisherContext,
  options: ResidentOptions,
): Promise<void> {
  const behind = backgroundLanes(context, options);
  const turn = oneTurn(context, options, behind);
  const tell = failureTeller(context);
  let told = shownBy(context);
  while (!options.signal.aborted) {
    try {
      const busy = await turn();
      const shown = shownBy(context);
      if (shown !== told) await options.onRelease?.();
      told = shown;
      if (!busy) await Bun.sleep(options.pollMs);
    } catch (error) {
      tell(error);
      await Bun.sleep(afterFailureMs);
    }
  }
  // What is half done commits nothing and is taken up again by the next process.
  context.background.close();
  await behind.ended();
}

/** Logs why publishing fails: the same reason once a minute, however often it is tried again. */
function failureTeller({ log }: PublisherContext): (error: unknown) => void {
  let last = { reason: "", atMs: 0 };
  return (error) => {
    const full = codeOf(error) === "ENOSPC" || codeOf(error) === "SQLITE_FULL";
    const event = full
      ? "the disk is full: the release before goes on serving, publishing is tried again"
      : "publishing failed and is tried again";
    const reason = `${event} ${error instanceof Error ? error.message : String(error)}`;
    const nowMs = performance.now();
    if (reason === last.reason && nowMs - last.atMs < sameFailureEveryMs) return;
    last = { reason, atMs: nowMs };
    log(event, { error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  };
}

/** Tells releases apart, and a release that other web servers show already from one that they do not. */
function shownBy({ manifest }: PublisherContext): string {
  const { current_release, exported_release } = manifest.state();
  return `${current_release} ${exported_release}`;
}

/** One look at what there is to do; answers whether there may be more at once. */
function oneTurn(
  context: PublisherContext,
  options: ResidentOptions,
  behind: BackgroundLanes,
): () => Promise<boolean> {
  const { manifest } = context;
  const { keeping = defaultKeeping, signal } = options;
  const keepHouse = housekeeping(context, { keeping, signal });
  let buildAfterMs = 0;
  /** A build that failed is tried again a little later; what needs none goes on meanwhile. */
  const orLater = (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      buildAfterMs = performance.now() + afterFailedBuildMs;
      throw error;
    });
  return async () => {
    behind.throwIfFailed();
    const nowMs = performance.now();
    const mayBuild = nowMs >= buildAfterMs;
    let state = manifest.state();
    const asked = mayBuild && state.request !== "";
    // What an operator asks for finds no lane half-way.
    if (asked && !behind.running()) {
      await orLater(takeRequest(context, options));
      state = manifest.state();
    }
    const { held_at, fast_sequence, slow_sequence, inputs_digest } = state;
    if (held_at > 0) {
      // What was gone back to is told to mirrors too; no lane may take changes meanwhile.
      if (behind.running()) return false;
      if (options.feedLane.isDue()) await options.feedLane.run({ paced: true });
      await keepHouse(nowMs, { held: true, quiet: true });
      return false;
    }
    if (inputs_digest !== context.inputsDigest) {
      // Pages of another site name assets that only a full build brings: none may be published before.
      if (mayBuild && !behind.running())
        await orLater(buildBesideFastLane(context, options, { outdated: true }));
      return false;
    }
    const busy = (await runFastLane(context)) > 0;
    if (behind.running() || asked) return busy;
    const started = behind.start({ lists: slow_sequence < fast_sequence, nowMs });
    // A lane that only waits has rendered nothing yet.
    if (!behind.running()) await keepHouse(nowMs, { held: false, quiet: !busy && !started });
    return busy;
  };
}

type BackgroundLanes = ReturnType<typeof backgroundLanes>;

/** The lanes that nobody waits for: they go on beside the fast lane, one run at a time. */
function backgroundLanes(
  context: PublisherContext,
  { feedLane, secondLaneDelayMs }: ResidentOptions,
) {
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
        await runSecondLane(context, giveWay);
        await feedLane.run({ giveWay, paced: true });
      });
    },
  };
}

/** Does what an operator asked for on the command line while this process holds the publisher's lock. */
async function takeRequest(context: PublisherContext, options: ResidentOptions): Promise<void> {
  const { manifest, log } = context;
  const { request } = manifest.state();
  log("an operator asked for something", { request });
  const [verb, target] = request.split(" ");
  if (verb === "full" || verb === "resume") manifest.setState({ held_at: 0 });
  // A rollback may have gone back to pages of an older site: then no page is up to date.
  const outdated = manifest.state().inputs_digest !== context.inputsDigest;
  if (verb === "full") await catchUp(context);
  if (verb === "full" || (verb === "resume" && outdated)) {
    await buildBesideFastLane(context, options, { outdated });
  }
  if (verb === "rollback") {
    if (rollBackTo(context, Number(target)) === null) {
      log("that release is not kept, nothing was gone back to", { release: Number(target) });
    }
    // A power loss must not bring back what was gone back from.
    else await syncAll(context);
  }
  manifest.setState({ request: "" });
}

/**
 * Changes go live during a full build as well. Not so when the site is another one: pages that name its assets must
 * not be published before these.
 */
async function buildBesideFastLane(
  context: PublisherContext,
  { buildAll, pollMs }: ResidentOptions,
  { outdated }: { outdated: boolean },
): Promise<void> {
  let building = true;
  const built = buildAll().finally(() => {
    building = false;
  });
  // A failure is thrown where the build is awaited, not as soon as nobody looks.
  built.catch(() => {});
  try {
    while (building) {
      if (outdated || (await runFastLane(context)) === 0) await Bun.sleep(pollMs);
    }
  } finally {
    // A fast lane that failed must not leave a build running by itself.
    await built;
  }
}

/** Asks for a full build at a scheduled time, unless a rollback holds publishing or an operator waits for something. */
export function requestScheduledBuild({ manifest, log }: PublisherContext): void {
  const { held_at, request } = manifest.state();
  if (held_at === 0 && request === "") manifest.setState({ request: "full" });
  else log("the scheduled rebuild is left out", { held_at, request });
}

/** Goes back to a kept release and shows it in the folder too; null when it is not kept. */
export function rollBackTo(context: PublisherContext, target: number): Committed | null {
  const committed = rollBack(context.manifest, target, context.clock());
  if (committed !== null) exportCommitted(context, committed);
  return committed;
}
