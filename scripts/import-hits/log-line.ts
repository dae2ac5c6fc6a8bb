import type { ActivityKind } from "#content/store/activity.ts";

/** One request of an access log. */
export type LoggedRequest = {
  method: string;
  path: string;
  status: number;
  atMs: number;
  /** Whether the cache fetched the answer from its origin, which has counted the hit itself; null: it does not say. */
  fromOrigin: boolean | null;
};

/** nginx and Apache: combined and common format. */
const combined =
  /^\S+ \S+ \S+ \[(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{2})(\d{2})\] "([A-Z]+) (\S+)[^"]*" (\d{3}) /;
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Reads a line of an access log of nginx or Cloudflare (Logpush, JSON); null for one that is neither. */
export function readLogLine(line: string): LoggedRequest | null {
  return line.startsWith("{") ? readCloudflare(line) : readCombined(line);
}

function readCombined(line: string): LoggedRequest | null {
  const [, day, monthName = "", year, time, hours, minutes, method = "", address = "", status] =
    combined.exec(line) ?? [];
  const month = String(months.indexOf(monthName) + 1).padStart(2, "0");
  const atMs = Date.parse(`${year}-${month}-${day}T${time}${hours}:${minutes}`);
  if (Number.isNaN(atMs)) return null;
  return { method, path: pathOf(address), status: Number(status), atMs, fromOrigin: null };
}

/** Answers of Cloudflare's cache itself. The others went to the origin. */
const cacheAnswers: ReadonlySet<string> = new Set(["hit", "stale", "updating"]);

function readCloudflare(line: string): LoggedRequest | null {
  const entry = parsed(line);
  if (entry === null) return null;
  const address = entry["ClientRequestURI"] ?? entry["ClientRequestPath"];
  const atMs = instantOf(entry["EdgeStartTimestamp"] ?? entry["EdgeEndTimestamp"]);
  if (typeof address !== "string" || atMs === null) return null;
  const cache = entry["CacheCacheStatus"];
  return {
    method: String(entry["ClientRequestMethod"] ?? "GET"),
    path: pathOf(address),
    status: Number(entry["EdgeResponseStatus"] ?? 200),
    atMs,
    fromOrigin: typeof cache === "string" ? !cacheAnswers.has(cache.toLowerCase()) : null,
  };
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** Cloudflare writes RFC 3339, or seconds or nanoseconds since 1970. */
function instantOf(value: unknown): number | null {
  if (typeof value === "string") {
    const atMs = Date.parse(value);
    return Number.isNaN(atMs) ? null : atMs;
  }
  if (typeof value !== "number" || value <= 0) return null;
  return value > 1e17 ? Math.floor(value / 1e6) : value > 1e12 ? value : value * 1_000;
}

const pathOf = (address: string): string => address.split(/[?#]/, 1)[0] ?? "";

/** Discovery files whose hits are counted. Source: spec, GET /api/stats. The service counts MCP itself. */
const counted: Readonly<Record<string, ActivityKind>> = {
  "/llms.txt": "hit:llms_txt",
  "/agents.md": "hit:agents_md",
  "/AGENTS.md": "hit:agents_md",
  "/.well-known/ai-plugin.json": "hit:ai_plugin",
};

/** What a request counts as; null for nothing. `all`: also what the cache fetched from its origin. */
export function hitOf(request: LoggedRequest, { all }: { all: boolean }): ActivityKind | null {
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  if (request.status !== 200 && request.status !== 304) return null;
  if (!all && request.fromOrigin === true) return null;
  return counted[request.path] ?? null;
}
