import { forFile } from "./at-file-top.ts";
import { type FilterParameters, filterNames, filtersOf } from "#content/contract/browse.ts";
import type { SearchQuery } from "#content/contract/search.ts";
import { summariesById } from "#content/nonprofit/record-store.ts";
import { searchIn } from "#content/find/search.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { saveNew } from "./records.ts";

/** A search as tests write it: filters beside the rest. */
export type Searching = FilterParameters & Partial<Omit<SearchQuery, "filters">>;

export const searchQuery = (parts: Searching): SearchQuery => {
  const rest = Object.entries(parts).filter(([name]) => !filterNames.some((one) => one === name));
  const whole = { q: null, literal: false, limit: 20, offset: 0, ...Object.fromEntries(rest) };
  return { ...whole, filters: filtersOf(parts) };
};

/** A search of a store as a client sends it, with the names that it finds: the first five unless `more` says otherwise. */
export async function findIn(store: Store, q: string, more: Searching = {}) {
  const page = await searchIn(store)(searchQuery({ q, limit: 5, ...more }));
  const found = await summariesById(store, page.ids, "");
  return { ...page, names: found.map(({ name }) => name) };
}

/** A store in memory with these nonprofits. */
export async function aStoreOf(...records: NonprofitRecord[]): Promise<Store> {
  const store = await openStore({ url: ":memory:" });
  await saveNew(store, ...records);
  return store;
}

export const theStoreOf = forFile(aStoreOf);
