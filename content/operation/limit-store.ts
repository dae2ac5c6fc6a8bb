import { z } from "zod";
import type { Store } from "#content/store/open.ts";

/** The server's time, so that services agree whatever their clocks say. Tests pass `nowMs` instead. */
const timeSql = (nowMs: number | undefined): string =>
  nowMs === undefined ? "CAST(unixepoch('subsec') * 1000 AS INTEGER)" : String(nowMs);

const ofClient = (now: string): string => `
  policy = hit.value ->> 'policy'
  AND client IN (hit.value ->> 'client', hit.value ->> 'also')
  AND until > ${now}`;

/** Counts all hits, or none if a window is full; a limit of null is never full. */
const takingSql = (now: string): string => `
  INSERT INTO limit_hits (policy, client, until, count)
  SELECT
    value ->> 'policy',
    value ->> 'client',
    (${now} + (value ->> 'windowMs') + (value ->> 'grainMs') - 1)
      / (value ->> 'grainMs') * (value ->> 'grainMs'),
    value ->> 'count'
  FROM json_each(?1)
  WHERE value ->> 'count' <> 0 AND NOT EXISTS (
    SELECT 1 FROM json_each(?1) AS hit
    WHERE (SELECT coalesce(sum(count), 0) FROM limit_hits WHERE ${ofClient(now)})
      + (hit.value ->> 'count') > hit.value ->> 'limit'
  )
  ON CONFLICT (policy, client, until) DO UPDATE SET count = count + excluded.count`;

const countingSql = (now: string): string => `
  SELECT ${now} AS at, coalesce(sum(count), 0) AS used, min(until) AS next
  FROM json_each(?1) AS hit LEFT JOIN limit_hits ON ${ofClient(now)}
  GROUP BY hit.key
  ORDER BY hit.key`;

const sweepingSql = (now: string): string => `
  DELETE FROM limit_hits WHERE rowid IN (
    SELECT rowid FROM limit_hits WHERE until <= ${now} ORDER BY until LIMIT 2000
  )`;

const CountRow = z.object({ at: z.int(), used: z.int(), next: z.int().nullable() });

const rowsOf = (hits: readonly Hits[]): string =>
  JSON.stringify(
    hits.flatMap(({ counters, count, always }) =>
      counters.map(({ window, clients: [client = "", also = client] }) => {
        return { ...window, ...(always === true && { limit: null }), client, also, count };
      }),
    ),
  );

/**
 * Counts hits in the store in one round trip, those that always count first, the others in order. Returns what is left in
 * each window afterwards, and the server's time in milliseconds. `sweeps`: also delete some expired hits.
 */
export async function countHits(
  { raw }: Pick<Store, "raw">,
  hits: readonly Hits[],
  { sweeps, nowMs }: { sweeps: boolean; nowMs?: number | undefined },
): Promise<{ allowances: Allowance[]; atMs: number }> {
  const now = timeSql(nowMs);
  const limitedHits = hits.filter(({ always }) => always !== true);
  const always = hits.filter((hit) => hit.always === true);
  const batches = [always, ...limitedHits.map((hit) => [hit])].map((batch) => rowsOf(batch));
  const results = await raw.batch(
    [
      ...(sweeps ? [sweepingSql(now)] : []),
      ...batches.map((rows) => ({ sql: takingSql(now), args: [rows] })),
      { sql: countingSql(now), args: [rowsOf(hits)] },
    ],
    "write",
  );
  const countRows = (results.pop()?.rows ?? []).map((row) => CountRow.parse(row));
  const atMs = countRows[0]?.at ?? 0;
  const refusedHits = new Set(
    limitedHits.filter((_, at) => results.at(at - limitedHits.length)?.rowsAffected === 0),
  );
  const allowances = hits.map((hit) =>
    tightestOf(
      hit.counters.map(({ window: { policy, limit, windowMs } }) => {
        const { used, next } = countRows.shift() ?? { used: 0, next: null };
        const allowed =
          hit.count > 0 && hit.always !== true ? !refusedHits.has(hit) : used <= limit;
        const resetMs = next === null ? windowMs : next - atMs;
        return { policy, limit, windowMs, allowed, remaining: Math.max(0, limit - used), resetMs };
      }),
    ),
  );
  return { allowances, atMs };
}

/** A limit of hits per time. The end of a hit is rounded up to `grainMs`, so that rounding never exceeds a limit. */
export type Window = { policy: string; limit: number; windowMs: number; grainMs: number };

/** What is left of a window: `remaining` hits; the next is free after `resetMs`. */
export type Allowance = Pick<Window, "policy" | "limit" | "windowMs"> & {
  allowed: boolean;
  remaining: number;
  resetMs: number;
};

/** A client's window. `clients` are the one or two names under which it may have been counted; new hits use the first. */
export type Counter = { window: Window; clients: readonly string[] };

/** Counts `count` hits in each of these windows, or in none if one is full; with `always`, in any case. */
export type Hits = { counters: readonly Counter[]; count: number; always?: boolean };

/** The window with the fewest remaining hits. */
export const tightestOf = (allowances: readonly Allowance[]): Allowance =>
  allowances.reduce((tightest, allowance) =>
    allowance.remaining < tightest.remaining ? allowance : tightest,
  );
