import { and, asc, count, countDistinct, eq, gt, like, lt, ne, sql, sum } from "drizzle-orm";
import { causeIds } from "#content/contract/cause.ts";
import type { DonationNetwork } from "#content/contract/transfer.ts";
import { Counters, type Stats } from "#content/contract/stats.ts";
import { countsHere } from "#content/donation/store.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { donations } from "#content/store/tables/giving.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { activityCounts, webhookDeliveries } from "#content/store/tables/operations.ts";
import { changes, directoryFacts } from "#content/store/tables/publishing.ts";

const hourMs = 3_600_000;
const weekMs = 7 * 24 * hourMs;

/** GET /api/stats: the directory's numbers with counters, live ones from the service, stored ones in the bundle. */
export const directoryStats = async (store: Queryable, counters: Counters): Promise<Stats> => ({
  ...(await directoryNumbers(store)),
  ...counters,
});

/** The numbers that come from the profiles alone. Reads all of them: 10 to 20 ms at 41,000. */
export async function directoryNumbers(store: Queryable): Promise<Omit<Stats, keyof Counters>> {
  const [row] = await store.db
    .select({
      nonprofits: count(),
      verified: sum(nonprofits.verified).mapWith(Number),
      countries: countDistinct(nonprofits.country_code),
      people: sql<number>`total(${nonprofits.beneficiaries_per_year})`,
    })
    .from(nonprofits)
    .where(ne(nonprofits.status, "withdrawn"));
  const people = Math.min(row?.people ?? 0, Number.MAX_SAFE_INTEGER);
  return {
    nonprofits: row?.nonprofits ?? 0,
    verified_nonprofits: row?.verified ?? 0,
    countries: row?.countries ?? 0,
    causes: causeIds.length,
    total_beneficiaries_per_year: people,
    total_beneficiaries: people,
  };
}

/** The counters of the last checkpoint, all zero before the first. */
export async function storedCounters(store: Queryable): Promise<Counters> {
  const value = await directoryFact(store, "counters");
  const parsed = value === null ? null : Counters.safeParse(JSON.parse(value));
  return parsed?.success === true ? parsed.data : noCounters;
}

/** A fact of the directory as a whole, for example publication_day; null when it is not set. */
export async function directoryFact(store: Queryable, name: string): Promise<string | null> {
  const [fact] = await store.db
    .select({ value: directoryFacts.value })
    .from(directoryFacts)
    .where(eq(directoryFacts.name, name));
  return fact?.value ?? null;
}

/** The counters as of now. What a process has counted and not flushed yet is left out. */
export async function liveCounters(store: Queryable, now: Date): Promise<Counters> {
  const sinceWeek = now.getTime() - weekMs - hourMs;
  const thisWeek = sql<number>`coalesce(sum(${activityCounts.count}) FILTER (WHERE ${activityCounts.hour} > ${sinceWeek}), 0)`;
  const counted = await store.db
    .select({
      kind: activityCounts.kind,
      count: sql<number>`sum(${activityCounts.count})`,
      this_week: thisWeek,
    })
    .from(activityCounts)
    .groupBy(activityCounts.kind);
  const queries = counted.filter(({ kind }) => kind.startsWith("query:"));
  const total = (column: "count" | "this_week") =>
    queries.reduce((all, row) => all + row[column], 0);
  const hits = (channel: string) =>
    counted.find(({ kind }) => kind === `hit:${channel}`)?.count ?? 0;
  return {
    total_donations: await store.db.$count(donations, sql.raw(countsHere)),
    total_queries: total("count"),
    queries_this_week: total("this_week"),
    queries: {
      llms_txt: hits("llms_txt"),
      agents_md: hits("agents_md"),
      ai_plugin: hits("ai_plugin"),
      mcp: hits("mcp"),
    },
  };
}

const noCounters: Counters = {
  total_donations: 0,
  total_queries: 0,
  queries_this_week: 0,
  queries: { llms_txt: 0, agents_md: 0, ai_plugin: 0, mcp: 0 },
};

/**
 * Why this store must not be served or published on a network, null when nothing speaks against it. Anybody can compute
 * the keys of a sample's wallets: real money that is sent to one is gone.
 */
export async function sampleTrouble(
  store: Queryable,
  network: DonationNetwork,
): Promise<string | null> {
  if (network !== "solana") return null;
  const samples = await store.db.$count(directoryFacts, like(directoryFacts.name, "sample:%"));
  if (samples === 0) return null;
  return "ALMONER_NETWORK: the store holds invented nonprofits, whose wallets belong to no one, and on `solana` money is real. Name a data folder without a sample (ALMONER_DATA_DIR), filled by bun run import";
}

/** How large the store is; null where the server does not tell. */
export async function storeBytes({ raw }: Pick<Store, "raw">): Promise<number | null> {
  try {
    // Drizzle has no words for pragmas.
    const pages = await raw.execute("PRAGMA page_count");
    const size = await raw.execute("PRAGMA page_size");
    return Number(pages.rows[0]?.["page_count"]) * Number(size.rows[0]?.["page_size"]) || null;
  } catch {
    // A libSQL server may refuse pragmas.
    return null;
  }
}

/** Requests refused by rate limits since an instant (milliseconds since 1970), by the limit's name. By primary key. */
export async function refusedSince(
  store: Queryable,
  since: number,
): Promise<Record<string, number>> {
  const { kind, hour } = activityCounts;
  const found = await store.db
    .select({ kind, number: sql<number>`sum(${activityCounts.count})` })
    .from(activityCounts)
    .where(and(gt(kind, "limited:"), lt(kind, "limited;"), gt(hour, since)))
    .groupBy(kind);
  return Object.fromEntries(found.map((row) => [row.kind.slice("limited:".length), row.number]));
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

/** When the longest waiting webhook was queued, in milliseconds since 1970; null when none waits. */
export async function oldestPendingWebhook(store: Queryable): Promise<number | null> {
  const [oldest] = await store.db
    .select({ created_at: webhookDeliveries.created_at })
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.status, "pending"))
    .orderBy(asc(webhookDeliveries.id))
    .limit(1);
  return oldest?.created_at ?? null;
}
