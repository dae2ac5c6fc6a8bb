import { objectIn } from "#content/contract/base/json-object.ts";
import { profileAt } from "#api/recommendation/follow-up.ts";
import { type ActivityKind, discoveryHits } from "#content/operation/activity-store.ts";

/** One request of an access log. */
export type LoggedRequest = {
  method: string;
  path: string;
  status: number;
  atMs: number;
  /** How exact that is: 999 for a log that tells whole seconds. */
  withinMs: number;
  /** As the client sent it, "" for none; null when the log does not keep it. */
  userAgent: string | null;
  /** Whether the cache fetched the answer from its origin, which has counted the hit itself; null: it does not say. */
  fromOrigin: boolean | null;
};

/** nginx and Apache: combined and common format; the last quoted part of the combined one is the user agent. */
const combined =
  /^\S+ \S+ \S+ \[(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}:\d{2}:\d{2} [+-]\d{4})\] "([A-Z]+) (\S+)[^"]*" (\d{3}) (?:\S+ "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)")?/;

/** Reads a line of an access log of nginx or Cloudflare (Logpush, JSON); null for one that is neither. */
export function readLogLine(line: string): LoggedRequest | null {
  return line.startsWith("{") ? readCloudflare(line) : readCombined(line);
}

function readCombined(line: string): LoggedRequest | null {
  const found = combined.exec(line);
  if (found === null) return null;
  const [, day, month, year, time, method = "", address = "", status, agent] = found;
  const atMs = Date.parse(`${day} ${month} ${year} ${time}`);
  if (Number.isNaN(atMs)) return null;
  return {
    method,
    path: pathOf(address),
    status: Number(status),
    atMs,
    withinMs: wholeSecondMs,
    userAgent: agent === undefined ? null : agentOf(agent),
    fromOrigin: null,
  };
}

const wholeSecondMs = 999;

/** nginx writes a quote as \x22 and other bytes likewise, Apache a quote as \"; "-" is none. */
const agentOf = (logged: string): string =>
  logged === "-"
    ? ""
    : logged.replaceAll(/\\(?:x([0-9A-Fa-f]{2})|(.))/g, (_, byte?: string, char = "") =>
        byte === undefined ? char : String.fromCharCode(Number.parseInt(byte, 16)),
      );

/** Answers of Cloudflare's cache itself. The others went to the origin. */
const cacheAnswers: ReadonlySet<string> = new Set(["hit", "stale", "updating"]);

function readCloudflare(line: string): LoggedRequest | null {
  const entry = objectIn(line);
  if (entry === null) return null;
  const address = entry["ClientRequestURI"] ?? entry["ClientRequestPath"];
  const instant = entry["EdgeStartTimestamp"] ?? entry["EdgeEndTimestamp"];
  const atMs = instantOf(instant);
  if (typeof address !== "string" || atMs === null) return null;
  const cache = entry["CacheCacheStatus"];
  const agent = entry["ClientRequestUserAgent"];
  return {
    method: String(entry["ClientRequestMethod"] ?? "GET"),
    path: pathOf(address),
    status: Number(entry["EdgeResponseStatus"] ?? 200),
    atMs,
    withinMs: isWholeSecond(instant) ? wholeSecondMs : 0,
    userAgent: typeof agent === "string" ? agent : null,
    fromOrigin: typeof cache === "string" ? !cacheAnswers.has(cache.toLowerCase()) : null,
  };
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

/** RFC 3339 without a fraction, or seconds since 1970. */
const isWholeSecond = (value: unknown): boolean =>
  typeof value === "string" ? !value.includes(".") : Number(value) < 1e12;

const pathOf = (address: string): string => address.split(/[?#]/, 1)[0] ?? "";

/** What a request counts as; null for nothing. The service counts MCP itself. `all`: also what the cache fetched from its origin. */
export const hitOf = (request: LoggedRequest, { all }: { all: boolean }): ActivityKind | null =>
  wasServed(request, all) ? (discoveryHits.get(request.path) ?? null) : null;

/** The profile that a request opened, by its path; null for none. Who asks for the head only opens nothing. */
export const profileOf = (request: LoggedRequest, { all }: { all: boolean }) =>
  request.userAgent !== null && request.method === "GET" && wasServed(request, all)
    ? profileAt(request.path)
    : null;

function wasServed({ method, status, fromOrigin }: LoggedRequest, all: boolean): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  if (status !== 200 && status !== 304) return false;
  return all || fromOrigin !== true;
}
