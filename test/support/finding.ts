import type { SearchQuery } from "#content/contract/search.ts";
import { summariesById } from "#content/nonprofit/record-store.ts";
import { searchIn } from "#content/search/search.ts";
import type { Store } from "#content/store/open.ts";

/** A search of a store as a client sends it, with the names that it finds: the first five unless `more` says otherwise. */
export async function findIn(store: Store, q: string, more: Partial<SearchQuery> = {}) {
  const all = {
    cause: null,
    country: null,
    ghd_aligned: false,
    accepts: null,
    has_website: null,
    literal: false,
  };
  const page = await searchIn(store)({ ...all, q, limit: 5, offset: 0, ...more });
  const found = await summariesById(store, page.ids, "");
  return { ...page, names: found.map(({ name }) => name) };
}
