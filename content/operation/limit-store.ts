import type { InStatement } from "@libsql/client";
import { z } from "zod";
import type { Store } from "#content/store/open.ts";

/** Hits of a client in one window: `also` is another name under which it may have been counted. A limit of null takes all. */
export type LimitHit = {
  policy: string;
  client: string;
  also: string;
  limit: number | null;
  windowMs: number;
  grainMs: number;
  count: number;
};

/** The server's time, so that services agree whatever their clocks say. `nowMs` stands in for it in tests. */
const timeSql = (nowMs: number | undefined): string =>
  nowMs === undefined ? "CAST(unixepoch('subsec') * 1000 AS INTEGER)" : String(nowMs);

const ofClient = (now: string): string => `
  policy = asked.value ->> 'policy'
  AND client IN (asked.value ->> 'client', asked.value ->> 'also')
  AND until > ${now}`;

/** All hits of a request are counted, or none when one of its windows is full. */
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
    SELECT 1 FROM json_each(?1) AS asked
    WHERE (SELECT coalesce(sum(count), 0) FROM limit_hits WHERE ${ofClient(now)})
      + (asked.value ->> 'count') > asked.value ->> 'limit'
  )
  ON CONFLICT (policy, client, until) DO UPDATE SET count = count + excluded.count`;

const countingSql = (now: string): string => `
  SELECT ${now} AS at, coalesce(sum(count), 0) AS used, min(until) AS next
  FROM json_each(?1) AS asked LEFT JOIN limit_hits ON ${ofClient(now)}
  GROUP BY asked.key
  ORDER BY asked.key`;

const sweepingSql = (now: string): string => `
  DELETE FROM limit_hits WHERE rowid IN (
    SELECT rowid FROM limit_hits WHERE until <= ${now} ORDER BY until LIMIT 2000
  )`;

const Counted = z.object({ at: z.int(), used: z.int(), next: z.int().nullable() });

/**
 * Counts the hits of requests in one round trip, request after request, each in all of its windows or in none. Answers
 * which were counted, and what each window has after all of them, in order: hits used, and when the next comes free, in the
 * server's milliseconds. `sweeps`: takes out some of what is over.
 */
export async function countHits(
  { raw }: Pick<Store, "raw">,
  requests: readonly (readonly LimitHit[])[],
  { sweeps, nowMs }: { sweeps: boolean; nowMs?: number | undefined },
): Promise<{ taken: boolean[]; counted: z.infer<typeof Counted>[] }> {
  const now = timeSql(nowMs);
  // What is counted in any case needs no statement of its own.
  const free = requests.filter((hits) => hits.every(({ limit }) => limit === null)).flat();
  const bound = requests.filter((hits) => hits.some(({ limit }) => limit !== null));
  const statementOf = (sql: string, hits: readonly LimitHit[]): InStatement => ({
    sql,
    args: [JSON.stringify(hits)],
  });
  const first = [
    ...(sweeps ? [sweepingSql(now)] : []),
    ...(free.length > 0 ? [statementOf(takingSql(now), free)] : []),
  ];
  const taking = bound.map((hits) => statementOf(takingSql(now), hits));
  const counting = statementOf(countingSql(now), requests.flat());
  const results = await raw.batch([...first, ...taking, counting], "write");
  const taken = results.slice(first.length, -1).map(({ rowsAffected }) => rowsAffected > 0);
  return {
    taken: requests.map(
      (hits) => hits.every(({ limit }) => limit === null) || taken.shift() === true,
    ),
    counted: (results.at(-1)?.rows ?? []).map((row) => Counted.parse(row)),
  };
}
