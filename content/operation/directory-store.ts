import { causeIds } from "#content/contract/cause.ts";
import type { DonationNetwork } from "#content/contract/transfer.ts";
import { Counters, type Stats } from "#content/contract/stats.ts";
import { countsHere } from "#content/donation/store.ts";
import type { Queryable, Store } from "#content/store/open.ts";

const hourMs = 3_600_000;
const weekMs = 7 * 24 * hourMs;

/** GET /api/stats: the directory's numbers with counters, live ones from the service, stored ones in the bundle. */
export const directoryStats = async (store: Queryable, counters: Counters): Promise<Stats> => ({
  ...(await directoryNumbers(store)),
  ...counters,
});

/** The numbers that come from the profiles alone. Reads all of them: 10 to 20 ms at 41,000. */
export async function directoryNumbers(store: Queryable): Promise<Omit<Stats, keyof Counters>> {
  const { rows } = await store.raw.execute({
    sql: `SELECT count(*) AS nonprofits, coalesce(sum(verified), 0) AS verified,
            count(DISTINCT country_code) AS countries, total(beneficiaries_per_year) AS people
          FROM nonprofits
          WHERE status <> 'withdrawn'`,
    args: [],
  });
  const [row] = rows;
  const people = Math.min(Number(row?.["people"] ?? 0), Number.MAX_SAFE_INTEGER);
  return {
    nonprofits: Number(row?.["nonprofits"] ?? 0),
    verified_nonprofits: Number(row?.["verified"] ?? 0),
    countries: Number(row?.["countries"] ?? 0),
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
  const { rows } = await store.raw.execute({
    sql: "SELECT value FROM directory_facts WHERE name = ?",
    args: [name],
  });
  const value = rows[0]?.["value"];
  return typeof value === "string" ? value : null;
}

/** The counters as of now. What a process has counted and not flushed yet is left out. */
export async function liveCounters(store: Queryable, now: Date): Promise<Counters> {
  const { rows } = await store.raw.execute({
    sql: `SELECT kind, sum(count) AS count,
            coalesce(sum(count) FILTER (WHERE hour > ?), 0) AS this_week
          FROM activity_counts
          GROUP BY kind`,
    args: [now.getTime() - weekMs - hourMs],
  });
  const given = await store.raw.execute({
    sql: `SELECT count(*) AS count FROM donations WHERE ${countsHere}`,
    args: [],
  });
  const queries = rows.filter((row) => String(row["kind"]).startsWith("query:"));
  const sum = (column: string) => queries.reduce((all, row) => all + Number(row[column]), 0);
  const hits = (channel: string) =>
    Number(rows.find((row) => row["kind"] === `hit:${channel}`)?.["count"] ?? 0);
  return {
    total_donations: Number(given.rows[0]?.["count"] ?? 0),
    total_queries: sum("count"),
    queries_this_week: sum("this_week"),
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
  const { rows } = await store.raw.execute({
    sql: "SELECT 1 FROM directory_facts WHERE name LIKE 'sample:%' LIMIT 1",
    args: [],
  });
  if (rows.length === 0) return null;
  return "ALMONER_NETWORK: the store holds invented nonprofits, whose wallets belong to no one, and on `solana` money is real. Name a data folder without a sample (ALMONER_DATA_DIR), filled by bun run import";
}

/** How large the store is; null where the server does not tell. */
export async function storeBytes({ raw }: Pick<Store, "raw">): Promise<number | null> {
  try {
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
  const { rows } = await store.raw.execute({
    sql: `SELECT substr(kind, 9) AS name, sum(count) AS number
          FROM activity_counts
          WHERE kind > 'limited:' AND kind < 'limited;' AND hour > ?
          GROUP BY kind`,
    args: [since],
  });
  return Object.fromEntries(rows.map((row) => [String(row["name"]), Number(row["number"])]));
}

/** When the first change after this one was made, in milliseconds since 1970; null when there is none. */
export async function firstChangeAfter(store: Queryable, sequence: number): Promise<number | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT changed_at FROM changes WHERE sequence > ? ORDER BY sequence LIMIT 1",
    args: [sequence],
  });
  return rows[0] === undefined ? null : Number(rows[0]["changed_at"]);
}

/** When the longest waiting webhook was queued, in milliseconds since 1970; null when none waits. */
export async function oldestPendingWebhook(store: Queryable): Promise<number | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT created_at FROM webhook_deliveries WHERE status = 'pending' ORDER BY id LIMIT 1",
    args: [],
  });
  return rows[0] === undefined ? null : Number(rows[0]["created_at"]);
}
