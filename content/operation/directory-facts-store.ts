import { and, gt, lt, sql } from "drizzle-orm";
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
import { factsBeginning, jsonFact } from "#content/store/facts.ts";
import { valuesOf } from "#content/store/query.ts";

const weekMs = 7 * 24 * hourMs;

/** The statistics that depend on profiles only. */
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

/** The counters of the last checkpoint; zeros before the first. */
export const storedCounters = async (store: Queryable): Promise<Counters> =>
  (await jsonFact(store, "counters", Counters.nullable().catch(null))) ?? countersOf([], 0);

/** How often a kind was counted: in total, and in the last seven days. */
export type KindCount = { kind: string; count: number; this_week: number };

/** All counts by kind, without what processes have not flushed. */
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

/** The current counters, without what processes have not flushed. */
export const liveCounters = async (store: Queryable, now: Date): Promise<Counters> =>
  countersOf(await countedKinds(store, now), await donationCount(store));

export const donationCount = async (store: Queryable): Promise<number> =>
  store.db.$count(donations, sql.raw(countsHere));

/** The counters from counts by kind; a kind may occur more than once. */
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
 * Why this store must not be served or published on a network; null if it may. Anyone can compute the keys of sample
 * wallets, so real money sent to one is lost.
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

/** The prefix of facts about invented nonprofits. */
export const samplePrefix = "sample:";

/** Whether the store holds invented nonprofits. */
export const holdsSample = async (store: Queryable): Promise<boolean> =>
  (await factsBeginning(store, samplePrefix)).length > 0;

/** The size of the store in bytes; null if the server does not tell. */
export async function storeBytes({ raw }: Pick<Store, "raw">): Promise<number | null> {
  try {
    // SQL, because drizzle does not support pragmas.
    const sizes = "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size";
    const { rows } = await raw.execute(sizes);
    return Number(rows[0]?.["bytes"]) || null;
  } catch {
    // A libSQL server may refuse pragmas.
    return null;
  }
}

/** Counts since an instant (ms since 1970) of kinds with this prefix, by the rest of the kind. By primary key. */
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

/** When the first change after this one was made, in milliseconds since 1970; null if there is none. */
export async function firstChangeAfter(store: Queryable, sequence: number): Promise<number | null> {
  const { changed_at, sequence: number } = changes;
  const first = { by: number, limit: 1 };
  const [at = null] = await valuesOf(store, changed_at, gt(number, sequence), first);
  return at;
}
