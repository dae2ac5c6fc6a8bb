import type { SearchAnswer, SearchEcho, SearchQuery } from "#content/shapes/search.ts";
import type { FoundPage } from "./runner.ts";

/** The JSON text of a SearchAnswer. `baseUrl` has no trailing slash. */
export function searchAnswer(
  query: SearchQuery,
  { nonprofits, total, ids }: FoundPage,
  baseUrl: string,
): string {
  const head = answerHead(query, { total, count: ids.length, baseUrl });
  // The page is JSON already and stands in the answer twice: it is put in as text.
  return `${JSON.stringify(head).slice(0, -1)},"nonprofits":${nonprofits},"results":${nonprofits}}`;
}

function answerHead(
  query: SearchQuery,
  { total, count, baseUrl }: { total: number; count: number; baseUrl: string },
): Omit<SearchAnswer, "nonprofits" | "results"> {
  const { q, cause, country, ghd_aligned, limit, offset } = query;
  const echo: SearchEcho = { q, cause, country, ghd_aligned };
  const page = (from: number) =>
    `${baseUrl}/api/search?${searchParams({ ...query, offset: from })}`;
  return {
    query: echo,
    count,
    total,
    limit,
    offset,
    next: offset + limit < total ? page(offset + limit) : null,
    prev: offset > 0 ? page(Math.max(0, Math.min(offset, total) - limit)) : null,
  };
}

/** The query string of a search, its parameters in one order. */
export function searchParams(query: SearchQuery): URLSearchParams {
  const params = new URLSearchParams();
  if (query.q !== null) params.set("q", query.q);
  if (query.cause !== null) params.set("cause", query.cause);
  if (query.country !== null) params.set("country", query.country);
  if (query.ghd_aligned) params.set("ghd_aligned", "1");
  params.set("limit", String(query.limit));
  params.set("offset", String(query.offset));
  return params;
}
