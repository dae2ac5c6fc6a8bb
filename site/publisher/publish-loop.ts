import { isDamaged } from "#content/runtime/files.ts";
import { statfsSync } from "node:fs";
import { codeOf } from "#content/store/busy.ts";
import { syncAll } from "#site/bundle/durable.ts";
import { exportRelease } from "#site/bundle/export-release.ts";
import type { Committed } from "#site/bundle/release.ts";
import { rollBack } from "#site/bundle/rollback.ts";
import type { PublisherContext } from "./context.ts";
import { catchUp } from "./full-build.ts";
import { openHousekeeping } from "./housekeeping.ts";
import { runListJob } from "./list-job.ts";
import { type Job, type LoopState, nextJob, type Slot } from "./next-job.ts";
import type { Publisher } from "./open-publisher.ts";
import { runProfileJob } from "./profile-job.ts";
import type { WorkSignal } from "./work-signal.ts";

export type LoopOptions = {
  signal: AbortSignal;
  work: WorkSignal;
  /** How long the list job waits after a change, so that a burst costs one run. */
  listDelayMs: number;
  releasesKept: number;
  /** Renders everything again. */
  buildAll: () => Promise<void>;
  /** Called after releases were made. */
  onRelease?: () => void;
};

const afterFailureMs = 1_000;
const afterFailedBuildMs = 10_000;
const sameFailureEveryMs = 60_000;
/** Search indexes follow releases at a distance. */
const followingGapMs = 30_000;
const afterFailedFollowingMs = 300_000;

/**
 * Publishes as long as the process lives: changes at once, what they shift a little later, and in quiet moments makes
 * releases durable. An error (a full disk, say) leaves the release before serving; the work is taken up again. Throws when
 * the manifest is damaged.
 */
export async function runPublishLoop(
  { context, feedJob, searchJob }: Pick<Publisher, "context" | "feedJob" | "searchJob">,
  { signal, work, listDelayMs, releasesKept, buildAll, onRelease }: LoopOptions,
): Promise<void> {
  const { manifest, log } = context;
  const tell = failureTeller(context);
  const house = openHousekeeping(context, { releasesKept, signal });
  const running = new Map<Slot, Promise<void>>();
  const times = { pausedUntilMs: 0, buildAfterMs: 0, searchAfterMs: 0 };
  let hasChanges = true;
  let listsSinceMs: number | null = null;
  // What an earlier process published just before it ended may not be in the indexes.
  let searchNoticed = true;

  let damage: unknown = null;
  const fail = (error: unknown) => {
    if (isDamaged(error)) damage ??= error;
    tell(error);
    times.pausedUntilMs = performance.now() + afterFailureMs;
  };
  const failBuild = (error: unknown) => {
    times.buildAfterMs = performance.now() + afterFailedBuildMs;
    fail(error);
  };
  const inBackground = (
    slot: Slot,
    job: () => Promise<unknown>,
    onError: (error: unknown) => void = fail,
  ) => {
    const ended = job().then(
      () => undefined,
      // What is half done at the end commits nothing and is taken up again by the next process.
      (error: unknown) => void (signal.aborted || onError(error)),
    );
    running.set(
      slot,
      ended.finally(() => {
        running.delete(slot);
        work.wake();
      }),
    );
  };

  const look = (): LoopState => {
    const nowMs = performance.now();
    const { request, held_at, inputs_digest, fast_sequence, slow_sequence } = manifest.state();
    const held = held_at > 0;
    listsSinceMs = slow_sequence < fast_sequence ? (listsSinceMs ?? nowMs) : null;
    return {
      ...times,
      nowMs,
      requested: request !== "",
      held,
      outdated: inputs_digest !== context.inputsDigest,
      hasChanges,
      housekeepingAtMs: house.dueAtMs({ held, quiet: !hasChanges && listsSinceMs === null }),
      listsAtMs: listsSinceMs === null ? null : listsSinceMs + listDelayMs,
      feedAtMs: listsSinceMs === null ? feedJob.dueAtMs() : null,
      searchAtMs: searchNoticed ? times.searchAfterMs : null,
      running: new Set(running.keys()),
    };
  };

  const jobs: Record<Job, (state: LoopState) => Promise<void> | void> = {
    request: async () => {
      try {
        if (!(await takeRequest(context))) return;
      } catch (error) {
        return failBuild(error);
      }
      inBackground(
        "build",
        () => buildAll().then(() => manifest.setState({ request: "" })),
        failBuild,
      );
    },
    "full build": () => inBackground("build", buildAll, failBuild),
    housekeeping: ({ held }) => house.run({ held }),
    profile: async () => {
      if ((await runProfileJob(context)) === 0) hasChanges = false;
    },
    list: () => {
      listsSinceMs = null;
      inBackground("lists", async () => {
        await runListJob(context);
        await feedJob.run({ paced: true });
      });
    },
    feed: () => inBackground("lists", () => feedJob.run({ paced: true })),
    search: () => {
      searchNoticed = false;
      inBackground(
        "search",
        async () => {
          const committed = await searchJob.run({ signal });
          if (committed === null) return;
          log("search indexes are up to date", { release: committed.release });
          times.searchAfterMs = performance.now() + followingGapMs;
        },
        (error) => {
          const reason = error instanceof Error ? error.message : "unknown";
          log("search indexes could not be made; trying again later", { error: reason });
          times.searchAfterMs = performance.now() + afterFailedFollowingMs;
          searchNoticed = true;
        },
      );
    },
  };

  signal.addEventListener("abort", () => work.wake());
  let seen = shownBy(context);
  while (!signal.aborted && damage === null) {
    try {
      const state = look();
      const next = nextJob(state);
      if (next.job !== "wait") await jobs[next.job](state);
      else if (await work.wait(next.untilMs)) hasChanges = true;
      const shown = shownBy(context);
      if (shown === seen) continue;
      seen = shown;
      searchNoticed = true;
      onRelease?.();
    } catch (error) {
      fail(error);
      await work.wait(times.pausedUntilMs);
      hasChanges = true;
    }
  }
  context.background.close();
  await Promise.all(running.values());
  if (damage !== null) throw damage;
}

/** Logs why publishing fails: the same reason once a minute, however often it is tried again. */
function failureTeller({ log, manifest }: PublisherContext): (error: unknown) => void {
  let last = { reason: "", atMs: 0 };
  return (error) => {
    // A worker's error has come as text.
    const full = /ENOSPC|SQLITE_FULL/.test(`${codeOf(error)} ${String(error)}`);
    const event = full ? fullDisk(manifest) : "publishing failed and is tried again";
    const reason = `${event} ${error instanceof Error ? error.message : String(error)}`;
    const nowMs = performance.now();
    if (reason === last.reason && nowMs - last.atMs < sameFailureEveryMs) return;
    last = { reason, atMs: nowMs };
    log(event, { error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  };
}

/** A full build may write as much again as the bundle has, and the manifest with it. */
function fullDisk({ db, folder }: PublisherContext["manifest"]): string {
  const { bavail, bsize } = statfsSync(folder);
  const { live } = db
    .query<{ live: number }, []>("SELECT total(live) AS live FROM packs")
    .get() ?? { live: 0 };
  const gb = Math.max(live * 2 - bavail * bsize, leastMissingBytes) / 1e9;
  return `the disk is full: free about ${gb.toFixed(1)} GB. The release before goes on serving, publishing is tried again`;
}

/** Below this a service says that it is not ready. */
const leastMissingBytes = 100_000_000;

/** Tells releases apart, and a release that other web servers show already from one that they do not. */
function shownBy({ manifest }: PublisherContext): string {
  const { current_release, exported_release } = manifest.state();
  return `${current_release} ${exported_release}`;
}

/**
 * Does what an operator asked for on the command line while this process holds the publisher's lock. Answers whether a
 * full build is left to do; the request stays until it is done.
 */
async function takeRequest(context: PublisherContext): Promise<boolean> {
  const { manifest, log } = context;
  const { request, held_at } = manifest.state();
  log("an operator sent a request", { request });
  const [verb, target] = request.split(" ");
  if (verb === "full" && held_at > 0) {
    log("a rollback holds publishing; no full build is made", { held_at });
    manifest.setState({ request: "" });
    return false;
  }
  if (verb === "resume") manifest.setState({ held_at: 0 });
  if (verb === "full") await catchUp(context);
  // A rollback may have gone back to pages of an older site: then no page is up to date.
  const outdated = manifest.state().inputs_digest !== context.inputsDigest;
  if (verb === "full" || (verb === "resume" && outdated)) return true;
  if (verb === "rollback") {
    if (rollBackTo(context, Number(target)) === null) {
      log("that release is not kept; no rollback was made", { release: Number(target) });
    }
    // A power loss must not bring back what was gone back from.
    else await syncAll(context);
  }
  manifest.setState({ request: "" });
  return false;
}

/** Asks for a full build at a scheduled time, unless a rollback holds publishing or an operator waits for something. */
export function requestScheduledBuild({ manifest, log }: PublisherContext): void {
  const { held_at, request } = manifest.state();
  if (held_at === 0 && request === "") manifest.setState({ request: "full" });
  else log("the scheduled rebuild is skipped", { held_at, request });
}

/** Asks for a full build because a reader found the content of a file gone, or not what its digest says. */
export function requestRepair(context: PublisherContext, path: string): void {
  const { manifest, blobs, log } = context;
  const digest = manifest.find(path)?.digest;
  if (digest === undefined) return;
  const place = blobs.placeOf(digest);
  log("a published file was gone or damaged: rendering everything again", {
    ...{ error: "lost", path, place },
  });
  // What no full build renders (search indexes) is made again where it is gone.
  if (blobs.find(digest) === null) blobs.remove(digest);
  requestScheduledBuild(context);
}

/** Goes back to a kept release and shows it in the folder too; null when it is not kept. */
export function rollBackTo(context: PublisherContext, target: number): Committed | null {
  const committed = rollBack(context.manifest, target, context.clock());
  if (committed !== null) exportRelease(context);
  return committed;
}
