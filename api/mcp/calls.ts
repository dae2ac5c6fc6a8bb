import type { McpToolName } from "#content/openapi/mcp-tools.ts";

/** A request to the service, by its path and query. */
export type Call = { method: "GET" | "POST"; path: string; body?: unknown };

/** Sends a request to the service: inside the same process, or over HTTP. */
export type Ask = (call: Call) => Promise<Response>;

type Input = Readonly<Record<string, unknown>>;

/** Which request of the service each tool stands for. Inputs have been checked by the tool's shape. */
export const callOf: Record<McpToolName, (input: Input) => Call> = {
  search_nonprofits: (input) => get("/api/search", input),
  get_nonprofit: ({ slug }) => get(`/api/nonprofits/${segment(slug)}`),
  list_causes: () => get("/api/causes"),
  recommend: (input) => get("/api/recommend", input),
  needs_enrichment: (input) => get("/api/needs-enrichment", input),
  submit_enrichment: ({ slug, ...body }) => ({
    method: "POST",
    path: `/api/enrich/${segment(slug)}`,
    body,
  }),
  donation_requirements: ({ slug, ...query }) => get(`/api/donate/${segment(slug)}`, query),
  donation_history: ({ slug }) => get(`/api/donations/${segment(slug)}`),
};

/** What a resource is read from. */
export const resourceCall = {
  stats: () => get("/api/stats"),
  profile: (slug: string) => get(`/api/nonprofits/${segment(slug)}`),
};

function get(path: string, query: Input = {}): Call {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === "string" && value !== "") params.set(name, value.toWellFormed());
    else if (typeof value === "number") params.set(name, String(value));
    else if (value === true) params.set(name, "1");
  }
  return { method: "GET", path: params.size === 0 ? path : `${path}?${params}` };
}

/** One segment of a path; "." and ".." would climb. */
const segment = (slug: unknown): string =>
  encodeURIComponent(String(slug).toWellFormed()).replace(/^\.+$/, "_");
