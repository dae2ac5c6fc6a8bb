import type { SearchAnswer, SearchEcho, SearchQuery } from "#content/contract/search.ts";

/** A SearchAnswer as it goes from thread to thread: what stands in it once, and the array that stands in it twice. */
export type AnswerBytes = {
  head: Uint8Array<ArrayBuffer>;
  nonprofits: Uint8Array<ArrayBuffer>;
};

/** Takes the array of nonprofits in JSON, in UTF-8. `baseUrl` has no trailing slash. */
export function answerBytes(
  query: SearchQuery,
  { nonprofits, total, count }: { nonprofits: Uint8Array; total: number; count: number },
  baseUrl: string,
): AnswerBytes {
  const head = JSON.stringify(answerHead(query, { total, count, baseUrl })).slice(0, -1);
  return { head: utf8.encode(`${head},"nonprofits":`), nonprofits: nonprofits.slice() };
}

/** The parts of a SearchAnswer in JSON. */
export const answerParts = ({ head, nonprofits }: AnswerBytes) =>
  [head, nonprofits, middle, nonprofits, end] as const;

const utf8 = new TextEncoder();
const middle = utf8.encode(',"results":');
const end = utf8.encode("}");

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
