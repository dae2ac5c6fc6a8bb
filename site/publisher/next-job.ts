/** Where jobs go on in the background, one at a time in each. */
export type Slot = "lists" | "search" | "build";

/** Background jobs that follow a change later. */
export type FollowUpName = "lists" | "feed" | "search";

export type FollowUpJob = {
  name: FollowUpName;
  slot: Slot;
  /** Whether it runs while a rollback holds publishing: what was gone back to is announced to mirrors too. */
  whileHeld?: boolean;
  /** From when on there is something to do, on a monotonic clock; null for nothing. */
  dueAtMs: (nowMs: number) => number | null;
  run: (options: { signal: AbortSignal }) => Promise<unknown>;
};

export type Job = "request" | "full build" | "housekeeping" | "profile" | FollowUpName;

export type FollowUpState = Pick<FollowUpJob, "name" | "slot" | "whileHeld"> & {
  atMs: number | null;
};

/** What is known when a job has ended, a change came or a time is reached. Times are of a monotonic clock. */
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

export type Next = { job: Job } | { job: "wait"; untilMs: number };

/** No rendered file waits for its release, so cleaning up or a build may start. */
const isFree = ({ running }: LoopState): boolean => !running.has("lists") && !running.has("build");
const isPublishing = ({ held, outdated }: LoopState): boolean => !held && !outdated;
/** A waiting request goes first: no list job starts before it is done. */
const isRequestDue = ({ requested, buildAfterMs, nowMs }: LoopState): boolean =>
  requested && nowMs >= buildAfterMs;

/** From when on each job may run; null: not now, whatever the time. Those that come first go first. */
const rules: readonly { job: Job; atMs: (state: LoopState) => number | null }[] = [
  { job: "request", atMs: (s) => (s.requested && isFree(s) ? s.buildAfterMs : null) },
  { job: "full build", atMs: (s) => (s.outdated && !s.held && isFree(s) ? s.buildAfterMs : null) },
  {
    job: "housekeeping",
    atMs: (s) => (isFree(s) && !(s.outdated && !s.held) ? s.housekeepingAtMs : null),
  },
  { job: "profile", atMs: (s) => (isPublishing(s) && s.hasChanges ? 0 : null) },
];

/** The same of a follow-up job. */
function followsAtMs(
  state: LoopState,
  { slot, whileHeld = false, atMs }: FollowUpState,
): number | null {
  const isSlotFree =
    slot === "lists" ? isFree(state) && !isRequestDue(state) : !state.running.has(slot);
  const mayRun = isPublishing(state) || (whileHeld && state.held);
  return isSlotFree && mayRun ? atMs : null;
}

/** A wait is never longer: something may have been forgotten. */
const waitMaxMs = 60_000;

/** The job to do now, or until when to wait for news. */
export function nextJob(state: LoopState): Next {
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
