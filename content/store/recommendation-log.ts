import { insertMany } from "./bulk.ts";
import type { Store } from "./open.ts";

/** One call of recommend. Source: spec, "Events". */
export type LoggedRecommendation = {
  query: { cause: string | null; country: string | null; q: string | null; intent: string };
  result_count: number;
  top_slug: string | null;
  ranking_signals: readonly string[];
  /** Daily keyed hash of the user agent; never the agent itself, never an address. */
  client: string;
  called_at: Date;
};

export type RecommendationLog = {
  /** Notes a call; written within a second. */
  add(call: LoggedRecommendation): void;
  /** Writes what is noted. A failure keeps it for the next time, and throws. */
  flush(): Promise<void>;
};

const waitingMax = 20_000;
const flushAfterMs = 1_000;
const queryLengthMax = 300;

/** Logs recommendations in batches, so that none waits for a write. The caller flushes at shutdown. */
export function logRecommendations(
  store: Store,
  onError: (error: unknown) => void,
): RecommendationLog {
  let waiting: LoggedRecommendation[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  const flush = async () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const calls = waiting;
    waiting = [];
    if (calls.length === 0) return;
    try {
      await store.write((tx) => insertMany(tx, "recommendation_log", columns, calls.map(rowOf)));
    } catch (error) {
      // With the store out of reach for long, the oldest are let go.
      waiting = [...calls, ...waiting].slice(-waitingMax);
      throw error;
    }
  };
  return {
    add: (call) => {
      if (waiting.length < waitingMax) waiting.push(call);
      timer ??= setTimeout(() => void flush().catch(onError), flushAfterMs);
      timer.unref();
    },
    flush,
  };
}

const columns = [
  "query", "result_count", "top_slug", "ranking_signals", "client", "called_at",
] as const; // prettier-ignore

const rowOf = (call: LoggedRecommendation) => [
  JSON.stringify({
    cause: withoutAddresses(call.query.cause),
    country: withoutAddresses(call.query.country),
    q: withoutAddresses(call.query.q),
    intent: call.query.intent,
  }),
  call.result_count,
  call.top_slug,
  JSON.stringify(call.ranking_signals),
  call.client,
  call.called_at.getTime(),
];

/** People put addresses and telephone numbers into free text; the log does not keep them. */
const withoutAddresses = (text: string | null): string | null =>
  text === null
    ? null
    : text
        .slice(0, queryLengthMax)
        .replaceAll(/[^\s@]{1,64}@[^\s@]{1,255}/g, "[address]")
        .replaceAll(/\+?\d(?:[\s().-]{0,2}\d){6,}/g, "[number]");
