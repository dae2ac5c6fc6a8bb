import type { CauseList } from "#content/contract/cause.ts";
import causes from "#content/editorial/causes.json";
import type { Queryable } from "#content/store/open.ts";
import { countryName } from "./wire.ts";

/** The `list_order` of lists and pages: verified first, then impact, then name. Index: listings_by_list_order. */
const order = "ORDER BY list_order, name_key, nonprofit_id";

/** Ids of a part of a list, in its order. */
export async function idsInList(
  store: Queryable,
  list: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<number[]> {
  // One JSON text: fetching row by row takes several times as long.
  const { rows } = await store.raw.execute({
    sql: `SELECT json_group_array(nonprofit_id) AS ids
          FROM (SELECT nonprofit_id FROM listings WHERE list = ? ${order} LIMIT ? OFFSET ?)`,
    args: [list, limit, offset],
  });
  return JSON.parse(String(rows[0]?.["ids"] ?? "[]")) as number[];
}

/** How many stand in each list. */
export async function listCounts(store: Queryable): Promise<Map<string, number>> {
  const { rows } = await store.raw.execute({
    sql: "SELECT list, count(*) AS count FROM listings GROUP BY list ORDER BY list",
    args: [],
  });
  return new Map(rows.map((row) => [String(row["list"]), Number(row["count"])]));
}

/** How many stand in one list. */
export async function countInList(store: Queryable, list: string): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: "SELECT count(*) AS count FROM listings WHERE list = ?",
    args: [list],
  });
  return Number(rows[0]?.["count"] ?? 0);
}

/** How many rows a table has; the name is ours, never a caller's text. */
export async function countOf(store: Queryable, table: "nonprofits" | "changes"): Promise<number> {
  const { rows } = await store.raw.execute({
    sql: `SELECT count(*) AS count FROM ${table}`,
    args: [],
  });
  return Number(rows[0]?.["count"] ?? 0);
}

/** The next ids after `after`, ascending, of all nonprofits, withdrawn ones too. */
export async function nonprofitIdsAfter(
  store: Queryable,
  after: number,
  limit: number,
): Promise<number[]> {
  const { rows } = await store.raw.execute({
    sql: "SELECT id FROM nonprofits WHERE id > ? ORDER BY id LIMIT ?",
    args: [after, limit],
  });
  return rows.map((row) => Number(row["id"]));
}

/** How many stand in each of these lists; a list without any is left out. Index: listings_by_list_order. */
export async function countsOfLists(
  store: Queryable,
  lists: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await store.raw.execute({
    sql: `SELECT list, count(*) AS count FROM listings
          WHERE list IN (SELECT value FROM json_each(?))
          GROUP BY list`,
    args: [JSON.stringify(lists)],
  });
  return new Map(rows.map((row) => [String(row["list"]), Number(row["count"])]));
}

/** What an HTML list shows of a nonprofit. `text` is the tagline, or else the first 240 characters of the mission. */
export type ListItem = {
  id: number;
  slug: string;
  name: string;
  text: string | null;
  city: string | null;
  region: string | null;
  country_code: string | null;
  verified: number;
  beneficiaries_per_year: number | null;
};

/** List items by id; unknown ids are left out. Ask for about 1,000 at a time. */
export async function listItemsById(
  store: Queryable,
  ids: readonly number[],
): Promise<Map<number, ListItem>> {
  // All of them as one JSON text: the driver takes longer over each row and column than over all the rest.
  const { rows } = await store.raw.execute({
    sql: `SELECT json_group_array(json_array(
            id, slug, name, coalesce(tagline, substr(mission, 1, 240)),
            city, region, country_code, verified, beneficiaries_per_year
          )) AS items
          FROM nonprofits
          WHERE id IN (SELECT value FROM json_each(?))`,
    args: [JSON.stringify(ids)],
  });
  const found = JSON.parse(String(rows[0]?.["items"] ?? "[]")) as ItemParts[];
  return new Map(found.map((parts) => [parts[0], itemFrom(parts)]));
}

type ItemParts = [
  id: number,
  slug: string,
  name: string,
  text: string | null,
  city: string | null,
  region: string | null,
  country_code: string | null,
  verified: number,
  beneficiaries_per_year: number | null,
];

const itemFrom = ([
  id,
  slug,
  name,
  text,
  city,
  region,
  country_code,
  verified,
  beneficiaries_per_year,
]: ItemParts): ListItem => ({
  id,
  slug,
  name,
  text,
  city,
  region,
  country_code,
  verified,
  beneficiaries_per_year,
});

/** GET /api/causes: all 29 causes in the contract's order, with how many nonprofits each has. */
export async function causeList(store: Queryable): Promise<CauseList> {
  const counts = await countsOfLists(
    store,
    causes.map(({ id }) => `cause:${id}`),
  );
  return {
    causes: causes.map(({ id, name, description }) => {
      const count = counts.get(`cause:${id}`) ?? 0;
      return { id, name, description, nonprofit_count: count, count };
    }),
  };
}

export type CountryCount = { code: string; name: string; count: number };

/** The countries in which a nonprofit stands, by name. Index: listings_by_list_order. */
export async function countryList(store: Queryable): Promise<CountryCount[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT substr(list, 9) AS code, count(*) AS count FROM listings
          WHERE list >= 'country:' AND list < 'country;'
          GROUP BY list`,
    args: [],
  });
  return rows
    .map(({ code, count }) => ({
      code: String(code),
      name: countryName(String(code)) ?? String(code),
      count: Number(count),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** A profile that search engines shall know. `updated_at` is in milliseconds since 1970. */
export type SitemapEntry = { slug: string; updated_at: number };

/** The listed nonprofits with ids above `after` up to `last`, by id; withdrawn ones are left out. */
export async function sitemapEntries(
  store: Queryable,
  { after, last }: { after: number; last: number },
): Promise<SitemapEntry[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT slug, updated_at FROM nonprofits
          WHERE id > ? AND id <= ? AND status <> 'withdrawn'
          ORDER BY id`,
    args: [after, last],
  });
  return rows.map((row) => ({
    slug: String(row["slug"]),
    updated_at: Number(row["updated_at"]),
  }));
}

/** The newest change within each run of `size` ids that lists anybody; chunks count from 1. */
export async function sitemapChunks(
  store: Queryable,
  size: number,
): Promise<{ chunk: number; updated_at: number }[]> {
  const { rows } = await store.raw.execute({
    // A bound number arrives as a float, and a float division would give every id a chunk of its own.
    sql: `SELECT (id - 1) / CAST(? AS INTEGER) + 1 AS chunk, max(updated_at) AS updated_at FROM nonprofits
          WHERE status <> 'withdrawn'
          GROUP BY chunk
          ORDER BY chunk`,
    args: [size],
  });
  return rows.map((row) => ({
    chunk: Number(row["chunk"]),
    updated_at: Number(row["updated_at"]),
  }));
}
