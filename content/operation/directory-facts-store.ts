import { and, asc, gt, lt, sql } from "drizzle-orm";
import { hourMs } from "#content/contract/base/time.ts";
import { causeIds } from "#content/contract/browse.ts";
import type { DonationNetwork } from "#content/contract/transfer.ts";
import { Counters, type Stats } from "#content/contract/stats.ts";
import { countsHere } from "#content/giving/store.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { donations } from "#content/store/tables/giving.ts";
import { listTotals, nonprofits } from "#content/store/tables/nonprofits.ts";
import { activityCounts } from "#content/store/tables/operations.ts";
import { changes } from "#content/store/tables/publishing.ts";
import { directoryFact, factsBeginning } from "#content/store/facts.ts";

const weekMs = 7 * 24 * hourMs;

/** The numbers that come from the profiles alone. */
export async function directoryNumbers(
  store: Queryable,
): Promise<Omit<Stats, keyof Counters | "charts">> {
  const totals = await store.db.select().from(listTotals).where(gt(listTotals.members, 0));
  const all = totals.find(({ list }) => list === "all");
  const people = Math.min(all?.people ?? 0, Number.MAX_SAFE_INTEGER);
  return {
    nonprofits: all?.members ?? 0,
    verified_nonprofits: all?.verified ?? 0,
    countries: totals.filter(({ list }) => list.startsWith("country:")).length,
    causes: causeIds.length,
    total_beneficiaries_per_year: people,
    total_beneficiaries: people,
  };
}

/** The counters of the last checkpoint, all zero before the first. */
export async function storedCounters(store: Queryable): Promise<Counters> {
  const value = await directoryFact(store, "counters");
  const result = value === null ? null : Counters.safeParse(JSON.parse(value));
  return result?.success === true ? result.data : countersOf([], 0);
}

/** How often something was counted: altogether, and in the last seven days. */
export type KindCount = { kind: string; count: number; this_week: number };

/** All that was counted, by kind. What a process has counted and not flushed yet is left out. */
export const countedKinds = (store: Queryable, now: Date): Promise<KindCount[]> => {
  const { kind, count: hits, hour } = activityCounts;
  const sinceWeek = now.getTime() - weekMs - hourMs;
  return store.db
    .select({
      kind,
      count: sql<number>`sum(${hits})`,
      this_week: sql<number>`coalesce(sum(${hits}) FILTER (WHERE ${hour} > ${sinceWeek}), 0)`,
    })
    .from(activityCounts)
    .groupBy(kind)
    .execute();
};

/** The counters as of now. What a process has counted and not flushed yet is left out. */
export const liveCounters = async (store: Queryable, now: Date): Promise<Counters> =>
  countersOf(await countedKinds(store, now), await donationCount(store));

export const donationCount = async (store: Queryable): Promise<number> =>
  store.db.$count(donations, sql.raw(countsHere));

/** The counters of what was counted; a kind may be counted in several parts. */
export function countersOf(kindCounts: readonly KindCount[], total_donations: number): Counters {
  const total = (prefix: string, column: "count" | "this_week" = "count") =>
    kindCounts.reduce((all, row) => (row.kind.startsWith(prefix) ? all + row[column] : all), 0);
  return {
    total_donations,
    total_queries: total("query:"),
    queries_this_week: total("query:", "this_week"),
    queries: {
      llms_txt: total("hit:llms_txt"),
      agents_md: total("hit:agents_md"),
      ai_plugin: total("hit:ai_plugin"),
      mcp: total("hit:mcp"),
    },
  };
}

/**
 * Why this store must not be served or published on a network, null when nothing speaks against it. Anybody can compute
 * the keys of a sample's wallets: real money that is sent to one is gone.
 */
export async function sampleTrouble(
  store: Queryable,
  network: DonationNetwork,
): Promise<string | null> {
  if (network !== "solana" || !(await holdsSample(store))) return null;
  return "ALMONER_NETWORK: the store holds invented nonprofits, whose wallets belong to no one, and on `solana` money is real. Name a data folder without a sample (ALMONER_DATA_DIR), filled by bun run import";
}

export const nonprofitCount = async (store: Queryable): Promise<number> =>
  store.db.$count(nonprofits);

/** Of the facts that tell of invented nonprofits. */
export const samplePrefix = "sample:";

/** Whether there are invented nonprofits in the store. */
export const holdsSample = async (store: Queryable): Promise<boolean> =>
  (await factsBeginning(store, samplePrefix)).length > 0;

/** How large the store is; null where the server does not tell. */
export async function storeBytes({ raw }: Pick<Store, "raw">): Promise<number | null> {
  try {
    // Drizzle has no words for pragmas.
    const sizes = "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size";
    const { rows } = await raw.execute(sizes);
    return Number(rows[0]?.["bytes"]) || null;
  } catch {
    // A libSQL server may refuse pragmas.
    return null;
  }
}

/** What was counted since an instant (milliseconds since 1970) under kinds of this beginning ("limited:"), by the rest of the kind. By primary key. */
export async function countedSince(
  store: Queryable,
  beginning: string,
  since: number,
): Promise<Record<string, number>> {
  const { kind, hour } = activityCounts;
  const rows = await store.db
    .select({ kind, number: sql<number>`sum(${activityCounts.count})` })
    .from(activityCounts)
    .where(and(gt(kind, beginning), lt(kind, `${beginning}~`), gt(hour, since)))
    .groupBy(kind);
  return Object.fromEntries(rows.map((row) => [row.kind.slice(beginning.length), row.number]));
}

/** When the first change after this one was made, in milliseconds since 1970; null when there is none. */
export async function firstChangeAfter(store: Queryable, sequence: number): Promise<number | null> {
  const [first] = await store.db
    .select({ changed_at: changes.changed_at })
    .from(changes)
    .where(gt(changes.sequence, sequence))
    .orderBy(asc(changes.sequence))
    .limit(1);
  return first?.changed_at ?? null;
}
