import { and, gte, lt, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { z } from "zod";
import type { LimitName } from "#content/contract/addresses.ts";
import { dayMs, hourMs } from "#content/contract/base/time.ts";
import type { Counters } from "#content/contract/stats.ts";
import { oneByOne } from "#content/runtime/concurrency.ts";
import { saveDirectoryFact } from "#content/nonprofit/save.ts";
import { countsHere } from "#content/giving/store.ts";
import type { Queryable, Store, WriteTransaction } from "#content/store/open.ts";
import { insertMany, inValues } from "#content/store/query.ts";
import { donations } from "#content/store/tables/giving.ts";
import { activityCounts } from "#content/store/tables/operations.ts";
import { recommendationFollowThroughs } from "#content/store/tables/recommendations.ts";
import {
  type KindCount,
  countedKinds,
  countersOf,
  donationCount,
  liveCounters,
} from "./directory-facts-store.ts";
import { jsonFact, noteFact } from "#content/store/facts.ts";

/** What is counted: queries, hits on the channels for agents, submissions of agents, and refused requests. */
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
  | "access:failed_sign_ins"
  | "access:untrusted_proxy_requests"
  | `limited:${LimitName | "admin" | "stored"}`;

/** Discovery files whose hits are counted. */
export const discoveryHits: ReadonlyMap<string, ActivityKind> = new Map([
  ["/llms.txt", "hit:llms_txt"],
  ["/agents.md", "hit:agents_md"],
  ["/AGENTS.md", "hit:agents_md"],
  ["/.well-known/ai-plugin.json", "hit:ai_plugin"],
]);

export type Activity = ReturnType<typeof countActivity>;

/** The greatest delay until counts of other processes are seen. */
const reloadAfterMs = 1_000;

type StoredCounts = {
  kindCounts: KindCount[];
  donations: number;
  committed: number;
  atMs: number;
  /** Computed from the stored and the new counts; null when something was counted since. */
  counters: Counters | null;
};

/** Counters by hour without any personal data. The caller flushes, about every second and at shutdown. */
export function countActivity(store: Store, clock: () => Date) {
  const pendingHits = new Map<string, HourHits>();
  let snapshot: StoredCounts | null = null;
  // Reading stored counts must not overlap with a flush, or counts would be missed or repeated.
  const inTurn = oneByOne();
  const current = (): StoredCounts | null =>
    snapshot !== null &&
    snapshot.committed === store.committed() &&
    performance.now() - snapshot.atMs < reloadAfterMs
      ? snapshot
      : null;
  const reload = async (): Promise<StoredCounts> => {
    const freshCounts = current();
    if (freshCounts !== null) return freshCounts;
    const committed = store.committed();
    const kindCounts = await countedKinds(store, clock());
    const gifts = await donationCount(store);
    const atMs = performance.now();
    return (snapshot = { kindCounts, donations: gifts, committed, atMs, counters: null });
  };
  return {
    /** Adds `by` to a counter; kept in memory until the next flush. */
    count: (kind: ActivityKind, by = 1): void => {
      const hour = Math.floor(clock().getTime() / hourMs) * hourMs;
      const key = `${kind} ${hour}`;
      pendingHits.set(key, { kind, hour, count: (pendingHits.get(key)?.count ?? 0) + by });
      if (snapshot !== null) snapshot.counters = null;
    },
    /** Writes the counts to the store. On failure it keeps them for the next time, and throws. */
    flush: (): Promise<void> =>
      inTurn(async () => {
        if (pendingHits.size === 0) return;
        const batch = new Map(pendingHits);
        await store.write((tx) => addCounts(tx, [...batch.values()]));
        // Keep what was counted meanwhile.
        for (const [key, { count }] of batch) {
          const now = pendingHits.get(key);
          if (now === undefined || now.count === count) pendingHits.delete(key);
          else pendingHits.set(key, { ...now, count: now.count - count });
        }
        snapshot = null;
      }),
    /** The current counters, including what is not flushed. The same object as long as nothing changed. */
    counters: async (): Promise<Counters> => {
      // A flush that began in the meantime is not done: its counts are still pending.
      const counts = current() ?? (await inTurn(reload));
      const pendingCounts = [...pendingHits.values()].map(({ kind, count }): KindCount => ({
        kind,
        count,
        this_week: count,
      }));
      return (counts.counters ??= countersOf(
        [...counts.kindCounts, ...pendingCounts],
        counts.donations,
      ));
    },
  };
}

export const addCounts = (tx: WriteTransaction, counts: readonly HourHits[]) =>
  insertMany(
    tx,
    activityCounts,
    counts,
    "ON CONFLICT (kind, hour) DO UPDATE SET count = count + excluded.count",
  );

/**
 * Stores the live counters as a fact of the directory, which the bundle shows. Called daily, so that the bundle depends only
 * on the store. Does nothing when they have not changed.
 */
export async function checkpointCounters(store: Store, now: Date): Promise<void> {
  const counters = await liveCounters(store, now);
  await store.write((tx) =>
    saveDirectoryFact(tx, { name: "counters", value: JSON.stringify(counters), now }),
  );
}

/** Older hours are not needed: weeks are the finest shown. */
const hourlyDays = 35;

/** Merges hourly counts older than 35 days into daily ones. Returns how many rows that saved. */
export const compactActivity = (store: Store, now: Date): Promise<number> =>
  store.write(async (tx) => {
    const { kind, hour, count } = activityCounts;
    const old = lt(hour, Math.floor(now.getTime() / dayMs - hourlyDays) * dayMs);
    // Use a literal: a parameter would be a float, and so would the quotient.
    const length = sql.raw(String(dayMs));
    const day = sql<number>`${hour} / ${length} * ${length}`;
    const days = await tx.db
      .select({ kind, hour: day, count: sql<number>`sum(${count})` })
      .from(activityCounts)
      .where(old)
      .groupBy(kind, day);
    const { rowsAffected } = await tx.db.delete(activityCounts).where(old);
    await insertMany(tx, activityCounts, days);
    return rowsAffected - days.length;
  });

/** A number for one day, counted in days since 1970. */
export type DayNumber = { name: string; day: number; number: number };

// A bound number is a float, and a float division would give every instant a day of its own.
const dayOf = (instant: SQLiteColumn) =>
  sql<number>`${instant} / CAST(${dayMs} AS INTEGER)`.as("day");

/** The daily counts of these kinds since an instant (milliseconds since 1970). Reads by primary key. */
export function countedByDay(
  store: Queryable,
  kinds: readonly string[],
  since: number,
): Promise<DayNumber[]> {
  const { kind: name, hour, count } = activityCounts;
  return store.db
    .select({ name, day: dayOf(hour), number: sql<number>`sum(${count})` })
    .from(activityCounts)
    .where(and(inValues(name, kinds), gte(hour, since)))
    .groupBy(name, sql`day`)
    .execute();
}

/** The number of donations per day, and their sum in USDC. Index: donations_by_time. */
export async function donationsByDay(store: Queryable, since: number): Promise<DayNumber[]> {
  const { recorded_at, amount_micro_usdc } = donations;
  const rows = await store.db
    .select({
      day: dayOf(recorded_at),
      number: sql<number>`count(*)`,
      micro_usdc: sql<number>`total(${amount_micro_usdc})`,
    })
    .from(donations)
    .where(and(gte(recorded_at, since), sql.raw(countsHere)))
    .groupBy(sql`day`);
  return rows.flatMap(({ day, number, micro_usdc }) => [
    { name: "donations", day, number },
    { name: "donated_usdc", day, number: micro_usdc / 1_000_000 },
  ]);
}

/** The daily number of follow-throughs by kind, "profile" or "donate". Scans all that are stored. */
export function followThroughsByDay(store: Queryable, since: number): Promise<DayNumber[]> {
  const { action: name, followed_at } = recommendationFollowThroughs;
  return store.db
    .select({ name, day: dayOf(followed_at), number: sql<number>`count(*)` })
    .from(recommendationFollowThroughs)
    .where(gte(followed_at, since))
    .groupBy(name, sql`day`)
    .execute();
}

/** Hits of one kind in one hour, given by its start in milliseconds since 1970. */
export type HourHits = { kind: ActivityKind; hour: number; count: number };

/** How far each access log has been read: unpacked bytes, by the digest of its first line. */
const ReadTo = z.record(z.string(), z.number());
type ReadTo = z.infer<typeof ReadTo>;

const factName = "hits_imported";
/** Older logs are forgotten; by then they have long been deleted. */
const logsMax = 500;

/** The byte up to which the log with this first line was counted; 0 for a new log. */
export async function countedTo(store: Store, log: string): Promise<number> {
  return (await readTo(store))[log] ?? 0;
}

/**
 * Adds the hits of an access log to the counters and stores how far it was read, in one transaction. Returns false, and
 * writes nothing, if another run was faster.
 */
export const saveHits = (
  store: Store,
  log: { id: string; from: number; to: number; now: Date },
  hits: readonly HourHits[],
): Promise<boolean> =>
  store.write(async (tx) => {
    const places = await readTo(tx);
    if ((places[log.id] ?? 0) !== log.from) return false;
    await addCounts(tx, hits);
    const { [log.id]: _, ...otherLogs } = places;
    const latest = [...Object.entries(otherLogs), [log.id, log.to] as const].slice(-logsMax);
    // No page shows this fact, so it is no change of the directory.
    const value = JSON.stringify(Object.fromEntries(latest));
    await noteFact(tx, { name: factName, value, now: log.now });
    return true;
  });

const readTo = async (store: Queryable): Promise<ReadTo> =>
  (await jsonFact(store, factName, ReadTo)) ?? {};
