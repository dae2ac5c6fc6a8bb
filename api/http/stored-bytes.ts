import type { Activity } from "#content/operation/activity-store.ts";
import { Refused } from "./problem.ts";
import type { Limits } from "./rate-limit.ts";

/** What a row takes beside what was sent: its indexes, names, times and the page it shares. Measured: 0.3 to 0.6 kB. */
const rowBytes = 600;

/**
 * Counts what a request may store toward the day's room of its network and of everyone. Throws Refused, 429, when there
 * is none left: nothing that anyone may send without a key grows without bound.
 */
export async function takeStored(
  { limits, activity }: { limits: Pick<Limits, "stored">; activity: Pick<Activity, "count"> },
  request: Request,
  { sent, rows }: { sent: unknown; rows: number },
): Promise<void> {
  const bytes = rows * rowBytes + Buffer.byteLength(JSON.stringify(sent) ?? "");
  const room = await limits.stored(request, bytes);
  if (room === null || room.allowed) return;
  activity.count("limited:stored");
  const whose = room.policy === "stored-network" ? "your network" : "all senders together";
  throw new Refused({
    status: 429,
    code: "storage_quota",
    detail: `Nothing was stored: ${whose} may store ${(room.limit / 1e6).toLocaleString("en")} MB in 24 hours, and that is used up. Retry-After says when there is room again.`,
    headers: { "retry-after": String(Math.max(1, Math.ceil(room.resetMs / 1_000))) },
  });
}
