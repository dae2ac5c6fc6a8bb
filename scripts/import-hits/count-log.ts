import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { recentHashes } from "#api/http/client.ts";
import {
  type ActivityKind,
  countedTo,
  type HourHits,
  saveHits,
} from "#content/operation/activity-store.ts";
import {
  type FollowUp,
  oldestCall,
  saveFollowThroughs,
} from "#content/recommendation/follow-through-store.ts";
import type { Store } from "#content/store/open.ts";
import { hitOf, type LoggedRequest, profileOf, readLogLine } from "./log-line.ts";

export type LogReport = {
  file: string;
  /** Lines that are new since the last run. */
  lines: number;
  /** Lines that are no request of a known format. */
  unread: number;
  hits: Partial<Record<ActivityKind, number>>;
  /** Views of profiles that follow a recommendation of the same user agent within 60 s, and were not known yet. */
  follow_throughs: number;
};

const hourMs = 3_600_000;
const lineBytesMax = 1_048_576;
const viewsAtOnce = 1_000;

/**
 * Counts the hits of an access log, gzipped or not, from where the last run ended: a log that grew or was rotated is
 * never counted twice. A line without its end is left for the next run. Memory does not grow with the file.
 */
export async function countLog(
  store: Store,
  file: string,
  { all, now, dailyHashKey }: { all: boolean; now: Date; dailyHashKey: Uint8Array },
): Promise<LogReport> {
  const report: LogReport = { file, lines: 0, unread: 0, hits: {}, follow_throughs: 0 };
  const views = await viewsOfLog(store, dailyHashKey);
  const byHour = new Map<string, HourHits>();
  let id = "";
  let from = 0;
  let to = 0;
  for await (const { line, end } of linesOf(file)) {
    if (id === "") {
      id = createHash("sha256").update(line).digest("hex").slice(0, 32);
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
    throw new Error(`${file} is being counted by another run; nothing was counted twice.`);
  }
  return report;
}

/** Whole lines with the place (in unpacked bytes) at which each ends. A line above 1 MiB is cut. */
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
 * Finds the profile views that follow a recommendation, by the same daily hash of the user agent that the service logs.
 * Each is stored once, whichever log it stands in and however often that is read.
 */
async function viewsOfLog(store: Store, dailyHashKey: Uint8Array) {
  // Nothing before the oldest call that is kept can be followed.
  const sinceMs = (await oldestCall(store)) ?? Infinity;
  const batch: FollowUp[] = [];
  let stored = 0;
  /** Answers how many follow-throughs were new so far. */
  const save = async (): Promise<number> =>
    (stored += (await saveFollowThroughs(store, batch.splice(0))).written);
  const add = async (request: LoggedRequest, all: boolean): Promise<void> => {
    const { atMs, withinMs, userAgent } = request;
    const step = atMs + withinMs < sinceMs ? null : profileOf(request, all);
    if (step === null || userAgent === null) return;
    const clients = recentHashes(dailyHashKey, userAgent, atMs);
    batch.push({ ...step, intent_id: null, clients, atMs, withinMs });
    if (batch.length >= viewsAtOnce) await save();
  };
  return { add, save };
}
