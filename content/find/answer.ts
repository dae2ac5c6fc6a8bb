import { type Comparison, comparedMax } from "#content/contract/comparison.ts";
import { givenFilters, noFilters } from "#content/contract/browse.ts";
import { withFields } from "#content/contract/operations/operation.ts";
import type { NonprofitSummary } from "#content/contract/nonprofit.ts";
import {
  type FoundNonprofit,
  type SearchAnswer,
  type SearchQuery,
} from "#content/contract/search.ts";
import { recordBySlug, summariesById } from "#content/nonprofit/record-store.ts";
import type { Queryable } from "#content/store/open.ts";
import type { Search, SearchPage } from "./search.ts";
import { unknownNote } from "./query.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";

/** The answer of a search; on the wire the profiles appear under two names. */
export type FoundProfiles = {
  head: Omit<SearchAnswer, "nonprofits" | "results">;
  nonprofits: FoundNonprofit[];
};

/** Finds one page of profiles, as of change number `version` or later. `baseUrl` has no trailing slash. */
export const findProfiles =
  ({ store, search, baseUrl }: { store: Queryable; search: Search; baseUrl: string }) =>
  async (query: SearchQuery, version: number): Promise<FoundProfiles> => {
    const page = await search(query, version);
    const nonprofits = await summariesById(store, page.ids, baseUrl, query.fields);
    return {
      head: answerHead(query, page, baseUrl),
      nonprofits: withFields(withMatch(nonprofits, query, page), query.fields),
    };
  };

/** Adds to these results how well each matches. `offset` is the place of the first one. */
export const withMatch = (
  nonprofits: readonly NonprofitSummary[],
  { offset }: Pick<SearchQuery, "offset">,
  { matching, distances }: Pick<SearchPage, "matching" | "distances">,
): FoundNonprofit[] =>
  nonprofits.map((nonprofit, at) => ({
    ...nonprofit,
    match: offset + at < matching ? "all" : "some",
    ...(distances && { distance_km: distances[nonprofit.id] }),
  }));

function answerHead(
  query: SearchQuery,
  { total, matching, ids, understood, exact, note }: SearchPage,
  baseUrl: string,
): FoundProfiles["head"] {
  const { limit, offset, q, filters, literal } = query;
  const unknown = unknownNote(filters, total);
  const pageFrom = (from: number) =>
    `${baseUrl}/api/search?${searchParams({ ...query, offset: from })}`;
  return {
    query: {
      q,
      ...filters,
      ghd_aligned: filters.ghd_aligned !== null,
      accepts: filters.accepts === null ? null : "usdc",
      claimed: yesOrNo(filters.claimed),
      has_website: yesOrNo(filters.has_website),
      near: query.near ?? null,
      within_km: query.within_km ?? null,
      literal,
    },
    understood,
    exact: exact && unknown === null,
    note: unknown ?? note,
    count: ids.length,
    total,
    matching,
    related: total - matching,
    limit,
    offset,
    next: offset + limit < total ? pageFrom(offset + limit) : null,
    prev: offset > 0 ? pageFrom(Math.max(0, Math.min(offset, total) - limit)) : null,
  };
}

const yesOrNo = (value: string | null): boolean | null =>
  value === null ? null : value === "true";

/** The query string of a search, with parameters in a fixed order. */
const searchParams = ({ q, filters, near, within_km, literal, ...page }: SearchQuery) =>
  new URLSearchParams([
    ...(q === null ? [] : [["q", q]]),
    ...givenFilters(filters),
    ...(near === undefined ? [] : [["near", near]]),
    ...(within_km === undefined ? [] : [["within_km", String(within_km)]]),
    ...(literal ? [["literal", "1"]] : []),
    ["limit", String(page.limit)],
    ["offset", String(page.offset)],
    ...(page.fields === undefined ? [] : [["fields", page.fields.join(",")]]),
    ...(page.shape === undefined ? [] : [["shape", page.shape]]),
  ]);

/** The profiles for these slugs, in order; of more than four the first four. */
export type ComparedProfiles = Pick<Comparison, "not_found"> & {
  slugs: readonly string[];
  records: NonprofitRecord[];
};

const mergesMax = 5;

/** Finds the profiles to compare; a merged one is replaced by its target. Unknown slugs come with the nearest names. */
export async function compare(
  { store, search }: { store: Queryable; search: { page: Search } },
  slugs: readonly string[],
): Promise<ComparedProfiles> {
  const records = new Map<number, NonprofitRecord>();
  const not_found: ComparedProfiles["not_found"] = [];
  for (const slug of slugs.slice(0, comparedMax)) {
    let record = await recordBySlug(store, slug);
    for (let merges = 0; typeof record?.merged_into === "string" && merges < mergesMax; merges++)
      record = await recordBySlug(store, record.merged_into);
    if (record !== null) records.set(record.id, record);
    else {
      const words = { q: slug.replaceAll("-", " "), filters: noFilters, literal: false };
      const { ids } = await search.page({ ...words, limit: 3, offset: 0 });
      const nearest = await summariesById(store, ids, "");
      not_found.push({
        slug,
        nearest: nearest.map((summary) => ({ slug: summary.slug, name: summary.name })),
      });
    }
  }
  return { slugs, records: [...records.values()], not_found };
}
