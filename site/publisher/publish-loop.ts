import { statfsSync } from "node:fs";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { isDamaged } from "#content/runtime/files.ts";
import { withTimeout } from "#content/runtime/timing.ts";
import { codeOf } from "#content/store/busy.ts";
import type { PublisherContext } from "./context.ts";
import { openHousekeeping } from "./housekeeping.ts";
import { openListJob } from "./list-job.ts";
import type { Publisher } from "./open-publisher.ts";
import { runProfileJob } from "./profile-job.ts";
import { performRequest, withdrawRequest } from "./requests.ts";

export type LoopOptions = {
  signal: AbortSignal;
  work: WorkSignal;
  /** How long the list job waits after a change, so that a burst costs one run. */
  listDelayMs: number;
  releasesKept: number;
  buildAll: () => Promise<void>;
  /** Called after releases were made. */
  onRelease?: () => void;
};

const afterFailureMs = 1_000;
const afterFailedBuildMs = 10_000;
const sameFailureEveryMs = 60_000;

/**
 * Publishes as long as the process lives: changed profiles at once, the lists that they shift a little later, and in
 * quiet moments it makes releases durable. After an error (a full disk, say) the release before stays, and the work is
 * tried again. Throws when the manifest is damaged.
 */
export async function runPublishLoop(
  { context, feedJob, searchJob }: Pick<Publisher, "context" | "feedJob" | "searchJob">,
  { signal, work, listDelayMs, releasesKept, buildAll, onRelease }: LoopOptions,
): Promise<void> {
  const { manifest } = context;
  const tell = failureTeller(context);
  const house = openHousekeeping(context, { releasesKept, signal });
  const runs = new Map<Slot, Promise<void>>();
  const times = { pausedUntilMs: 0, buildAfterMs: 0 };
  let hasChanges = true;

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
    const end = job().then(
      () => undefined,
      // Work that is half done when the process ends commits nothing; the next process takes it up again.
      (error: unknown) => void (signal.aborted || onError(error)),
    );
    runs.set(
      slot,
      end.finally(() => {
        runs.delete(slot);
        work.wake();
      }),
    );
  };

  const listJob = openListJob(context, { delayMs: listDelayMs });
  const lists: FollowUpJob = {
    name: "lists",
    slot: "lists",
    dueAtMs: listJob.dueAtMs,
    run: async () => {
      await listJob.run();
      await feedJob.run({ paced: true });
    },
  };
  const feed: FollowUpJob = {
    name: "feed",
    slot: "lists",
    whileHeld: true,
    dueAtMs: () => (listJob.isBehind() ? null : feedJob.dueAtMs()),
    run: () => feedJob.run({ paced: true }),
  };
  const search: FollowUpJob = {
    name: "search",
    slot: "search",
    dueAtMs: searchJob.dueAtMs,
    run: searchJob.follow,
  };
  const follow = ({ slot, run }: FollowUpJob): void => inBackground(slot, () => run({ signal }));

  const look = (): LoopState => {
    const nowMs = performance.now();
    const { request, held_at, inputs_digest } = manifest.state();
    const held = held_at > 0;
    return {
      ...times,
      nowMs,
      requested: request !== "",
      held,
      outdated: inputs_digest !== context.inputsDigest,
      hasChanges,
      housekeepingAtMs: house.dueAtMs({ held, quiet: !hasChanges && !listJob.isBehind() }),
      followUps: [lists, feed, search].map((job) => ({ ...job, atMs: job.dueAtMs(nowMs) })),
      running: new Set(runs.keys()),
    };
  };

  const jobs: Record<Job, (state: LoopState) => Promise<void> | void> = {
    request: async () => {
      try {
        const request = await performRequest(context);
        if (request === null) return;
        const build = () => buildAll().then(() => withdrawRequest(manifest, request));
        inBackground("build", build, failBuild);
      } catch (error) {
        failBuild(error);
      }
    },
    "full build": () => inBackground("build", buildAll, failBuild),
    housekeeping: ({ held }) => house.run({ held }),
    profile: async () => {
      if ((await runProfileJob(context)) === 0) hasChanges = false;
    },
    lists: () => follow(lists),
    feed: () => follow(feed),
    search: () => follow(search),
  };

  signal.addEventListener("abort", () => work.wake());
  let shownRelease = shownBy(context);
  while (!signal.aborted && damage === null) {
    try {
      const state = look();
      const next = nextJob(state);
      if (next.job !== "wait") await jobs[next.job](state);
      else if (await work.wait(next.untilMs)) hasChanges = true;
      const release = shownBy(context);
      if (release === shownRelease) continue;
      shownRelease = release;
      searchJob.notice();
      onRelease?.();
    } catch (error) {
      fail(error);
      await work.wait(times.pausedUntilMs);
      hasChanges = true;
    }
  }
  context.background.close();
  await Promise.all(runs.values());
  if (damage !== null) throw damage;
}

/** Logs why publishing fails: the same reason once a minute, however often it is tried again. */
function failureTeller({ log, manifest }: PublisherContext): (error: unknown) => void {
  let last = { reason: "", atMs: 0 };
  return (error) => {
    // An error of a worker arrives as text.
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

/** With less space than this a service says that it is not ready. */
const leastMissingBytes = 100_000_000;

/** Text that changes with each release, and again when other web servers show that release. */
function shownBy({ manifest }: PublisherContext): string {
  const { current_release, exported_release } = manifest.state();
  return `${current_release} ${exported_release}`;
}

/** Background slots: each runs one job at a time. */
export type Slot = "lists" | "search" | "build";

/** Background jobs that follow a change later. */
export type FollowUpName = "lists" | "feed" | "search";

export type FollowUpJob = {
  name: FollowUpName;
  slot: Slot;
  /** Whether it runs while a rollback holds publishing: mirrors are told of the rollback, too. */
  whileHeld?: boolean;
  /** When it is next due, on a monotonic clock; null for not at all. */
  dueAtMs: (nowMs: number) => number | null;
  run: (options: { signal: AbortSignal }) => Promise<unknown>;
};

export type Job = "request" | "full build" | "housekeeping" | "profile" | FollowUpName;

export type FollowUpState = Pick<FollowUpJob, "name" | "slot" | "whileHeld"> & {
  atMs: number | null;
};

/** What the loop knows when it chooses the next job. Times are of a monotonic clock. */
export type LoopState = {
  nowMs: number;
  /** After a failure no job starts before this time. */
  pausedUntilMs: number;
  /** A failed full build or request is not tried again before this time; other jobs go on. */
  buildAfterMs: number;
  /** An operator asked for something. */
  requested: boolean;
  /** An operator went back to an older release: nothing is rendered until publishing is resumed. */
  held: boolean;
  /** The code of the site changed since the current release, so only a full build can publish. */
  outdated: boolean;
  /** There may be changes that no profile shows yet. */
  hasChanges: boolean;
  /** When housekeeping is due; null: not due. */
  housekeepingAtMs: number | null;
  followUps: readonly FollowUpState[];
  /** Jobs that go on in the background. */
  running: ReadonlySet<Slot>;
};

export type NextStep = { job: Job } | { job: "wait"; untilMs: number };

/** No rendered file waits for its release, so cleaning up or a build may start. */
const isFree = ({ running }: LoopState): boolean => !running.has("lists") && !running.has("build");
const isPublishing = ({ held, outdated }: LoopState): boolean => !held && !outdated;
/** A waiting request goes first: no list job starts before it is done. */
const isRequestDue = ({ requested, buildAfterMs, nowMs }: LoopState): boolean =>
  requested && nowMs >= buildAfterMs;

/** When each job may run; null: not now, whatever the time. The first rule that applies wins. */
const rules: readonly { job: Job; atMs: (state: LoopState) => number | null }[] = [
  { job: "request", atMs: (s) => (s.requested && isFree(s) ? s.buildAfterMs : null) },
  { job: "full build", atMs: (s) => (s.outdated && !s.held && isFree(s) ? s.buildAfterMs : null) },
  {
    job: "housekeeping",
    atMs: (s) => (isFree(s) && !(s.outdated && !s.held) ? s.housekeepingAtMs : null),
  },
  { job: "profile", atMs: (s) => (isPublishing(s) && s.hasChanges ? 0 : null) },
];

/** When a follow-up job may run. */
function followsAtMs(
  state: LoopState,
  { slot, whileHeld = false, atMs }: FollowUpState,
): number | null {
  const isSlotFree =
    slot === "lists" ? isFree(state) && !isRequestDue(state) : !state.running.has(slot);
  const mayRun = isPublishing(state) || (whileHeld && state.held);
  return isSlotFree && mayRun ? atMs : null;
}

/** No wait is longer than this, in case a signal was missed. */
const waitMaxMs = 60_000;

/** The job to do now, or until when to wait for news. */
export function nextJob(state: LoopState): NextStep {
  const { nowMs, pausedUntilMs } = state;
  if (nowMs < pausedUntilMs) return { job: "wait", untilMs: pausedUntilMs };
  let untilMs = nowMs + waitMaxMs;
  const times = [
    ...rules.map(({ job, atMs }) => ({ job, at: atMs(state) })),
    ...state.followUps.map((job) => ({ job: job.name, at: followsAtMs(state, job) })),
  ];
  for (const { job, at } of times) {
    if (at !== null && at <= nowMs) return { job };
    if (at !== null) untilMs = Math.min(untilMs, at);
  }
  return { job: "wait", untilMs };
}

/** How the publisher hears that there may be something to do. */
export type WorkSignal = ReturnType<typeof openWorkSignal>;

/** Without a notification an embedded store is asked for its version, which costs microseconds. */
const embeddedEveryMs = 100;
/** A server over the network is asked less often. */
const remoteEveryMs = 250;

/**
 * Learns of work from `notify`, and otherwise by looking regularly at the versions of the store and of the manifest,
 * where commands leave their requests. What is written during a job is noticed in the wait after it.
 */
export function openWorkSignal(
  { source: { store }, manifest }: Pick<PublisherContext, "source" | "manifest">,
  everyMs = store.embedded ? embeddedEveryMs : remoteEveryMs,
) {
  const manifestVersion = manifest.db.query<{ data_version: number }, []>("PRAGMA data_version");
  let hasChange = false;
  let isWoken = false;
  let ring = () => {};
  let newestVersion = "";
  const version = async (): Promise<string> => {
    const ownVersion = manifestVersion.get()?.data_version ?? 0;
    return `${ownVersion} ${(await store.version()) ?? (await newestSequence(store))}`;
  };
  /** A store that cannot be read is no news: the next job tells of it. */
  const look = async () => {
    const now = await version().catch(() => newestVersion);
    if (now !== newestVersion) hasChange = true;
    newestVersion = now;
  };
  const pause = (ms: number) => {
    const rung = Promise.withResolvers<void>();
    ring = rung.resolve;
    if (hasChange || isWoken) ring();
    return withTimeout(rung.promise, ms);
  };
  return {
    /** Says that something was written. Returns at once. */
    notify: (): void => {
      hasChange = true;
      ring();
    },
    /** Ends the wait that is going on, or the next one, although nothing was written. */
    wake: (): void => {
      isWoken = true;
      ring();
    },
    /** Waits for news or for a time; answers whether something may have been written since the wait before. */
    wait: async (untilMs: number): Promise<boolean> => {
      while (!hasChange && !isWoken) {
        await look();
        const leftMs = untilMs - performance.now();
        if (hasChange || leftMs <= 0) break;
        await pause(Math.min(everyMs, leftMs));
      }
      const answer = hasChange;
      [hasChange, isWoken] = [false, false];
      return answer;
    },
  };
}
