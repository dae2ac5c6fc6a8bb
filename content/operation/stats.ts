import { causeIds } from "#content/contract/cause.ts";
import { Counters, type Stats } from "#content/contract/stats.ts";
import { countsHere } from "#content/donation/store.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";

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

/**
 * Writes a fact that pages show, for example the publication day or the counters (as JSON), and marks the pages of
 * the directory as changed. Does nothing when the fact is so already.
 */
export async function saveDirectoryFact(
  tx: WriteTransaction,
  { name, value, now }: { name: string; value: string; now: Date },
): Promise<void> {
  if ((await directoryFact(tx, name)) === value) return;
  await tx.raw.execute({
    sql: `INSERT INTO directory_facts (name, value, updated_at) VALUES (?, ?, ?)
          ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
    args: [name, value, now.getTime()],
  });
  await tx.raw.execute({
    sql: `INSERT INTO changes (kind, fields, origin, changed_at) VALUES ('directory', ?, 'directory', ?)`,
    args: [JSON.stringify([name]), now.getTime()],
  });
}

const noCounters: Counters = {
  total_donations: 0,
  total_queries: 0,
  queries_this_week: 0,
  queries: { llms_txt: 0, agents_md: 0, ai_plugin: 0, mcp: 0 },
};
