import type { Counters } from "#content/contract/stats.ts";
import { saveDirectoryFact } from "#content/nonprofit/save.ts";
import { countsHere } from "#content/donation/store.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { directoryFact, liveCounters } from "./directory-store.ts";

/** What is counted: calls of the queries, hits on the channels for agents, what agents sent, and refused requests. */
export type ActivityKind =
  | "query:search"
  | "query:recommend"
  | "query:mcp"
  | "hit:llms_txt"
  | "hit:agents_md"
  | "hit:ai_plugin"
  | "hit:mcp"
  | "enrich:submitted"
  | "enrich:applied"
  | `limited:${"enrich" | "onboard" | "donate" | "read" | "admin"}`;

export type Activity = {
  /** Counts one, or as many as given; kept in memory until the next flush. */
  count(kind: ActivityKind, by?: number): void;
  /** Writes what has been counted to the store. A failure keeps the counts for the next time, and throws. */
  flush(): Promise<void>;
  /** The counters as of now, with what is not flushed yet. The same object as long as nothing changed. */
  counters(): Promise<Counters>;
};

const hourMs = 3_600_000;
/** Counts of other processes are seen this late at most. */
const reloadAfterMs = 1_000;

/** Counters by hour without any personal data. The caller flushes, about every second and at shutdown. */
export function countActivity(store: Store, clock: () => Date): Activity {
  let pending = new Map<string, number>();
  let version = 0;
  let stored: { counters: Counters; committed: number; atMs: number } | null = null;
  let last: { version: number; stored: Counters; counters: Counters } | null = null;
  // Reading what is stored must not overlap with a flush, or counts would be missed or seen twice.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  };
  const isCurrent = (): boolean =>
    stored !== null &&
    stored.committed === store.committed() &&
    performance.now() - stored.atMs < reloadAfterMs;
  const reload = async () => {
    if (isCurrent()) return;
    const committed = store.committed();
    stored = {
      counters: await liveCounters(store, clock()),
      committed,
      atMs: performance.now(),
    };
  };
  return {
    count: (kind, by = 1) => {
      const key = `${kind} ${Math.floor(clock().getTime() / hourMs) * hourMs}`;
      pending.set(key, (pending.get(key) ?? 0) + by);
      version += 1;
    },
    flush: () =>
      inTurn(async () => {
        if (pending.size === 0) return;
        const counts = new Map(pending);
        await write(store, counts);
        // What was counted meanwhile stays for the next time.
        pending = new Map(
          [...pending].flatMap(([key, count]): [string, number][] => {
            const left = count - (counts.get(key) ?? 0);
            return left > 0 ? [[key, left]] : [];
          }),
        );
        version += 1;
        stored = null;
      }),
    counters: async () => {
      if (!isCurrent()) await inTurn(reload);
      // A flush may have begun since: its counts are pending still, or `stored` is gone and was read again.
      if (stored === null) await inTurn(reload);
      const known = (stored as unknown as { counters: Counters }).counters;
      if (last?.version === version && last.stored === known) return last.counters;
      last = { version, stored: known, counters: withPending(known, pending) };
      return last.counters;
    },
  };
}

const write = (store: Store, counts: ReadonlyMap<string, number>): Promise<void> =>
  store.write(async (tx) => {
    for (const [key, count] of counts) {
      const [kind = "", hour = ""] = key.split(" ");
      await tx.raw.execute({
        sql: `INSERT INTO activity_counts (kind, hour, count) VALUES (?, ?, ?)
              ON CONFLICT (kind, hour) DO UPDATE SET count = count + excluded.count`,
        args: [kind, Number(hour), count],
      });
    }
  });

function withPending(counters: Counters, pending: ReadonlyMap<string, number>): Counters {
  if (pending.size === 0) return counters;
  const sum = (fits: (kind: string) => boolean) =>
    [...pending].reduce(
      (all, [key, count]) => (fits(key.split(" ")[0] ?? "") ? all + count : all),
      0,
    );
  const queries = sum((kind) => kind.startsWith("query:"));
  const hits = (channel: string) => sum((kind) => kind === `hit:${channel}`);
  return {
    ...counters,
    total_queries: counters.total_queries + queries,
    queries_this_week: counters.queries_this_week + queries,
    queries: {
      llms_txt: counters.queries.llms_txt + hits("llms_txt"),
      agents_md: counters.queries.agents_md + hits("agents_md"),
      ai_plugin: counters.queries.ai_plugin + hits("ai_plugin"),
      mcp: counters.queries.mcp + hits("mcp"),
    },
  };
}

/**
 * Makes the live counters a fact of the directory, which the bundle shows. Called daily, so that the bundle stays a
 * function of the store. Does nothing when they are so already.
 */
export async function checkpointCounters(store: Store, now: Date): Promise<void> {
  const counters = await liveCounters(store, now);
  await store.write((tx) =>
    saveDirectoryFact(tx, { name: "counters", value: JSON.stringify(counters), now }),
  );
}

const dayMs = 86_400_000;

/** Numbers by day, keyed by the day's count since 1970. */
export type ByDay = ReadonlyMap<number, number>;

/** How often something was counted on each day since an instant (milliseconds since 1970). By primary key. */
export async function countedByDay(
  store: Queryable,
  kinds: readonly ActivityKind[],
  since: number,
): Promise<ByDay> {
  const { rows } = await store.raw.execute({
    sql: `SELECT hour / ${dayMs} AS day, sum(count) AS number
          FROM activity_counts
          WHERE kind IN (SELECT value FROM json_each(?)) AND hour >= ?
          GROUP BY day`,
    args: [JSON.stringify(kinds), since],
  });
  return byDay(rows);
}

/** Number and sum (in micro-USDC) of the donations of each day. Index: donations_by_time. */
export async function donationsByDay(
  store: Queryable,
  since: number,
): Promise<{ number: ByDay; microUsdc: ByDay }> {
  const { rows } = await store.raw.execute({
    sql: `SELECT recorded_at / ${dayMs} AS day, count(*) AS number, total(amount_micro_usdc) AS micro_usdc
          FROM donations INDEXED BY donations_by_time
          WHERE recorded_at >= ? AND ${countsHere}
          GROUP BY day`,
    args: [since],
  });
  return { number: byDay(rows), microUsdc: byDay(rows, "micro_usdc") };
}

/** What followed recommendations on each day. Reads all that is kept of them. */
export async function followThroughsByDay(
  store: Queryable,
  action: "profile" | "donate",
  since: number,
): Promise<ByDay> {
  const { rows } = await store.raw.execute({
    sql: `SELECT followed_at / ${dayMs} AS day, count(*) AS number
          FROM recommendation_follow_throughs
          WHERE action = ? AND followed_at >= ?
          GROUP BY day`,
    args: [action, since],
  });
  return byDay(rows);
}

const byDay = (rows: readonly Record<string, unknown>[], column = "number"): ByDay =>
  new Map(rows.map((row) => [Number(row["day"]), Number(row[column])]));

/** Hits of one kind in one hour (its beginning, in milliseconds since 1970). */
export type HourHits = { kind: ActivityKind; hour: number; count: number };

/** How far each access log has been read: bytes (unpacked) by the digest of its first line. */
type ReadTo = Record<string, number>;

const factName = "hits_imported";
/** Older logs are forgotten: by then they are long deleted. */
const logsMax = 500;

/** Up to which byte the log with this first line has been counted; 0 for a new one. */
export async function countedTo(store: Store, log: string): Promise<number> {
  return (await readTo(store))[log] ?? 0;
}

/**
 * Adds the hits of an access log to the counters and remembers how far it was read, in one transaction. Answers false
 * and writes nothing when another run was quicker.
 */
export const saveHits = (
  store: Store,
  log: { id: string; from: number; to: number; now: Date },
  hits: readonly HourHits[],
): Promise<boolean> =>
  store.write(async (tx) => {
    const known = await readTo(tx);
    if ((known[log.id] ?? 0) !== log.from) return false;
    for (const { kind, hour, count } of hits) {
      await tx.raw.execute({
        sql: `INSERT INTO activity_counts (kind, hour, count) VALUES (?, ?, ?)
              ON CONFLICT (kind, hour) DO UPDATE SET count = count + excluded.count`,
        args: [kind, hour, count],
      });
    }
    const { [log.id]: _, ...others } = known;
    const kept = [...Object.entries(others), [log.id, log.to] as const].slice(-logsMax);
    // No page shows this fact, so it is no change of the directory.
    await tx.raw.execute({
      sql: `INSERT INTO directory_facts (name, value, updated_at) VALUES (?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
      args: [factName, JSON.stringify(Object.fromEntries(kept)), log.now.getTime()],
    });
    return true;
  });

async function readTo(asked: Parameters<typeof directoryFact>[0]): Promise<ReadTo> {
  const stored = await directoryFact(asked, factName);
  return stored === null ? {} : (JSON.parse(stored) as ReadTo);
}
