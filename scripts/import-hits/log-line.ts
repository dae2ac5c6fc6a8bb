import { profileAt } from "#api/recommendation/follow-up.ts";
import { objectIn } from "#content/contract/base/json.ts";
import { type ActivityKind, discoveryHits } from "#content/operation/activity-store.ts";

/** One request of an access log. */
export type LoggedRequest = {
  method: string;
  path: string;
  status: number;
  atMs: number;
  /** How exact that is. */
  withinMs: number;
  /** As the client sent it, "" for none; null when the log does not keep it. */
  userAgent: string | null;
  /** Whether the cache fetched the answer from its origin, which has counted the hit itself; null: it does not say. */
  fromOrigin: boolean | null;
};

/** nginx's combined format; it writes a quote as \x22, so that none stands inside quotes. */
const combined =
  /^\S+ - \S+ \[(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}:\d{2}:\d{2} [+-]\d{4})\] "([A-Z]+) (\S+)[^"]*" (\d{3}) \d+ "[^"]*" "([^"]*)"/;

/** Reads a line of an access log of nginx or Cloudflare (Logpush, JSON); null for one that is neither. */
export const readLogLine = (line: string): LoggedRequest | null =>
  line.startsWith("{") ? readCloudflare(line) : readCombined(line);

function readCombined(line: string): LoggedRequest | null {
  const [, day, month, year, time, method = "", address = "", status, agent = ""] =
    combined.exec(line) ?? [];
  const atMs = Date.parse(`${day} ${month} ${year} ${time}`);
  if (Number.isNaN(atMs)) return null;
  const bytes = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16));
  const userAgent = agent === "-" ? "" : agent.replaceAll(/\\x([0-9A-F]{2})/g, bytes);
  const path = pathOf(address);
  return { method, path, status: Number(status), atMs, withinMs, userAgent, fromOrigin: null };
}

/** Of a log that tells whole seconds. */
const withinMs = 999;

/** Answers of Cloudflare's cache itself. The others went to the origin. */
const cacheAnswers: ReadonlySet<unknown> = new Set(["hit", "stale", "updating"]);

function readCloudflare(line: string): LoggedRequest | null {
  const {
    ClientRequestMethod: method,
    ClientRequestURI: address,
    ClientRequestUserAgent: agent,
    EdgeResponseStatus: status,
    EdgeStartTimestamp: instant,
    CacheCacheStatus: cache,
  } = objectIn(line) ?? {};
  if (typeof address !== "string") return null;
  // RFC 3339, or seconds or nanoseconds since 1970.
  const isExact = typeof instant === "number" ? instant > 1e17 : String(instant).includes(".");
  const scaled = isExact ? Number(instant) / 1e6 : Number(instant) * 1_000;
  const atMs = typeof instant === "number" ? Math.floor(scaled) : Date.parse(String(instant));
  if (Number.isNaN(atMs)) return null;
  return {
    method: String(method),
    path: pathOf(address),
    status: Number(status),
    atMs,
    withinMs: isExact ? 0 : withinMs,
    userAgent: typeof agent === "string" ? agent : null,
    fromOrigin: typeof cache === "string" ? !cacheAnswers.has(cache.toLowerCase()) : null,
  };
}

const pathOf = (address: string): string => address.split(/[?#]/, 1)[0] ?? "";

/** What a request counts as; null for nothing. The service counts MCP itself. `all`: also what the cache fetched from its origin. */
export const hitOf = (request: LoggedRequest, all: boolean): ActivityKind | null =>
  wasServed(request, all) ? (discoveryHits.get(request.path) ?? null) : null;

/** The profile that a request opened, by its path; null for none. Who asks for the head only opens nothing. */
export const profileOf = (request: LoggedRequest, all: boolean) =>
  request.method === "GET" && wasServed(request, all) ? profileAt(request.path) : null;

const wasServed = ({ method, status, fromOrigin }: LoggedRequest, all: boolean): boolean =>
  /^(?:GET|HEAD)$/.test(method) && [200, 304].includes(status) && (all || fromOrigin !== true);
