import { allOf, type Facet } from "./query.ts";
import type { Queryable } from "#content/store/open.ts";
import type { SearchIndex } from "./index-store.ts";

/** Up to this many members are fetched and sorted; more are found by walking along a list. */
const sortedMax = 4_000;

/**
 * A search without words: everything, or what has all the facets, by impact (beneficiaries), then verified, then name.
 * Index: listings_by_impact.
 */
export async function listedPage(
  { store, index }: { store: Queryable; index: SearchIndex },
  facets: readonly Facet[],
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; ids: number[] }> {
  const lists = facets.flatMap(({ list }) => list ?? []);
  const [list = "all", other = null] = lists;
  const args = { list, other, limit, offset };
  if (facets.length === lists.length && lists.length <= 1) {
    const total = await numberAt(
      store,
      "SELECT count(*) AS total FROM listings WHERE list = $list",
      {
        list,
      },
    );
    return { total, ids: await idsOf(store, listWalk("true"), { list, limit, offset }) };
  }
  const match = allOf(facets.map((facet) => facet.match));
  const total = await index.count(match);
  if (total <= sortedMax) {
    return { total, ids: await idsOf(store, sorted, { match, limit, offset }) };
  }
  const aligned = lists.length < facets.length ? 1 : 0;
  return { total, ids: await idsOf(store, listWalk(isMember), { ...args, aligned }) };
}

const listWalk = (condition: string) => `
  SELECT nonprofit_id AS id
  FROM listings AS l
  WHERE list = $list AND ${condition}
  ORDER BY impact_order, tie_key, nonprofit_id
  LIMIT $limit OFFSET $offset`;

const isMember = `
  ($other IS NULL OR EXISTS (
    SELECT 1 FROM listings AS o WHERE o.nonprofit_id = l.nonprofit_id AND o.list = $other
  ))
  AND ($aligned = 0 OR EXISTS (
    SELECT 1 FROM nonprofits AS n WHERE n.id = l.nonprofit_id AND n.ghd_aligned = 1
  ))`;

const sorted = `
  SELECT l.nonprofit_id AS id
  FROM search_index AS s
  CROSS JOIN listings AS l ON l.nonprofit_id = (s.rowid & 4294967295) AND l.list = 'all'
  WHERE search_index MATCH $match
  ORDER BY l.impact_order, l.tie_key, l.nonprofit_id
  LIMIT $limit OFFSET $offset`;

type Args = Record<string, string | number | null>;

async function idsOf(store: Queryable, sql: string, args: Args): Promise<number[]> {
  const { rows } = await store.raw.execute({ sql, args });
  return rows.map((row) => Number(row["id"]));
}

async function numberAt(store: Queryable, sql: string, args: Args): Promise<number> {
  const { rows } = await store.raw.execute({ sql, args });
  return Number(rows[0]?.["total"] ?? 0);
}
