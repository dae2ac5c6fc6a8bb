import { recentHashes } from "#api/http/client.ts";
import {
  type FollowUp,
  followThroughsOf,
  oldestCall,
  saveFollowThroughs,
} from "#content/recommendation/follow-through-store.ts";
import type { Store } from "#content/store/open.ts";
import { type LoggedRequest, profileOf } from "./log-line.ts";

/** Looks which profile views of an access log follow a recommendation. */
export type ViewsOfLog = {
  /** Takes a request; looks at the store now and then. */
  add(request: LoggedRequest, options: { all: boolean }): Promise<void>;
  /** Looks at the rest, and answers how many follow-throughs are new. */
  end(): Promise<number>;
};

const lookedUpTogether = 1_000;

/**
 * Matches views by the same daily hash of the user agent that the service logs, made with the service's key. Each is
 * stored once, whichever log it stands in and however often that is read.
 */
export async function viewsOfLog(store: Store, dailyHashKey: Uint8Array): Promise<ViewsOfLog> {
  // Nothing before the oldest call that is kept can be followed.
  const sinceMs = (await oldestCall(store)) ?? Infinity;
  let waiting: FollowUp[] = [];
  let stored = 0;
  const look = async () => {
    const views = waiting;
    waiting = [];
    const found = await followThroughsOf(store, views);
    stored += await saveFollowThroughs(
      store,
      found.filter((one) => one !== null),
    );
  };
  return {
    add: async (request, options) => {
      const { atMs, withinMs, userAgent } = request;
      const step = atMs + withinMs < sinceMs ? null : profileOf(request, options);
      if (step === null || userAgent === null) return;
      const clients = recentHashes(dailyHashKey, userAgent, atMs);
      waiting.push({ ...step, intent_id: null, clients, atMs, withinMs });
      if (waiting.length >= lookedUpTogether) await look();
    },
    end: async () => {
      if (waiting.length > 0) await look();
      return stored;
    },
  };
}
