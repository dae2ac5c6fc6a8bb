import causes from "#content/editorial/causes.json";
import { countryName } from "./wire.ts";
import type { CauseList } from "#content/contract/cause.ts";
import { countsOfLists } from "./list-pages.ts";
import type { Queryable } from "#content/store/open.ts";

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
