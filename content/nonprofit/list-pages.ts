import type { Queryable } from "#content/store/open.ts";

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
