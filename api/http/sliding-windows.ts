import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Log } from "#api/log.ts";
import { minuteMs } from "#content/contract/base/time.ts";
import {
  type Allowance,
  type Hits,
  countHits,
  type Counter,
  tightestOf,
  type Window,
} from "#content/operation/limit-store.ts";
import {
  isDamaged,
  openDisposable,
  setAside,
  closeToOthers,
  privateFile,
} from "#content/runtime/files.ts";
import { atMostEvery, withTimeout, bootId, machineUptimeMs } from "#content/runtime/timing.ts";
import { StoreAway } from "#content/store/busy.ts";
import type { Store } from "#content/store/open.ts";

/** Windows that are counted together with other processes. */
export type SharedWindows = Windows & {
  /** Never throws: when the shared place fails, this process counts in its own memory. */
  takeAll(hits: readonly Hits[]): Promise<Allowance[]>;
  /** Whether this process counts only for itself at present. */
  isAlone: () => boolean;
};

/** A request waits at most this long for a server; then it is counted in this process. */
const answerWaitMs = 500;
const sweepEveryMs = 1_000;
/** A file that could not be written is tried again later than a server that was away. */
const fileAgainMs = minuteMs;
const serverAgainMs = 5_000;

/**
 * Opens a file that the processes of this machine share, or a store on a server that all services of a directory share.
 * While it cannot be used (a full disk, a server that is away or late) this process counts for itself, in memory.
 */
export function openSharedWindows(
  place: string | Store,
  log: Log,
  clockMs?: () => number,
): SharedWindows {
  const onDamaged = (file: string) =>
    log.warn({ file }, "a damaged file of rate limits was moved away: all windows begin again");
  const open = (): Windows =>
    typeof place === "string"
      ? openDisposable(place, () => openWindows(place, clockMs), onDamaged)
      : openStoreWindows(place, clockMs);
  let sharedWindows = open();
  let ownWindows: Windows | null = null;
  /** Until then only the own windows are used: each look into a file that cannot be written would find free room in it. */
  let aloneUntilMs = -Infinity;
  const isLogged = atMostEvery(minuteMs);
  const isAlone = () => ownWindows !== null && performance.now() < aloneUntilMs;
  const countHere = (error: unknown): Windows => {
    if (isLogged())
      log.warn({ err: error }, "rate limits are not shared: each process counts its own");
    const againMs = typeof place === "string" ? fileAgainMs : serverAgainMs;
    if (!isLocked(error)) aloneUntilMs = performance.now() + againMs;
    return (ownWindows ??= openWindows(":memory:", clockMs));
  };
  return {
    takeAll: async (hits) => {
      if (ownWindows !== null && isAlone()) return ownWindows.takeAll(hits);
      try {
        const answers = await sharedWindows.takeAll(hits);
        ownWindows?.close();
        ownWindows = null;
        return answers;
      } catch (error) {
        if (typeof place !== "string" || !isDamaged(error)) return countHere(error).takeAll(hits);
        sharedWindows.close();
        setAside(place);
        onDamaged(place);
        sharedWindows = open();
        return sharedWindows.takeAll(hits);
      }
    },
    isAlone,
    now: () => sharedWindows.now(),
    close: () => {
      sharedWindows.close();
      ownWindows?.close();
    },
  };
}

/** Another process is writing. The next attempt may find the file free. */
const isLocked = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");

/** Windows in a store on a server, whose clock decides. Tests pass `clockMs` instead. */
function openStoreWindows(store: Store, clockMs?: () => number): Windows {
  let aheadMs = Date.now() - performance.now();
  const isSweepDue = atMostEvery(sweepEveryMs);
  return {
    takeAll: async (hits) => {
      const answerPromise = countHits(store, hits, { sweeps: isSweepDue(), nowMs: clockMs?.() });
      const answer = await withTimeout(answerPromise, answerWaitMs);
      if (answer === null) throw new StoreAway("the database server answers late");
      aheadMs = answer.atMs - performance.now();
      return answer.allowances;
    },
    now: clockMs ?? (() => Math.floor(performance.now() + aheadMs)),
    close: () => {},
  };
}

/** Sliding windows, wherever their hits are counted. */
export type Windows = {
  /** Counts several hits in order. Each answer is that of the tightest window; a count of 0 only reads. */
  takeAll(hits: readonly Hits[]): Allowance[] | Promise<Allowance[]>;
  /** Milliseconds that never decrease, the same for all processes that share the windows. */
  now: () => number;
  close(): void;
};

const windowSweepEveryMs = 100;
/** A sweep removes up to this many expired rows, and four for each new hit, so that a backlog shrinks. */
const sweptAtLeast = 100;
const seenEveryMs = 5_000;

/**
 * Exact sliding windows shared by all processes that open the same file. Time is the machine's uptime, so that setting the
 * clock neither frees nor blocks anyone. Tests pass `uptimeMs` instead.
 */
export function openWindows(path: string, uptimeMs: () => number = machineUptime()) {
  const db = openFile(path);
  const bootedAtMs = db.transaction(() => bootOf(db, uptimeMs())).immediate();
  const now = () => Math.floor(bootedAtMs + uptimeMs());
  const countQuery = db.query<{ used: number; next: number | null }, CountedHit>(countingSql);
  const addQuery = db.query<null, [string, string, number, number]>(addingSql);
  const sweep = sweeper(db, now());
  /** What a window leaves a client after so many hits. */
  const leftIn = (
    { window: { policy, limit, windowMs }, clients: [first = "", second = first] }: Counter,
    { count, always = false, atMs }: Pick<Hits, "count" | "always"> & { atMs: number },
  ): Allowance => {
    const { used, next } = countQuery.get(policy, first, second, atMs) ?? { used: 0, next: null };
    const resetMs = next === null ? windowMs : next - atMs;
    const base = { policy, limit, windowMs, resetMs };
    const remaining = limit - used - count;
    return remaining < 0
      ? { ...base, allowed: false, remaining: always ? 0 : Math.max(0, limit - used) }
      : { ...base, allowed: true, remaining };
  };
  const take = ({ counters, count, always = false }: Hits, atMs: number): Allowance => {
    const allowances: Allowance[] = [];
    for (const counter of counters) {
      const answer = leftIn(counter, { count, always, atMs });
      if (!answer.allowed && !always) return answer;
      allowances.push(answer);
    }
    // A count of 0 only reads, and adds no row.
    for (const { window, clients } of count === 0 ? [] : counters) {
      addQuery.run(window.policy, clients[0] ?? "", untilOf(window, atMs), count);
    }
    return tightestOf(allowances);
  };
  const takeAll = (hits: readonly Hits[]): Allowance[] => {
    const atMs = now();
    sweep(atMs, hits.length);
    return hits.map((hit) => take(hit, atMs));
  };
  const takingAll = db.transaction(takeAll);
  return {
    takeAll: (hits: readonly Hits[]): Allowance[] => takingAll.immediate(hits),
    now,
    close: (): void => db.close(),
  } satisfies Windows;
}

const untilOf = ({ windowMs, grainMs }: Window, atMs: number): number =>
  Math.ceil((atMs + windowMs) / grainMs) * grainMs;

/** Removes expired hits, a few at a time, so that no request waits while a table of a million rows is cleared. */
function sweeper(db: Database, nowMs: number) {
  const sweepQuery = db.query<null, [number, number]>(sweepingSql);
  const seenQuery = db.query<null, [number]>("UPDATE boot SET seen_at = ?");
  let sweptAtMs = nowMs;
  let seenAtMs = nowMs;
  let taken = 0;
  return (atMs: number, hits: number): void => {
    taken += hits;
    if (atMs - sweptAtMs < windowSweepEveryMs) return;
    sweepQuery.run(atMs, sweptAtLeast + 4 * taken);
    [sweptAtMs, taken] = [atMs, 0];
    if (atMs - seenAtMs < seenEveryMs) return;
    seenQuery.run(atMs);
    seenAtMs = atMs;
  };
}

type CountedHit = [policy: string, client: string, also: string, atMs: number];

const countingSql = `
  SELECT coalesce(sum(count), 0) AS used, min(until) AS next FROM hits
  WHERE policy = ? AND client IN (?, ?) AND until > ?`;

const addingSql = `
  INSERT INTO hits (policy, client, until, count) VALUES (?, ?, ?, ?)
  ON CONFLICT (policy, client, until) DO UPDATE SET count = count + excluded.count`;

const sweepingSql = `
  DELETE FROM hits WHERE (policy, client, until) IN (
    SELECT policy, client, until FROM hits WHERE until <= ? ORDER BY until LIMIT ?
  )`;

function openFile(path: string): Database {
  if (path !== ":memory:") {
    mkdirSync(dirname(path), { recursive: true });
    privateFile(path);
    for (const end of ["-wal", "-shm"]) closeToOthers(path + end);
  }
  const db = new Database(path, { create: true, strict: true });
  try {
    db.run("PRAGMA busy_timeout = 100");
    db.run("PRAGMA journal_mode = WAL");
    db.run("PRAGMA synchronous = OFF"); // A loss of power ends every window anyway.
    for (const table of tables) db.run(table);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

const tables = [
  `CREATE TABLE IF NOT EXISTS hits (
     policy TEXT NOT NULL, client TEXT NOT NULL, until INTEGER NOT NULL, count INTEGER NOT NULL,
     PRIMARY KEY (policy, client, until)
   ) WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS hits_by_until ON hits (until)",
  "CREATE TABLE IF NOT EXISTS boot (id TEXT PRIMARY KEY, booted_at INTEGER NOT NULL, seen_at INTEGER NOT NULL) WITHOUT ROWID",
];

type Boot = { id: string; booted_at: number; seen_at: number };

/** When this boot began, in the time of the file. After a reboot that time continues from the last `seen_at`. */
function bootOf(db: Database, uptimeNowMs: number): number {
  const id = bootId();
  const boot = db.query<Boot, []>("SELECT id, booted_at, seen_at FROM boot").get();
  if (boot?.id === id && boot.booted_at + uptimeNowMs >= boot.seen_at - seenEveryMs) {
    return boot.booted_at;
  }
  const seen_at = boot?.seen_at ?? Math.floor(uptimeNowMs);
  const booted_at = seen_at - Math.floor(uptimeNowMs);
  db.run("DELETE FROM boot");
  db.query("INSERT INTO boot (id, booted_at, seen_at) VALUES (?, ?, ?)").run(
    id,
    booted_at,
    seen_at,
  );
  return booted_at;
}

/** Milliseconds since boot: the uptime is read once (to 10 ms), then the process's steady clock is added. */
function machineUptime(): () => number {
  const startedAtMs = machineUptimeMs() - performance.now();
  return () => startedAtMs + performance.now();
}
