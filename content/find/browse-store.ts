import { z } from "zod";
import {
  type BrowseQuery,
  type FacetCounts,
  type Filters,
  type ListSort,
  entriesPerPage,
  givenFilters,
  noCause,
  noFilters,
  staticPagesMax,
} from "#content/contract/browse.ts";
import type { NonprofitSummary } from "#content/contract/nonprofit.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { countryCode } from "#content/nonprofit/country.ts";
import { idsInList, membersByList } from "#content/nonprofit/list-store.ts";
import { newestNonprofitId } from "#content/nonprofit/record-store.ts";
import { replacements } from "#content/nonprofit/register-facts.ts";
import type { Queryable } from "#content/store/open.ts";
import { type BrowseColumns, type BrowseRow, browseColumns } from "./browse-columns.ts";

/** Part of the directory: the number of matches, the ids on this page, and the count of each value of each facet. */
export type BrowsePage = { total: number; ids: number[]; facets: FacetCounts };

/** A page of a list for people, before rendering. Pages count from 1. */
export type FoundList = Pick<BrowseQuery, "filters" | "sort"> &
  Pick<BrowsePage, "total" | "facets"> & { page: number; items: NonprofitSummary[] };

/** Filters, counts and sorts the directory in its current state, including the writes of all processes. */
export type Browse = ReturnType<typeof openBrowse>;

/** How many nonprofits one statement reads. */
const rowsPerRead = 5_000;
/** After more changes than this, all columns are read again. */
const changesMax = 20_000;

/**
 * Reads the columns on first use, later only what changed. Up to `sortedMax` matches are sorted; more are found by walking
 * along the whole list.
 */
export function openBrowse(store: Queryable, { sortedMax = 5_000 } = {}) {
  let columns = browseColumns();
  let readSequence = -1;
  let reading: Promise<void> | null = null;

  async function readChanges(): Promise<void> {
    const newest = await newestSequence(store);
    if (newest === readSequence) return;
    // Fewer changes than before mean that the store was restored.
    if (readSequence === -1 || newest < readSequence || newest - readSequence > changesMax) {
      const last = await newestNonprofitId(store);
      columns = browseColumns(last + 1_000);
      for (let after = 0; after < last; after += rowsPerRead) {
        await readRows(store, columns, idRangeSql, [after, after + rowsPerRead]);
      }
    } else await readRows(store, columns, changedRowsSql, [readSequence, newest]);
    readSequence = newest;
  }

  /** Reads once at a time. A read that began before the newest write does not serve a request that came after it. */
  async function upToDate(): Promise<BrowseColumns> {
    await reading?.catch(() => undefined);
    reading ??= readChanges().finally(() => {
      reading = null;
    });
    await reading;
    return columns;
  }

  /** One page of the `total` nonprofits that pass, in order. */
  async function pageOf(
    current: BrowseColumns,
    { filters, sort, limit, offset }: SortedQuery,
    total: number,
  ): Promise<number[]> {
    if (offset >= total) return [];
    if (sort === "income" || sort === "completeness") {
      return current.sorted(current.ids(filters), sort, offset + limit).slice(offset);
    }
    const list = listOf(filters);
    const isList = givenFilters(filters).length === (list === "all" ? 0 : 1);
    const part = { limit, offset };
    if (isList && sort !== "name") return idsInOrder(store, sort, { list, ...part });
    return total <= sortedMax
      ? idsOf(store, sortedSql[sort], [JSON.stringify(current.ids(filters)), limit, offset])
      : walk(store, sort, current.matcher(filters), { list, ...part });
  }

  return {
    /** One page of what passes the filters, with counts. */
    page: async (query: BrowseQuery): Promise<BrowsePage> => {
      const current = await upToDate();
      const { total, facets } = current.count(query.filters);
      return { total, ids: await pageOf(current, query, total), facets };
    },
    /** One page of what passes the filters, by impact (beneficiaries), then verified: a search without words. */
    byImpact: async (query: Omit<SortedQuery, "sort">): Promise<Omit<BrowsePage, "facets">> => {
      const current = await upToDate();
      const total = current.total(query.filters);
      return { total, ids: await pageOf(current, { ...query, sort: "impact" }, total) };
    },
    /** The count of each value of each facet, of these nonprofits or of all. */
    facets: async (ids: readonly number[] | null, filters: Filters): Promise<FacetCounts> =>
      (await upToDate()).count(filters, ids).facets,
    /** The count of each value of each facet in a list: `all`, `cause:<id>` or `country:<code>`. */
    facetsOf: async (list: string): Promise<FacetCounts> => {
      const [facet = "", value = ""] = list.split(":");
      const filters = list === "all" ? noFilters : { ...noFilters, [facet]: value };
      return (await upToDate()).count(filters).facets;
    },
  };
}

/** A list that contains all matches. */
function listOf({ cause, country }: Filters): string {
  const causeId = cause?.trim().toLowerCase() ?? noCause;
  if (causeId !== noCause) return `cause:${causeId}`;
  return country === null ? "all" : `country:${countryCode(country) ?? ""}`;
}

type SortedQuery = Omit<BrowseQuery, "sort"> & { sort: ListSort | "impact" };
type StoredSort = "relevance" | "impact" | "name";
type ListWalk = { list: string; limit: number; offset: number };
const firstWalk = 1_000;
const walkMax = 64_000;

/** Walks along a list until the page is full. */
async function walk(
  store: Queryable,
  sort: StoredSort,
  matches: (id: number) => boolean,
  { list, limit, offset }: ListWalk,
): Promise<number[]> {
  const pageIds: number[] = [];
  let skip = offset;
  for (let at = 0, size = firstWalk; ; at += size, size = Math.min(size * 2, walkMax)) {
    const part = { limit: size, offset: at };
    const ids =
      sort === "name"
        ? await idsOf(store, byNameSql, [size, at])
        : await idsInOrder(store, sort, { list, ...part });
    for (const id of ids) {
      if (!matches(id) || skip-- > 0) continue;
      pageIds.push(id);
      if (pageIds.length === limit) return pageIds;
    }
    if (ids.length < size) return pageIds;
  }
}

const idsInOrder = (
  store: Queryable,
  sort: "relevance" | "impact",
  { list, limit, offset }: ListWalk,
): Promise<number[]> =>
  sort === "impact"
    ? idsOf(store, byImpactSql, [list, limit, offset])
    : idsInList(store, list, { limit, offset });

// SQL, to get one JSON text instead of many rows.

/** Index: listings_by_impact. */
const byImpactSql = `
  SELECT json_group_array(nonprofit_id) AS ids
  FROM (
    SELECT nonprofit_id FROM listings
    WHERE list = ?
    ORDER BY impact_order, tie_key, nonprofit_id
    LIMIT ? OFFSET ?
  )`;

/** SQLite uses this index only when told to. */
const byNameSql = `
  SELECT json_group_array(nonprofit_id) AS ids
  FROM (
    SELECT nonprofit_id FROM listings INDEXED BY listings_by_name
    WHERE list = 'all'
    ORDER BY substr(tie_key, 7), nonprofit_id
    LIMIT ? OFFSET ?
  )`;

const sortedBy = (order: string) => `
  SELECT json_group_array(nonprofit_id) AS ids
  FROM (
    SELECT nonprofit_id
    FROM json_each(?) AS wanted
    CROSS JOIN listings ON nonprofit_id = wanted.value AND list = 'all'
    ORDER BY ${order}
    LIMIT ? OFFSET ?
  )`;

const sortedSql = {
  relevance: sortedBy("list_order, tie_key, nonprofit_id"),
  impact: sortedBy("impact_order, tie_key, nonprofit_id"),
  name: sortedBy("substr(tie_key, 7), nonprofit_id"),
};

const Ids = z.array(z.number());

async function idsOf(store: Queryable, sql: string, args: (string | number)[]): Promise<number[]> {
  const { rows } = await store.raw.execute({ sql, args });
  return Ids.parse(JSON.parse(String(rows[0]?.["ids"])));
}

/** Whether the record `own` does not count, as `countingRecords` does it. */
const replacedSql = `EXISTS (
        SELECT 1 FROM register_records AS whole
        WHERE whole.org_id = own.org_id AND (own.register, whole.register) IN
          (VALUES ${replacements.map(([selection, whole]) => `('${selection}', '${whole}')`).join(", ")})
      )`;

/**
 * The columns of each nonprofit. The income is summed in SQL, as `incomeOf` does it, because reading its text would
 * take longer.
 */
const rowsSql = (which: string) => `
  SELECT json_group_array(json_array(
    n.id, l.tie_key IS NOT NULL, n.country_code, n.region, n.city, n.verified,
    n.usdc_wallet IS NOT NULL, coalesce(n.website, '') <> '',
    (
      SELECT group_concat(cause_id) FROM nonprofit_causes WHERE nonprofit_id = n.id
    ),
    (
      SELECT max(coalesce(
        iif(json_type(facts, '$.revenue') IN ('integer', 'real'), facts ->> '$.revenue', NULL),
        iif(json_type(facts, '$.income') IN ('integer', 'real'), facts ->> '$.income', NULL)
      )) FROM register_records AS own
      WHERE nonprofit_id = n.id AND NOT ${replacedSql}
    ),
    CAST(substr(l.tie_key, 1, 6) AS INTEGER), n.ghd_aligned
  )) AS rows
  FROM nonprofits AS n
  LEFT JOIN listings AS l ON l.nonprofit_id = n.id AND l.list = 'all'
  WHERE ${which}`;

const idRangeSql = rowsSql("n.id > ? AND n.id <= ?");
const changedRowsSql = rowsSql(
  "n.id IN (SELECT nonprofit_id FROM changes WHERE sequence > ? AND sequence <= ?)",
);

type Row = [
  id: number,
  listed: number,
  country_code: string | null,
  region: string | null,
  city: string | null,
  verified: number,
  has_wallet: number,
  has_website: number,
  causes: string | null,
  income: number | null,
  standing: number | null,
  ghd_aligned: number,
];

const browseRow = ([
  id,
  listed,
  country_code,
  region,
  city,
  verified,
  has_wallet,
  has_website,
  causes,
  income,
  standing,
  ghd_aligned,
]: Row): BrowseRow => ({
  id,
  isListed: listed === 1,
  causes: causes?.split(",") ?? [],
  country_code,
  region,
  city,
  claimed: verified === 1,
  has_wallet: has_wallet === 1,
  has_website: has_website === 1,
  income,
  standing: standing ?? 0,
  ghd_aligned: ghd_aligned === 1,
});

async function readRows(
  store: Queryable,
  columns: BrowseColumns,
  sql: string,
  args: number[],
): Promise<void> {
  const { rows } = await store.raw.execute({ sql, args });
  for (const row of JSON.parse(String(rows[0]?.["rows"])) as Row[]) columns.set(browseRow(row));
}

/** The places of nonprofits in lists by `list_order`, counted from 0. */
export type ListIndex = ReturnType<typeof openListIndex>;

/** Places beyond this are on no page of the bundle. */
const foremost = { limit: entriesPerPage * staticPagesMax, offset: 0 };

/** Reads only the first pages of a list, so that the cost of a change does not grow with the directory. */
export function openListIndex(store: Queryable) {
  const browse = openBrowse(store);
  return {
    facets: browse.facetsOf,
    /** The places of these nonprofits in their lists, or in those of one kind; Infinity: on no page. */
    places: async (ids: readonly number[], kind?: "cause" | "country") => {
      const counts = new Map<number, Map<string, number>>();
      for (const [list, members] of await membersByList(store, ids, kind)) {
        const order = await idsInList(store, list, foremost);
        for (const id of members) {
          const place = order.indexOf(id);
          const lists = counts.getOrInsertComputed(id, () => new Map<string, number>());
          lists.set(list, place === -1 ? Infinity : place);
        }
      }
      return counts;
    },
  };
}

/** A part of a list: the ids that leave `residue` when divided by `parts`. */
export type PartOfList = { list: string; parts: number; residue: number };

const inPartSql = `
  SELECT json_group_array(nonprofit_id) AS ids
  FROM (
    SELECT nonprofit_id FROM listings
    WHERE list = ? AND nonprofit_id % ? = ?
    ORDER BY nonprofit_id
  )`;

/** Ids in a part of a list, ascending. */
export const idsInPart = (store: Queryable, { list, parts, residue }: PartOfList) =>
  idsOf(store, inPartSql, [list, parts, residue]);

export type NewestInPart = { list: string; residue: number; sequence: number };

const touchedBy = {
  all: "SELECT 'all' AS list, nonprofit_id, sequence FROM changed",
  cause: `SELECT 'cause:' || cause_id AS list, nonprofit_id, sequence
          FROM changed JOIN nonprofit_causes USING (nonprofit_id)
          UNION ALL
          SELECT value, nonprofit_id, sequence
          FROM changed, json_each(moved_lists) WHERE value LIKE 'cause:%'`,
};

/**
 * The newest change of each part of all nonprofits, or of each cause, including nonprofits that left it. Parts are the
 * residues of ids divided by `parts`.
 */
export async function newestByPart(
  store: Queryable,
  { after, upTo }: { after: number; upTo: number },
  parts: number,
  lists: keyof typeof touchedBy,
): Promise<NewestInPart[]> {
  const { rows } = await store.raw.execute({
    sql: `WITH changed AS (
            SELECT nonprofit_id, moved_lists, sequence FROM changes
            WHERE sequence > ?1 AND sequence <= ?2 AND nonprofit_id IS NOT NULL
          ), touched AS (${touchedBy[lists]})
          SELECT list, nonprofit_id % ?3 AS residue, max(sequence) AS sequence
          FROM touched GROUP BY 1, 2`,
    args: [after, upTo, parts],
  });
  return rows.map((row) => ({
    list: String(row["list"]),
    residue: Number(row["residue"]),
    sequence: Number(row["sequence"]),
  }));
}

/** The size of each part of the whole list, by residue; empty parts are left out. */
export async function countsByPart(store: Queryable, parts: number): Promise<Map<number, number>> {
  const { rows } = await store.raw.execute({
    sql: `SELECT nonprofit_id % ? AS residue, count(*) AS count FROM listings
          WHERE list = 'all' GROUP BY 1`,
    args: [parts],
  });
  return new Map(rows.map((row) => [Number(row["residue"]), Number(row["count"])]));
}
