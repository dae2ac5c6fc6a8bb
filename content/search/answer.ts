import type { NonprofitSummary } from "#content/contract/nonprofit.ts";
import type { SearchAnswer, SearchQuery } from "#content/contract/search.ts";
import { summariesById } from "#content/nonprofit/record-store.ts";
import type { Queryable } from "#content/store/open.ts";
import type { Search, SearchPage } from "./search.ts";

/** What a search answers: the profiles stand in it twice, under the names of both contracts. */
export type FoundProfiles = {
  head: Omit<SearchAnswer, "nonprofits" | "results">;
  nonprofits: NonprofitSummary[];
};

/** Finds one page of profiles as of the change with the number `version` or a later one. `baseUrl` has no trailing slash. */
export const findProfiles =
  ({ store, search, baseUrl }: { store: Queryable; search: Search; baseUrl: string }) =>
  async (query: SearchQuery, version: number): Promise<FoundProfiles> => {
    const page = await search(query, version);
    const nonprofits = await summariesById(store, page.ids, baseUrl);
    return { head: answerHead(query, page, baseUrl), nonprofits };
  };

function answerHead(
  query: SearchQuery,
  { total, ids, understood, exact, note }: SearchPage,
  baseUrl: string,
): FoundProfiles["head"] {
  const { limit, offset, steady: _, region = null, ...asked } = query;
  const echo = { ...asked, region };
  const pageFrom = (from: number) =>
    `${baseUrl}/api/search?${searchParams({ ...query, offset: from })}`;
  return {
    query: echo,
    understood,
    exact,
    note,
    count: ids.length,
    total,
    limit,
    offset,
    next: offset + limit < total ? pageFrom(offset + limit) : null,
    prev: offset > 0 ? pageFrom(Math.max(0, Math.min(offset, total) - limit)) : null,
  };
}

/** The query string of a search, its parameters in one order. */
function searchParams(query: SearchQuery): URLSearchParams {
  const params = new URLSearchParams();
  if (query.q !== null) params.set("q", query.q);
  if (query.cause !== null) params.set("cause", query.cause);
  if (query.country !== null) params.set("country", query.country);
  if ((query.region ?? null) !== null) params.set("region", query.region ?? "");
  if (query.ghd_aligned) params.set("ghd_aligned", "1");
  if (query.accepts !== null) params.set("accepts", query.accepts);
  if (query.has_website !== null) params.set("has_website", String(query.has_website));
  if (query.literal) params.set("literal", "1");
  params.set("limit", String(query.limit));
  params.set("offset", String(query.offset));
  return params;
}
