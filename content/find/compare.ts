import { noFilters } from "#content/contract/browse.ts";
import { comparedMax, type Comparison } from "#content/contract/comparison.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { recordBySlug, summariesById } from "#content/nonprofit/record-store.ts";
import type { Queryable } from "#content/store/open.ts";
import type { Search } from "./search.ts";

/** What was found of the slugs that were asked for, in their order: of more than four the first four. */
export type ComparedProfiles = Pick<Comparison, "not_found"> & {
  asked: readonly string[];
  records: NonprofitRecord[];
};

const mergesMax = 5;

/** Finds what to compare; of a merged profile the one that it went into. What no profile is called comes with the nearest names. */
export async function compare(
  { store, search }: { store: Queryable; search: { page: Search } },
  asked: readonly string[],
): Promise<ComparedProfiles> {
  const records = new Map<number, NonprofitRecord>();
  const not_found: ComparedProfiles["not_found"] = [];
  for (const slug of asked.slice(0, comparedMax)) {
    let record = await recordBySlug(store, slug);
    for (let merges = 0; typeof record?.merged_into === "string" && merges < mergesMax; merges++)
      record = await recordBySlug(store, record.merged_into);
    if (record !== null) records.set(record.id, record);
    else {
      const words = { q: slug.replaceAll("-", " "), filters: noFilters, literal: false };
      const { ids } = await search.page({ ...words, limit: 3, offset: 0 });
      const nearest = await summariesById(store, ids, "");
      not_found.push({ slug, nearest: nearest.map((one) => ({ slug: one.slug, name: one.name })) });
    }
  }
  return { asked, records: [...records.values()], not_found };
}
