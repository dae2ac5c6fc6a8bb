import type { NonprofitList, NonprofitSummary } from "#content/contract/nonprofit.ts";

/** Default and greatest limit of GET /api/nonprofits. Source: decisions, "Shapes". */
export const listLimit = { default: 50, max: 100 } as const;

/** One page of GET /api/nonprofits: the same bytes from the service and from the bundle, by `answerBytes`. */
export function listAnswer({
  baseUrl,
  total,
  limit,
  offset,
  nonprofits,
}: {
  /** Without a trailing slash. */
  baseUrl: string;
  total: number;
  limit: number;
  offset: number;
  nonprofits: NonprofitSummary[];
}): NonprofitList {
  const at = (start: number) => `${baseUrl}/api/nonprofits?limit=${limit}&offset=${start}`;
  return {
    total,
    count: nonprofits.length,
    limit,
    offset,
    next: offset + limit < total ? at(offset + limit) : null,
    prev: offset > 0 ? at(Math.max(0, Math.min(offset, total) - limit)) : null,
    nonprofits,
  };
}

/** The one way in which an answer becomes text, so that service and bundle agree to the byte. */
export const answerBytes = (answer: unknown): string => `${JSON.stringify(answer)}\n`;
