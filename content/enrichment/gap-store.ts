import { and, count, desc, eq, lt, or, sql } from "drizzle-orm";
import { type GapCounts, type GapList, gapLimits } from "#content/contract/correction.ts";
import { dayMs, isoDay } from "#content/contract/base/time.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { builder, statement, type Statement } from "#content/store/query.ts";
import { gaps } from "#content/store/tables/enrichment.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";

export type NewGap = typeof gaps.$inferInsert;

export const addGap = (gap: NewGap): Statement => statement(builder.insert(gaps).values(gap));

/** Whether the same gap was reported before, and how many the network and everyone reported that day. Index: gaps_by_day. */
export const reportedOn = async ({ db }: Queryable, { digest, day, network }: NewGap) => ({
  same: (await db.$count(gaps, eq(gaps.digest, digest))) > 0,
  ofNetwork: await db.$count(gaps, and(eq(gaps.day, day), eq(gaps.network, network))),
  ofAll: await db.$count(gaps, eq(gaps.day, day)),
});

/** Deletes gaps that are too old, and the oldest when there are too many. Index: gaps_by_day. */
export async function forgetGaps(store: Store, now: Date): Promise<void> {
  const before = isoDay(now.getTime() - gapLimits.keptDays * dayMs);
  const tooMany = sql`${gaps.id} <= (SELECT max(id) FROM ${gaps}) - ${gapLimits.kept}`;
  const old = or(lt(gaps.day, before), tooMany);
  if ((await store.db.$count(gaps, old)) === 0) return;
  await store.write((tx) => tx.db.delete(gaps).where(old).execute());
}

const { field, cause, country_code } = gaps;
const about = { field, cause, country_code };

/** GET /api/gaps. Scans all stored gaps. */
export async function gapCounts({ db }: Queryable): Promise<GapCounts> {
  const counted = db.select({ ...about, count: count() }).from(gaps);
  const grouped = counted.groupBy(field, cause, country_code);
  return {
    days: gapLimits.keptDays,
    total: await db.$count(gaps),
    gaps: await grouped.orderBy(desc(count()), field, cause, country_code).limit(1_000),
  };
}

/** For operators: what people looked for, in their own words, newest first. */
export async function listGaps(
  { store: { db } }: { store: Queryable },
  { limit }: { limit: number },
): Promise<GapList> {
  const { id, looked_for, day, nonprofit_id } = gaps;
  const rows = db
    .select({ looked_for, day, ...about, slug: nonprofits.slug })
    .from(gaps)
    .leftJoin(nonprofits, eq(nonprofits.id, nonprofit_id));
  return { gaps: await rows.orderBy(desc(id)).limit(limit) };
}
