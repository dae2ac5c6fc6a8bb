import { statSync, createReadStream } from "node:fs";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { profileAt, recentHashes } from "#api/recommendation/follow-up.ts";
import { clientHashKeyOf } from "#api/secrets.ts";
import { objectIn } from "#content/contract/base/json.ts";
import { systemClock, hourMs } from "#content/contract/base/time.ts";
import {
  type ActivityKind,
  countedTo,
  discoveryHits,
  type HourHits,
  saveHits,
} from "#content/operation/activity-store.ts";
import {
  type FollowUp,
  oldestCall,
  saveFollowThroughs,
} from "#content/recommendation/follow-through-store.ts";
import { sha256Of } from "#content/runtime/digest.ts";
import type { Store } from "#content/store/open.ts";
import { flag, positionals, print, runCommand, wordedCommand } from "./support/command.ts";
import { configOrExit, openExistingStore, stopWith } from "./support/config.ts";

export const command = wordedCommand("import-hits", {
  args: {
    files: positionals,
    all: flag,
    json: flag,
  },
  run: async ({ args }) => {
    const files = args._;
    const missing = files.find((file) => !statSync(file, { throwIfNoEntry: false })?.isFile());
    if (missing !== undefined) stopWith(`${missing}: no such file.`);
    const config = configOrExit();
    using store = await openExistingStore(config, { busyWaitMs: 5_000 });
    const clientHashKey = clientHashKeyOf(config);
    const options = { all: args.all === true, now: systemClock(), clientHashKey };
    const reports: LogReport[] = [];
    try {
      for (const file of files) reports.push(await countLog(store, file, options));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      console.error(`${files[reports.length]}: ${why}`);
      process.exitCode = 1;
    }
    print(args, reports, () => reports.map(inWords));
  },
});

function inWords({ file, lines, unread, hits, follow_throughs }: LogReport): string {
  const counts = Object.entries(hits).map(
    ([kind, count]) => `${count} ${kind.replace("hit:", "")}`,
  );
  const hitsText = counts.length === 0 ? "no hits" : counts.join(", ");
  const followed = follow_throughs > 0 ? `, ${follow_throughs} follow-throughs` : "";
  return `${file}: ${lines} new lines, ${hitsText}${followed}${unread > 0 ? `; ${unread} lines were not understood` : ""}`;
}

export type LogReport = {
  file: string;
  /** Lines that are new since the last run. */
  lines: number;
  /** Lines that are not requests in a known format. */
  unread: number;
  hits: Partial<Record<ActivityKind, number>>;
  /** Profile views that follow a recommendation of the same user agent within 60 s and were not stored yet. */
  follow_throughs: number;
};

const lineBytesMax = 1_048_576;
const viewsAtOnce = 1_000;

/**
 * Counts the hits of an access log, gzipped or not, from where the last run ended, so that nothing in a log that grew or
 * was rotated counts twice. An incomplete last line is left for the next run. Memory does not grow with the file.
 */
export async function countLog(
  store: Store,
  file: string,
  { all, now, clientHashKey }: { all: boolean; now: Date; clientHashKey: Uint8Array },
): Promise<LogReport> {
  const report: LogReport = { file, lines: 0, unread: 0, hits: {}, follow_throughs: 0 };
  const views = await viewsOfLog(store, clientHashKey);
  const byHour = new Map<string, HourHits>();
  let id = "";
  let from = 0;
  let to = 0;
  for await (const { line, end } of linesOf(file)) {
    if (id === "") {
      id = sha256Of(line).slice(0, 32);
      from = await countedTo(store, id);
    }
    if (end <= from) continue;
    to = end;
    report.lines++;
    const request = readLogLine(line);
    if (request === null) report.unread++;
    if (request === null) continue;
    await views.add(request, all);
    const kind = hitOf(request, all);
    if (kind === null) continue;
    const hour = Math.floor(request.atMs / hourMs) * hourMs;
    const key = `${kind} ${hour}`;
    byHour.set(key, { kind, hour, count: (byHour.get(key)?.count ?? 0) + 1 });
    report.hits[kind] = (report.hits[kind] ?? 0) + 1;
  }
  report.follow_throughs = await views.save();
  if (to > from && !(await saveHits(store, { id, from, to, now }, [...byHour.values()]))) {
    throw new Error("Another run counts it, too; nothing was counted twice.");
  }
  return report;
}

/** Whole lines, each with the offset (in unpacked bytes) at which it ends. A line above 1 MiB is given as "". */
async function* linesOf(file: string): AsyncGenerator<{ line: string; end: number }> {
  const raw = createReadStream(file);
  const input: Readable = file.endsWith(".gz") ? pipeline(raw, createGunzip(), () => {}) : raw;
  let pending = Buffer.alloc(0);
  let end = 0;
  for await (const chunk of input) {
    pending = Buffer.concat([pending, chunk as Buffer]);
    let start = 0;
    for (let at = pending.indexOf(10); at >= 0; at = pending.indexOf(10, start)) {
      const line = pending.subarray(start, at).toString("utf8");
      end += at + 1 - start;
      start = at + 1;
      yield { line, end };
    }
    pending = pending.subarray(start);
    if (pending.length > lineBytesMax) {
      end += pending.length;
      yield { line: "", end };
      pending = Buffer.alloc(0);
    }
  }
}

/**
 * Finds profile views that follow a recommendation, by the same daily hash of the user agent that the service logs. Each
 * is stored once, however many logs contain it and however often they are read.
 */
async function viewsOfLog(store: Store, clientHashKey: Uint8Array) {
  // Views before the oldest stored recommendation cannot follow one.
  const sinceMs = (await oldestCall(store)) ?? Infinity;
  const batch: FollowUp[] = [];
  let stored = 0;
  /** Returns how many new follow-throughs were stored so far. */
  const save = async (): Promise<number> =>
    (stored += (await saveFollowThroughs(store, batch.splice(0))).written);
  const add = async (request: LoggedRequest, all: boolean): Promise<void> => {
    const { atMs, withinMs, userAgent } = request;
    const step = atMs + withinMs < sinceMs ? null : profileOf(request, all);
    if (step === null || userAgent === null) return;
    const clients = recentHashes(clientHashKey, userAgent, atMs);
    batch.push({ ...step, intent_id: null, clients, atMs, withinMs });
    if (batch.length >= viewsAtOnce) await save();
  };
  return { add, save };
}

/** One request of an access log. */
export type LoggedRequest = {
  method: string;
  path: string;
  status: number;
  atMs: number;
  /** Uncertainty of `atMs`. */
  withinMs: number;
  /** The header as sent, "" for none; null when the log does not contain it. */
  userAgent: string | null;
  /** Whether the cache fetched the answer from its origin, which then counted the hit; null when unknown. */
  fromOrigin: boolean | null;
};

/** nginx's combined format. It writes a quote as \x22, so no quote occurs inside quotes. */
const combined =
  /^\S+ - \S+ \[(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}:\d{2}:\d{2} [+-]\d{4})\] "([A-Z]+) (\S+)[^"]*" (\d{3}) \d+ "[^"]*" "([^"]*)"/;

/** Reads a line of an access log of nginx or Cloudflare (Logpush, JSON); null for any other line. */
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

/** For a log with whole seconds. */
const withinMs = 999;

/** Answers by Cloudflare's cache; all others went to the origin. */
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

/** The kind of hit; null for none (the service counts MCP itself). `all` includes fetches from the origin. */
export const hitOf = (request: LoggedRequest, all: boolean): ActivityKind | null =>
  wasServed(request, all) ? (discoveryHits.get(request.path) ?? null) : null;

/** The profile that a request opened; null for none. A HEAD request opens nothing. */
export const profileOf = (request: LoggedRequest, all: boolean) =>
  request.method === "GET" && wasServed(request, all) ? profileAt(request.path) : null;

const wasServed = ({ method, status, fromOrigin }: LoggedRequest, all: boolean): boolean =>
  /^(?:GET|HEAD)$/.test(method) && [200, 304].includes(status) && (all || fromOrigin !== true);

if (import.meta.main) await runCommand(command);
