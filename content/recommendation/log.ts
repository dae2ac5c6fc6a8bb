import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { withoutContacts } from "#content/operation/personal-data.ts";
import { insertMany } from "#content/store/bulk.ts";
import type { FollowUp } from "./follow-through.ts";
import { gatherFollowUps } from "./follow-ups.ts";
import type { Store, WriteTransaction } from "#content/store/open.ts";

/** One call of recommend. Source: spec, "Events". */
export type LoggedRecommendation = {
  query: { cause: string | null; country: string | null; q: string | null; intent: string };
  result_count: number;
  top_slug: string | null;
  /** What was recommended, in its order. */
  slugs: readonly string[];
  ranking_signals: readonly string[];
  phase: 1 | 2 | 3;
  /** Daily keyed hash of the user agent; never the agent itself, never an address. */
  client: string;
  called_at: Date;
};

export type RecommendationLog = {
  /** Notes a call; written within a second. */
  add(call: LoggedRecommendation): void;
  /** Whether a recommendation of this process may be followed at this instant at all: a cheap first look. */
  isFollowed(atMs: number): boolean;
  /**
   * Notes what a client went on to do; stored when a call of the same client was at most 60 s before. `elsewhere`: that
   * call may have been answered by another process, so the store is asked even when this one remembers none.
   */
  follow(followUp: FollowUp, options?: { elsewhere?: boolean }): void;
  /** Writes what is noted. A failure keeps it for the next time, and throws. */
  flush(): Promise<void>;
};

const dayMs = 86_400_000;
const waitingMax = 20_000;
const flushAfterMs = 1_000;
const queryLengthMax = 300;
/** An embedded store works synchronously: a larger write would keep requests waiting. */
const callsPerWrite = 500;
const sweptMin = 200;

/**
 * Logs recommendations and what follows them in batches, so that no answer waits for a write. The caller flushes at
 * shutdown. Rows older than `keptDays` are deleted.
 */
export function logRecommendations(
  store: Store,
  onError: (error: unknown) => void,
  { keptDays = 90 }: { keptDays?: number } = {},
): RecommendationLog {
  const followUps = gatherFollowUps(store);
  let calls: LoggedRecommendation[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;

  const writeSome = async (taken: LoggedRecommendation[]) => {
    const newestMs = taken.at(-1)?.called_at.getTime() ?? 0;
    try {
      await store.write(async (tx) => {
        await insertMany(tx, "recommendation_log", columns, taken.map(rowOf));
        await sweep(tx, newestMs - keptDays * dayMs, Math.max(sweptMin, 2 * taken.length));
      });
    } catch (error) {
      // With the store out of reach for long, the oldest are let go.
      calls = [...taken, ...calls].slice(-waitingMax);
      throw error;
    }
  };
  const writeAll = async () => {
    while (calls.length > 0) {
      await writeSome(calls.splice(0, callsPerWrite));
      await eventLoopTurn();
    }
    // A follow-up is looked for when the call before it is sure to be stored.
    if (await followUps.write()) soon();
  };
  let turn: Promise<void> = Promise.resolve();
  const flush = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const mine = turn.then(writeAll);
    turn = mine.catch(() => undefined);
    return mine;
  };
  const soon = () => {
    timer ??= setTimeout(() => void flush().catch(onError), flushAfterMs);
    timer.unref();
  };
  return {
    add: (call) => {
      followUps.called(call.client, call.called_at.getTime());
      if (calls.length < waitingMax) calls.push(call);
      soon();
    },
    isFollowed: (atMs) => followUps.isAnyFollowed(atMs),
    follow: (followUp, { elsewhere = false } = {}) => {
      if (followUps.take(followUp, elsewhere)) soon();
    },
    flush,
  };
}

/** Deletes the oldest rows, at most so many, when they are too old. They lie in the order of time: no index is needed. */
async function sweep(tx: WriteTransaction, beforeMs: number, sweptMax: number): Promise<void> {
  const { rows } = await tx.raw.execute(
    "SELECT called_at FROM recommendation_log ORDER BY id LIMIT 1",
  );
  if (Number(rows[0]?.["called_at"] ?? beforeMs) >= beforeMs) return;
  await tx.raw.execute({
    sql: `DELETE FROM recommendation_log
          WHERE id IN (SELECT id FROM recommendation_log ORDER BY id LIMIT ?) AND called_at < ?`,
    args: [sweptMax, beforeMs],
  });
  await tx.raw.execute(
    `DELETE FROM recommendation_follow_throughs
     WHERE recommendation_id < (SELECT min(id) FROM recommendation_log)`,
  );
}

const columns = [
  "query",
  "result_count",
  "top_slug",
  "slugs",
  "ranking_signals",
  "phase",
  "client",
  "called_at",
] as const;

const rowOf = (call: LoggedRecommendation) => [
  JSON.stringify({
    cause: loggedText(call.query.cause),
    country: loggedText(call.query.country),
    q: loggedText(call.query.q),
    intent: call.query.intent,
  }),
  call.result_count,
  call.top_slug,
  JSON.stringify(call.slugs),
  JSON.stringify(call.ranking_signals),
  call.phase,
  call.client,
  call.called_at.getTime(),
];

const loggedText = (text: string | null): string | null =>
  text === null ? null : withoutContacts(text.slice(0, queryLengthMax));
