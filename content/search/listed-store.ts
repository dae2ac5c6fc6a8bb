import { allOf, conditionsOf, type Facet, narrowed } from "./query.ts";
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
  const present = facets.filter(({ without }) => without !== true);
  const isList = present.length === lists.length && lists.length <= 1;
  const has = isList ? await lengthOf(store, list) : await index.count(narrowed([], present));
  // The index finds what has a word: the others are all but these.
  const all = allOf(facets.map(({ match }) => match));
  const total = present.length === facets.length ? has : has - (await index.count(all));
  if (!isList && total <= sortedMax) {
    const match = narrowed([], facets);
    return { total, ids: await idsOf(store, sorted, { match, limit, offset }) };
  }
  const args = { list, ...(other === null ? {} : { other }), limit, offset };
  const walk = listWalk(`${other === null ? "" : isMember}${rowMeets(conditionsOf(facets))}`);
  return { total, ids: await idsOf(store, walk, args) };
}

const listWalk = (condition: string) => `
  SELECT nonprofit_id AS id
  FROM listings AS l
  WHERE list = $list ${condition}
  ORDER BY impact_order, tie_key, nonprofit_id
  LIMIT $limit OFFSET $offset`;

const isMember = `AND EXISTS (
    SELECT 1 FROM listings AS o WHERE o.nonprofit_id = l.nonprofit_id AND o.list = $other
  )`;

const rowMeets = (conditions: string) =>
  conditions === ""
    ? ""
    : ` AND EXISTS (SELECT 1 FROM nonprofits AS n WHERE n.id = l.nonprofit_id${conditions})`;

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

async function lengthOf(store: Queryable, list: string): Promise<number> {
  const sql = "SELECT count(*) AS total FROM listings WHERE list = $list";
  const { rows } = await store.raw.execute({ sql, args: { list } });
  return Number(rows[0]?.["total"] ?? 0);
}
