import { existsSync, readFileSync } from "node:fs";
import { uptime } from "node:os";

export type EveryOptions = {
  /** Pause between the end of one run and the start of the next. */
  everyMs: number;
  /** Pause before the first run. Default: none. */
  firstAfterMs?: number;
  /** Called for the first of successive failures. */
  onFailure: (error: unknown) => void;
  /** How long `stop` waits for the current run. */
  stopWaitMs?: number;
};

/** Repeats work at intervals. A run that throws does not end the loop. */
export function every(
  work: () => Promise<unknown>,
  { everyMs, firstAfterMs = 0, onFailure, stopWaitMs = 5_000 }: EveryOptions,
): { stop(): Promise<void> } {
  let stopped = false;
  let failing = false;
  const stopping = Promise.withResolvers<void>();
  const loop = async () => {
    if (firstAfterMs > 0) await withTimeout(stopping.promise, firstAfterMs);
    while (!stopped) {
      try {
        await work();
        failing = false;
      } catch (error) {
        if (!failing) onFailure(error);
        failing = true;
      }
      await withTimeout(stopping.promise, everyMs);
    }
  };
  const running = loop();
  return {
    stop: async () => {
      stopped = true;
      stopping.resolve();
      await withTimeout(running, stopWaitMs);
    },
  };
}

/** The value of a promise, or null if it takes longer than `ms`; a later value is dropped. */
export function withTimeout<Value>(promise: Promise<Value>, ms: number): Promise<Value | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), ms);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

/** How much time is left. */
export type Deadline = { leftMs: () => number };

export function deadlineIn(ms: number): Deadline {
  const endMs = performance.now() + ms;
  return { leftMs: () => Math.max(0, endMs - performance.now()) };
}

/**
 * Returns true at the first call, and again at the first call after each `everyMs` of the clock: for log lines that would
 * repeat.
 */
export function atMostEvery(everyMs: number, clockMs = () => performance.now()): () => boolean {
  let lastMs = -Infinity;
  return () => {
    const nowMs = clockMs();
    if (nowMs - lastMs < everyMs) return false;
    lastMs = nowMs;
    return true;
  };
}

/** The processor time that this process has used. */
export const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

const pausePerWork = 3;
/** A longer run was waiting for something else, for example a bucket. */
const pauseMaxMs = 100;

/** A pause for long work, so that others come first: three times as long as the work since the last call, at most 100 ms. */
export function openThrottle(): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    await Bun.sleep(Math.min((performance.now() - sinceMs) * pausePerWork, pauseMaxMs));
    sinceMs = performance.now();
  };
}

/** Upper bounds of the buckets for durations, in seconds. */
export const durationBuckets = [0.001, 0.005, 0.02, 0.1, 0.3, 1, 3, 10] as const;

/** Durations with the same labels: how many are in each bucket and above the last, and their sum in seconds. */
export type DurationCounts = {
  labels: Readonly<Record<string, string>>;
  counts: number[];
  sum: number;
};

/** Counts durations in plain arrays, at a tenth of the cost of a prom-client histogram. */
export function countDurations() {
  const durations = new Map<string, DurationCounts>();
  return {
    count: (labels: Record<string, string>, seconds: number): void => {
      const key = Object.values(labels).join(" ");
      let counted = durations.get(key);
      if (counted === undefined) {
        const counts = Array.from({ length: durationBuckets.length + 1 }, () => 0);
        durations.set(key, (counted = { labels, counts, sum: 0 }));
      }
      let at = 0;
      while (seconds > (durationBuckets[at] ?? Infinity)) at++;
      counted.counts[at] = (counted.counts[at] ?? 0) + 1;
      counted.sum += seconds;
    },
    all: (): DurationCounts[] => [...durations.values()],
  };
}

const uptimeFile = "/proc/uptime";
const bootIdFile = "/proc/sys/kernel/random/boot_id";

/** Milliseconds since the machine started, to 10 ms: the same for all processes, and unaffected by setting the clock. */
export const machineUptimeMs = (): number =>
  existsSync(uptimeFile)
    ? Number(readFileSync(uptimeFile, "utf8").split(" ")[0]) * 1_000
    : uptime() * 1_000;

/** An id of the machine's current boot. */
export const bootId = (): string =>
  existsSync(bootIdFile) ? readFileSync(bootIdFile, "utf8").trim() : "one boot";

/** The current moment, in a form for other processes of the machine. */
export const machineMoment = (): string => `${bootId()} ${machineUptimeMs()}`;

/** Milliseconds since a moment; null if it is of another boot, or invalid. */
export function msSinceMoment(moment: string): number | null {
  const [boot, atMs] = moment.split(" ");
  return boot === bootId() ? Math.max(0, machineUptimeMs() - Number(atMs)) : null;
}

export type FollowingWork = ReturnType<typeof inBackground>;

/**
 * Work that follows publishing without delaying it: one run at a time, and another one if something was noticed meanwhile,
 * even if the run failed. A run begins at least `everyMs` after the start of the one before.
 */
export function inBackground(
  work: () => Promise<void>,
  onError: (error: unknown) => void,
  everyMs = 0,
) {
  let running: Promise<void> | null = null;
  let beginsAtMs = 0;
  let noticed = false;
  const run = async () => {
    while (noticed) {
      const waitMs = beginsAtMs - performance.now();
      // `unref`: a process with nothing else to do must not wait.
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
      beginsAtMs = performance.now() + everyMs;
      noticed = false;
      await work().catch(onError);
    }
  };
  return {
    /** Reports that there may be something to do. Returns at once. */
    notice: (): void => {
      noticed = true;
      running ??= run().finally(() => {
        running = null;
      });
    },
    /** Waits until everything noticed is done. */
    idle: async (): Promise<void> => {
      await running;
    },
  };
}
