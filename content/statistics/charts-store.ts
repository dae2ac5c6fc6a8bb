import {
  and,
  between,
  count,
  eq,
  gte,
  inArray,
  isNotNull,
  max,
  ne,
  notInArray,
  type SQL,
  sql,
} from "drizzle-orm";
import { isoDay } from "#content/contract/base/time.ts";
import { Charts, type Counters, type Stats, valueSources } from "#content/contract/stats.ts";
import { countsHere } from "#content/giving/store.ts";
import { countryList } from "#content/nonprofit/list-store.ts";
import { filings } from "#content/nonprofit/register-facts.ts";
import { saveDirectoryFact } from "#content/nonprofit/save.ts";
import { directoryNumbers } from "#content/operation/directory-facts-store.ts";
import { directoryFact, jsonFact } from "#content/store/facts.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { submissions } from "#content/store/tables/enrichment.ts";
import { donations } from "#content/store/tables/giving.ts";
import {
  impactMetrics,
  nonprofitCauses,
  nonprofits,
  programs,
  provenance,
} from "#content/store/tables/nonprofits.ts";
import { changes } from "#content/store/tables/publishing.ts";

export const chartsFact = "charts";

/** GET /api/stats: the directory's statistics with counters: live ones in the service, stored ones in the bundle. */
export const directoryStats = async (store: Queryable, counters: Counters): Promise<Stats> => ({
  ...(await directoryNumbers(store)),
  ...counters,
});

/** The stored data of the charts, or current data if none is stored yet. */
export const storedCharts = async (store: Queryable): Promise<Charts> =>
  (await jsonFact(store, chartsFact, Charts.nullable().catch(null))) ??
  countCharts(store, await today(store));

/** Counts the data of the charts and stores it for all pages. Writes nothing if it has not changed. */
export async function storeCharts(store: Store, now: Date): Promise<void> {
  const value = JSON.stringify(await countCharts(store, isoDay(now.getTime())));
  if ((await directoryFact(store, chartsFact)) === value) return;
  await store.write((tx) => saveDirectoryFact(tx, { name: chartsFact, value, now }));
}

/** Published files depend only on the store, so "today" is the publication day or the day of its newest change. */
async function today(store: Queryable): Promise<string> {
  const [newest] = await store.db.select({ at: max(changes.changed_at) }).from(changes);
  return (await directoryFact(store, "publication_day")) ?? isoDay(newest?.at ?? 0);
}

/** Reads all profiles, values and submissions: half a second for 41,000 profiles, in slices of 20 ms. */
export async function countCharts(store: Queryable, as_of: string): Promise<Charts> {
  const months = monthsTo(as_of);
  const fieldCounts = await sumsIn(store, nonprofits, (ids) => heldValues(store, ids));
  const came = await sumsIn(store, nonprofits, (ids) => arrivals(store, ids));
  const from = await sumsIn(store, nonprofits, (ids) => origins(store, ids));
  const decisionCounts = await sumsIn(store, submissions, (ids) => decisions(store, ids));
  const giftsByMonth = new Map(
    (await gifts(store, months[0] ?? "")).map((gift) => [gift.month, gift]),
  );
  const all = fieldCounts.get("all") ?? 0;
  fieldCounts.delete("all");
  const values = [...from.values()].reduce((sum, share) => sum + share, 0);
  return {
    as_of,
    countries: (await countryList(store))
      .map(({ code, name, count: total }) => ({
        country_code: code,
        country: name,
        nonprofits: total,
      }))
      .toSorted((a, b) => b.nonprofits - a.nonprofits),
    completeness: [...fieldCounts]
      .map(([field, total]) => ({ field, nonprofits: total, percent: percent(total, all) }))
      .toSorted((a, b) => b.nonprofits - a.nonprofits),
    growth: fromFirst(growthOf(came, months), (row) => row.nonprofits > 0),
    sources: valueSources
      .map((source) => ({ source, values: from.get(source) ?? 0 }))
      .map((slice) => ({ ...slice, percent: percent(slice.values, values) })),
    decisions: fromFirst(
      months.map((month) => ({
        month,
        applied: decisionCounts.get(`applied ${month}`) ?? 0,
        rejected: decisionCounts.get(`rejected ${month}`) ?? 0,
      })),
      ({ applied, rejected }) => applied + rejected > 0,
    ),
    gifts: fromFirst(
      months.map((month) => giftsByMonth.get(month) ?? { month, gifts: 0, usdc: 0 }),
      (row) => row.gifts > 0,
    ),
  };
}

type NamedCounts = { name: string; number: number }[];
const sliceSize = 2_000;

/** Sums counts over slices of ids, so that other work on this thread waits for one slice at most. */
async function sumsIn(
  store: Queryable,
  table: typeof nonprofits | typeof submissions,
  ask: (ids: SQL | undefined) => Promise<NamedCounts>,
): Promise<Map<string, number>> {
  const [newest] = await store.db.select({ id: max(table.id) }).from(table);
  const sums = new Map<string, number>();
  for (let after = 0; after < (newest?.id ?? 0); after += sliceSize) {
    const slice = await ask(between(table.id, after + 1, after + sliceSize));
    for (const { name, number } of slice) sums.set(name, (sums.get(name) ?? 0) + number);
    await Bun.sleep(0);
  }
  return sums;
}

const isListed = (ids: SQL | undefined) => and(ids, ne(nonprofits.status, "withdrawn"));
const monthOf = (column: typeof nonprofits.created_at | typeof submissions.decided_at) =>
  sql<string>`strftime('%Y-%m', ${column} / 1000, 'unixepoch')`;

/** The number of profiles, and of those with a value in each field. */
async function heldValues(store: Queryable, ids: SQL | undefined): Promise<NamedCounts> {
  const { city, founded_year, annual_budget_usd, website, mission, description } = nonprofits;
  const { beneficiaries_per_year, team_size, donation_url, usdc_wallet } = nonprofits;
  const idsIn = (table: typeof nonprofitCauses | typeof programs | typeof impactMetrics) =>
    sql<number>`total(EXISTS (SELECT 1 FROM ${table} WHERE ${table.nonprofit_id} = ${nonprofits.id}))`;
  const columns = { city, founded_year, annual_budget_usd, website, mission, description };
  const otherColumns = { beneficiaries_per_year, team_size, donation_url, usdc_wallet };
  const counts = Object.entries({ ...columns, ...otherColumns }).map(([name, column]) => [
    name,
    count(column),
  ]);
  const [row = {}] = await store.db
    .select({
      all: count(),
      causes: idsIn(nonprofitCauses),
      programs: idsIn(programs),
      impact_metrics: idsIn(impactMetrics),
      ...(Object.fromEntries(counts) as Record<string, SQL<number>>),
    })
    .from(nonprofits)
    .where(isListed(ids));
  return Object.entries(row).map(([name, number]) => ({ name, number: Number(number) }));
}

/** Only nonprofits listed today; withdrawn ones are left out of earlier months too. */
const arrivals = (store: Queryable, ids: SQL | undefined): Promise<NamedCounts> =>
  store.db
    .select({ name: monthOf(nonprofits.created_at), number: count() })
    .from(nonprofits)
    .where(isListed(ids))
    .groupBy(sql`1`);

/** A filing's rule only names its form; nothing was derived. */
const isDerived = and(isNotNull(provenance.rule), notInArray(provenance.source, [...filings]));

const origins = (store: Queryable, ids: SQL | undefined): Promise<NamedCounts> =>
  store.db
    .select({
      name: sql<string>`iif(${isDerived}, 'derived', ${provenance.set_by})`,
      number: count(),
    })
    .from(provenance)
    .innerJoin(nonprofits, eq(nonprofits.id, provenance.nonprofit_id))
    .where(isListed(ids))
    .groupBy(sql`1`);

const decisions = (store: Queryable, ids: SQL | undefined): Promise<NamedCounts> =>
  store.db
    .select({
      name: sql<string>`${submissions.status} || ' ' || ${monthOf(submissions.decided_at)}`,
      number: count(),
    })
    .from(submissions)
    .where(
      and(ids, inArray(submissions.status, ["applied", "rejected"]), eq(submissions.test_data, 0)),
    )
    .groupBy(sql`1`);

/** Gifts by month, on the chain where the directory settles. */
const gifts = (store: Queryable, firstMonth: string) =>
  store.db
    .select({
      month: sql<string>`strftime('%Y-%m', ${donations.settled_at} / 1000, 'unixepoch')`,
      gifts: count(),
      usdc: sql<number>`total(${donations.amount_micro_usdc}) / 1e6`,
    })
    .from(donations)
    .where(and(sql.raw(countsHere), gte(donations.settled_at, Date.parse(`${firstMonth}-01`))))
    .groupBy(sql`1`);

/** The most months in a chart. */
const monthsMax = 24;

/** The months up to that of a day, as YYYY-MM, oldest first. */
export const monthsTo = (day: string): string[] =>
  Array.from({ length: monthsMax }, (_, at) =>
    new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - monthsMax + at, 1))
      .toISOString()
      .slice(0, 7),
  );

/** Rows by month from the first that has any value; none if no row has. */
export function fromFirst<Row>(rows: readonly Row[], holds: (row: Row) => boolean): Row[] {
  const first = rows.findIndex(holds);
  return first === -1 ? [] : rows.slice(first);
}

/** A percentage with one decimal; 0 if the whole is 0. */
export const percent = (part: number, total: number): number =>
  total === 0 ? 0 : Math.round((part / total) * 1_000) / 10;

/** The number added in each month, and the total at its end, including earlier months. */
export function growthOf(came: ReadonlyMap<string, number>, months: readonly string[]) {
  const [first = ""] = months;
  let sum = 0;
  for (const [month, number] of came) if (month < first) sum += number;
  return months.map((month) => {
    const added = came.get(month) ?? 0;
    sum += added;
    return { month, added, nonprofits: sum };
  });
}
