import type { ActivityKind } from "./activity.ts";
import { countsHere } from "#content/donation/store.ts";
import type { Queryable } from "#content/store/open.ts";

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
