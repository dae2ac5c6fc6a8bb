import type { SearchAnswer, SearchQuery } from "#content/contract/search.ts";
import { summariesById } from "#content/nonprofit/record-store.ts";
import type { Search, SearchPage } from "#content/search/search.ts";
import type { Queryable } from "#content/store/open.ts";
import { EncodedBody } from "#api/http/encoded-body.ts";

/** Answers as of the change with the number `version` or a later one. */
export type AnswerSearch = (query: SearchQuery, version: number) => Promise<EncodedBody>;

/** What `search` finds, as a SearchAnswer in JSON. `baseUrl` has no trailing slash. */
export function answerFrom(store: Queryable, search: Search, baseUrl: string): AnswerSearch {
  return async (query, version) => {
    const page = await search(query, version);
    const head = JSON.stringify(answerHead(query, page, baseUrl)).slice(0, -1);
    const nonprofits = utf8.encode(JSON.stringify(await summariesById(store, page.ids, baseUrl)));
    const parts = [utf8.encode(`${head},"nonprofits":`), nonprofits, results, nonprofits, end];
    return new EncodedBody(parts, "application/json");
  };
}

const utf8 = new TextEncoder();
const results = utf8.encode(',"results":');
const end = utf8.encode("}");

function answerHead(
  query: SearchQuery,
  { total, ids, understood, exact, note }: SearchPage,
  baseUrl: string,
): Omit<SearchAnswer, "nonprofits" | "results"> {
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
