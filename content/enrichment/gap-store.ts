import { and, asc, count, desc, eq, isNotNull, lt, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { type GapCounts, type GapList, gapLimits } from "#content/contract/gap.ts";
import { isoDay } from "#content/contract/base/time.ts";
import { countryName } from "#content/nonprofit/country.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { builder, statement, type Statement } from "#content/store/statement.ts";
import { gaps } from "#content/store/tables/enrichment.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";

export type NewGap = typeof gaps.$inferInsert;

export const addGap = (gap: NewGap): Statement => statement(builder.insert(gaps).values(gap));

/** Whether the same was reported, and how much was that day by a network and by all. Index: gaps_by_day. */
export const reportedOn = async ({ db }: Queryable, { digest, day, network }: NewGap) => ({
  same: (await db.$count(gaps, eq(gaps.digest, digest))) > 0,
  ofNetwork: await db.$count(gaps, and(eq(gaps.day, day), eq(gaps.network, network))),
  ofAll: await db.$count(gaps, eq(gaps.day, day)),
});

/** Forgets what was kept long enough. Index: gaps_by_day. */
export async function forgetGaps(store: Store, now: Date): Promise<void> {
  const before = isoDay(now.getTime() - gapLimits.keptDays * 86_400_000);
  if ((await store.db.$count(gaps, lt(gaps.day, before))) === 0) return;
  await store.write((tx) => tx.db.delete(gaps).where(lt(gaps.day, before)).execute());
}

/** GET /api/gaps. Goes through all that is kept: at most 1,000 a day. */
export async function gapCounts(store: Queryable): Promise<GapCounts> {
  const by = async (column: SQLiteColumn) => {
    const counted = { value: sql<string>`${column}`, times: count() };
    const rows = store.db.select(counted).from(gaps).where(isNotNull(column)).groupBy(column);
    const found = await rows.orderBy(desc(counted.times), asc(column));
    return found.map(({ value, times }) => [value, times] as const);
  };
  const inWords = (code: string) => ({ country: countryName(code), country_code: code });
  return {
    days: gapLimits.keptDays,
    total: await store.db.$count(gaps),
    by_field: (await by(gaps.field)).map(([field, times]) => ({ field, count: times })),
    by_cause: (await by(gaps.cause)).map(([cause, times]) => ({ cause, count: times })),
    by_country: (await by(gaps.country_code)).map(([code, times]) => ({
      ...inWords(code),
      count: times,
    })),
  };
}

/** What was looked for, in the words of those who did, the newest first: for operators. */
export async function listGaps(
  { store }: { store: Queryable },
  { limit }: { limit: number },
): Promise<GapList> {
  const { id, day, looked_for, field, cause, country_code, nonprofit_id } = gaps;
  const found = store.db
    .select({ day, looked_for, field, cause, country_code, slug: nonprofits.slug })
    .from(gaps)
    .leftJoin(nonprofits, eq(nonprofits.id, nonprofit_id));
  return { gaps: await found.orderBy(desc(id)).limit(limit) };
}
