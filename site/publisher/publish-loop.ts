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
 * Publishes until `signal` aborts: changed profiles at once, lists and feed a little later, and makes releases durable in
 * quiet moments. On an error (a full disk, say) the release before keeps serving, and the work is tried again. Throws
 * when the manifest is damaged.
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
      // A job cut short at the end commits nothing; the next process does it again.
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
      await feedJob.run({ paced: true, signal });
    },
  };
  const feed: FollowUpJob = {
    name: "feed",
    slot: "lists",
    whileHeld: true,
    // Lists that are behind bring the feed along, but no lists are made while a rollback holds.
    dueAtMs: () =>
      listJob.isBehind() && manifest.state().held_at === 0 ? null : feedJob.dueAtMs(),
    run: () => feedJob.run({ paced: true, signal }),
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

/** Returns a function that logs why publishing fails, the same reason once a minute at most. */
function failureTeller({ log, manifest }: PublisherContext): (error: unknown) => void {
  let last = { reason: "", atMs: 0 };
  return (error) => {
    const full = /^(?:ENOSPC|SQLITE_FULL)/.test(codeOf(error) ?? "");
    const event = full ? fullDisk(manifest) : "publishing failed and is tried again";
    const reason = `${event} ${error instanceof Error ? error.message : String(error)}`;
    const nowMs = performance.now();
    if (reason === last.reason && nowMs - last.atMs < sameFailureEveryMs) return;
    last = { reason, atMs: nowMs };
    log(event, { error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  };
}

/** The message for a full disk. A full build may write as much again as the bundle has, and the manifest may too. */
function fullDisk({ db, folder }: PublisherContext["manifest"]): string {
  const { bavail, bsize } = statfsSync(folder);
  const { live } = db
    .query<{ live: number }, []>("SELECT total(live) AS live FROM packs")
    .get() ?? { live: 0 };
  const gb = Math.max(live * 2 - bavail * bsize, leastMissingBytes) / 1e9;
  return `the disk is full: free about ${gb.toFixed(1)} GB. The release before goes on serving, publishing is tried again`;
}

/** With less free space the service says that it is not ready. */
const leastMissingBytes = 100_000_000;

/** Changes with each release, and again when the release has reached the export folder. */
function shownBy({ manifest }: PublisherContext): string {
  const { current_release, exported_release } = manifest.state();
  return `${current_release} ${exported_release}`;
}

/** A slot in which one background job runs at a time. */
export type Slot = "lists" | "search" | "build";

/** Background jobs that run some time after a change. */
export type FollowUpName = "lists" | "feed" | "search";

export type FollowUpJob = {
  name: FollowUpName;
  slot: Slot;
  /** Whether it runs while a rollback holds publishing: mirrors must learn of the rollback too. */
  whileHeld?: boolean;
  /** When the job is due, on a monotonic clock; null when there is nothing to do. */
  dueAtMs: (nowMs: number) => number | null;
  run: (options: { signal: AbortSignal }) => Promise<unknown>;
};

export type Job = "request" | "full build" | "housekeeping" | "profile" | FollowUpName;

export type FollowUpState = Pick<FollowUpJob, "name" | "slot" | "whileHeld"> & {
  atMs: number | null;
};

/** What `nextJob` decides by, after each job and each wait. Times are of a monotonic clock. */
export type LoopState = {
  nowMs: number;
  /** After a failure no job starts before this time. */
  pausedUntilMs: number;
  /** A failed full build or request is not tried again before this time; other jobs go on. */
  buildAfterMs: number;
  /** A request of an operator waits. */
  requested: boolean;
  /** An operator went back to an older release: nothing is rendered until publishing is resumed. */
  held: boolean;
  /** The site or its settings changed since the current release, so only a full build can publish. */
  outdated: boolean;
  /** There may be changes that no profile shows yet. */
  hasChanges: boolean;
  /** When housekeeping is due; Infinity or null when it is not. */
  housekeepingAtMs: number | null;
  followUps: readonly FollowUpState[];
  /** Jobs that go on in the background. */
  running: ReadonlySet<Slot>;
};

export type NextStep = { job: Job } | { job: "wait"; untilMs: number };

/** True when no rendered file waits for its release, so housekeeping or a build may start. */
const isFree = ({ running }: LoopState): boolean => !running.has("lists") && !running.has("build");
const isPublishing = ({ held, outdated }: LoopState): boolean => !held && !outdated;
/** A waiting request goes first: no list job starts before it has been done. */
const isRequestDue = ({ requested, buildAfterMs, nowMs }: LoopState): boolean =>
  requested && nowMs >= buildAfterMs;

/** When each job may run; null: not now, at any time. Earlier entries go first. */
const rules: readonly { job: Job; atMs: (state: LoopState) => number | null }[] = [
  { job: "request", atMs: (s) => (s.requested && isFree(s) ? s.buildAfterMs : null) },
  { job: "full build", atMs: (s) => (s.outdated && !s.held && isFree(s) ? s.buildAfterMs : null) },
  {
    job: "housekeeping",
    atMs: (s) => (isFree(s) && !(s.outdated && !s.held) ? s.housekeepingAtMs : null),
  },
  { job: "profile", atMs: (s) => (isPublishing(s) && s.hasChanges ? 0 : null) },
];

/** When a follow-up job may run; null: not now, at any time. */
function followsAtMs(
  state: LoopState,
  { slot, whileHeld = false, atMs }: FollowUpState,
): number | null {
  const isSlotFree =
    slot === "lists" ? isFree(state) && !isRequestDue(state) : !state.running.has(slot);
  const mayRun = isPublishing(state) || (whileHeld && state.held);
  return isSlotFree && mayRun ? atMs : null;
}

/** The longest wait, in case a signal was missed. */
const waitMaxMs = 60_000;

/** The job to do now, or how long to wait for new work. */
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

export type WorkSignal = ReturnType<typeof openWorkSignal>;

/** Without `notify`, an embedded store is asked for its version this often; each time costs microseconds. */
const embeddedEveryMs = 100;
/** Less often for a database server over the network. */
const remoteEveryMs = 250;

/**
 * Learns of work through `notify`, and by checking every `everyMs` the versions of the store and of the manifest, in
 * which commands leave their requests. Writes during a job are noticed in the wait after it.
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
  /** If the store cannot be read, the version counts as unchanged: the next job reports the error. */
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
    /** Reports that something was written. Returns at once. */
    notify: (): void => {
      hasChange = true;
      ring();
    },
    /** Ends the current wait, or else the next one, although nothing was written. */
    wake: (): void => {
      isWoken = true;
      ring();
    },
    /** Waits until work comes or a time is reached; returns whether something may have been written since the last wait. */
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
