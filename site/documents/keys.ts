import type { DocumentKey } from "./document.ts";

/** Pages of which there is one, in ./single-pages.ts. */
type PageName =
  | "home"
  | "recommendations"
  | "causes"
  | "countries"
  | "statistics"
  | "methodology"
  | "agents"
  | "match"
  | "onboard"
  | "onboard-status"
  | "corrections"
  | "correction-status"
  | "receipt"
  | "widget"
  | "not-found"
  | "about"
  | "privacy"
  | "data"
  | "developers"
  | "search"
  | "robots";

/** The files by which programs find out about the directory, in ./single-pages.ts. */
type DiscoveryName =
  | "llms"
  | "agents"
  | "security"
  | "openapi"
  | "arazzo"
  | "catalog"
  | "plugin"
  | "mcp"
  | "mcp-registry"
  | "receipts";

/** How documents are named. Page numbers and chunk numbers count from 1. */
export const keyOf = {
  profile: (id: number): DocumentKey => `profile ${id}`,
  /** GET /api/history/{slug}. */
  profileHistory: (id: number): DocumentKey => `profile-history ${id}`,
  /** GET /api/donations/{slug}. */
  donations: (id: number): DocumentKey => `donations ${id}`,
  listPage: (list: string, page: number): DocumentKey => `list-page ${list} ${page}`,
  page: (name: PageName): DocumentKey => `page ${name}`,
  discovery: (name: DiscoveryName): DocumentKey => `discovery ${name}`,
  /** GET /api/causes. */
  causes: "causes-json" as DocumentKey,
  /** GET /api/stats. */
  stats: "stats-json" as DocumentKey,
  /** /statistics/{chart}.csv. */
  chartFiles: "chart-files" as DocumentKey,
  /** GET /api/agents/leaderboard, GET /api/agents/exemplars and GET /api/enrichments/stats. */
  leaderboard: "leaderboard-json" as DocumentKey,
  exemplars: "exemplars-json" as DocumentKey,
  enrichmentStats: "enrichment-stats-json" as DocumentKey,
  /** The heads of the audit log by day. */
  auditHeads: "audit-heads" as DocumentKey,
  /** GET /api/needs-enrichment, without parameters. */
  needs: "help-wanted" as DocumentKey,
  sitemapIndex: "sitemap-index" as DocumentKey,
  sitemapPages: "sitemap-pages" as DocumentKey,
  sitemap: (chunk: number): DocumentKey => `sitemap ${chunk}`,
  assets: "assets" as DocumentKey,
  /** Of a cause, or of the site. */
  picture: (cause: string | null): DocumentKey => (cause === null ? "picture" : `picture ${cause}`),
  /** A numbered file of the change feed. */
  feed: (number: number): DocumentKey => `feed ${number}`,
  snapshotPart: (part: number): DocumentKey => `snapshot-part ${part}`,
  standingIndex: "standing index" as DocumentKey,
  /** The organisations whose org-ids begin so. */
  standing: (prefix: string): DocumentKey => `standing ${prefix}`,
  /** One part of a cause's search index. */
  lunr: (cause: string, part: number): DocumentKey => `lunr ${cause} ${part}`,
};

/** The kind of a list and what it lists: "country:KE" → { kind: "country", value: "KE" }. */
export function listParts(list: string): { kind: string; value: string } {
  const [kind = "", value = ""] = list.split(":");
  return { kind, value };
}

/** Where a page of a list lies, without a leading slash: "causes/health", "causes/health-2". See docs/decisions/0192. */
export function pageAddress(list: string, page: number): string {
  const { kind, value } = listParts(list);
  const first = kind === "cause" ? `causes/${value}` : `countries/${value.toLowerCase()}`;
  return page === 1 ? first : `${first}-${page}`;
}
