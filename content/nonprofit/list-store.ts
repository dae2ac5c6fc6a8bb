import { and, asc, between, exists, gt, ne, sql } from "drizzle-orm";
import type { CauseList } from "#content/contract/browse.ts";
import causes from "#content/editorial/causes.json";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { inValues, rowsAsJson, rowsFromJson } from "#content/store/query.ts";
import {
  listings,
  listTotals,
  nonprofits,
  sitemapChunks,
} from "#content/store/tables/nonprofits.ts";
import { countryName } from "./country.ts";
import { recordsById } from "./record-store.ts";

/** A section of a list. */
type Part = { limit: number; offset: number };

/**
 * Ids of a list, or of a part of it, in list order: verified first, then impact, then name. SQL, because fetching row by row
 * takes several times as long as one JSON text. Index: listings_by_list_order.
 */
export async function idsInList(
  store: Queryable,
  list: string,
  { limit, offset }: Part = { limit: -1, offset: 0 },
): Promise<number[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT ${rowsAsJson(["nonprofit_id"])} AS ids
          FROM (
            SELECT nonprofit_id FROM listings
            WHERE list = ?
            ORDER BY list_order, tie_key, nonprofit_id
            LIMIT ? OFFSET ?
          )`,
    args: [list, limit, offset],
  });
  return rowsFromJson(listings, ["nonprofit_id"], rows[0]?.["ids"]).map((row) => row.nonprofit_id);
}

/** The slug of the first nonprofit of the whole list; null in an empty directory. */
export async function firstSlug(store: Queryable): Promise<string | null> {
  const [first] = await recordsById(store, await idsInList(store, "all", { limit: 1, offset: 0 }));
  return first?.slug ?? null;
}

/** The lists that contain these nonprofits, or those of one kind, with the ids in each; `thin` is left out. */
export async function membersByList(
  store: Queryable,
  ids: readonly number[],
  kind?: "cause" | "country",
): Promise<Map<string, number[]>> {
  // SQL, as in `idsInList`: a publication asks for about a thousand at a time.
  const columns = ["list", "nonprofit_id"] as const;
  const { rows } = await store.raw.execute({
    sql: `SELECT ${rowsAsJson(columns)} AS members
          FROM listings
          WHERE nonprofit_id IN (SELECT value FROM json_each(?)) AND list LIKE ? AND list <> 'thin'`,
    args: [JSON.stringify(ids), kind === undefined ? "%" : `${kind}:%`],
  });
  const byList = new Map<string, number[]>();
  for (const { list, nonprofit_id } of rowsFromJson(listings, columns, rows[0]?.["members"])) {
    byList.getOrInsertComputed(list, () => []).push(nonprofit_id);
  }
  return byList;
}

/** The number of nonprofits in every list, or in these lists; an empty list is left out. */
export async function listCounts(
  store: Queryable,
  lists?: readonly string[],
): Promise<Map<string, number>> {
  const { list, members } = listTotals;
  const isAsked = lists === undefined ? undefined : inValues(list, lists);
  const counts = await store.db
    .select({ list, members })
    .from(listTotals)
    .where(and(gt(members, 0), isAsked))
    .orderBy(list);
  return new Map(counts.map((row) => [row.list, row.members]));
}

export const countInList = async (store: Queryable, list: string): Promise<number> =>
  (await listCounts(store, [list])).get(list) ?? 0;

/** GET /api/causes: all 29 causes in the contract's order, with the number of nonprofits in each. */
export async function causeList(store: Queryable): Promise<CauseList> {
  const counts = await listCounts(
    store,
    causes.map(({ id }) => `cause:${id}`),
  );
  return {
    causes: causes.map(({ id, name, description }) => {
      const causeCount = counts.get(`cause:${id}`) ?? 0;
      return { id, name, description, nonprofit_count: causeCount, count: causeCount };
    }),
  };
}

export type CountryCount = { code: string; name: string; count: number };

export const countryList = async (store: Queryable): Promise<CountryCount[]> =>
  [...(await listCounts(store))]
    .flatMap(([list, count]) => {
      const [kind, code = ""] = list.split(":");
      return kind === "country" ? { code, name: countryName(code) ?? code, count } : [];
    })
    .sort((country, other) => (country.name < other.name ? -1 : 1));

/** The listed nonprofits with ids above `after` up to `last`, by id; withdrawn ones are left out. */
export const sitemapEntries = (
  store: Queryable,
  { after, last }: { after: number; last: number },
): Promise<{ slug: string; updated_at: number }[]> =>
  store.db
    .select({ slug: nonprofits.slug, updated_at: nonprofits.updated_at })
    .from(nonprofits)
    .where(and(between(nonprofits.id, after + 1, last), ne(nonprofits.status, "withdrawn")))
    .orderBy(asc(nonprofits.id));

/** Ids per chunk. The triggers of the table `sitemap_chunks` use the same number. */
export const sitemapChunkSize = 1_000;

/** The newest change in each chunk of ids that lists any nonprofit; chunks count from 1. */
export const listedChunks = (
  store: Queryable,
): Promise<{ chunk: number; updated_at: number }[]> => {
  const { chunk, updated_at } = sitemapChunks;
  const first = sql`(${chunk} - 1) * ${sql.raw(String(sitemapChunkSize))} + 1`;
  const last = sql`${chunk} * ${sql.raw(String(sitemapChunkSize))}`;
  const isListed = and(between(nonprofits.id, first, last), ne(nonprofits.status, "withdrawn"));
  const listed = store.db.select({ id: nonprofits.id }).from(nonprofits).where(isListed);
  return store.db
    .select({ chunk, updated_at })
    .from(sitemapChunks)
    .where(exists(listed))
    .orderBy(chunk);
};

/** Recounts lists and sitemap chunks, for bulk work that runs without the triggers that count them one by one. */
export async function countLists({ raw }: WriteTransaction): Promise<void> {
  await raw.executeMultiple(`
    INSERT OR REPLACE INTO list_totals (list, members, verified, people)
    SELECT list, count(*), sum(-impact_order % 2), sum(max(0, -impact_order / 2 - 1)) FROM listings GROUP BY list;
    INSERT OR REPLACE INTO sitemap_chunks (chunk, updated_at)
    SELECT (id - 1) / 1000 + 1, max(updated_at) FROM nonprofits GROUP BY 1;
  `);
}
