import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { oneByOne } from "#content/runtime/concurrency.ts";
import { countedCache } from "#content/runtime/cache.ts";
import { and, asc, inArray, lt, min, sql } from "drizzle-orm";
import { dayMs, minuteMs } from "#content/contract/base/time.ts";
import { causeIds } from "#content/contract/browse.ts";
import { countryOf } from "#content/nonprofit/country.ts";
import { withoutContacts } from "#content/nonprofit/text.ts";
import { insertMany } from "#content/store/query.ts";
import type { Store, WriteTransaction } from "#content/store/open.ts";
import {
  recommendationFollowThroughs,
  recommendationLog,
} from "#content/store/tables/recommendations.ts";
import {
  followThroughWindowMs,
  type FollowUp,
  oldestCall,
  otherCause,
  saveFollowThroughs,
} from "./follow-through-store.ts";

/** One call of recommend. */
export type LoggedRecommendation = Omit<
  typeof recommendationLog.$inferSelect,
  "id" | "weight" | "called_at"
> & {
  /** How many calls it stands for; default 1. */
  weight?: number;
  called_at: Date;
};

type Timer = ReturnType<typeof setTimeout>;

export type RecommendationLog = ReturnType<typeof logRecommendations>;

const waitingCallsMax = 20_000;
const flushAfterMs = 1_000;
/** The greatest length of each text in the log. */
const loggedLengthMax = 100;
/** An embedded store works synchronously: a larger write would keep requests waiting. */
const callsPerWrite = 500;
const sweptMin = 200;

/**
 * Logs recommendations and follow-ups in batches, so that no answer waits for a write. In busy minutes the log has counts
 * (docs/decisions/29-recommendations.md). The caller flushes at shutdown. Rows older than `keptDays` are deleted.
 */
export function logRecommendations(
  store: Store,
  onError: (error: unknown) => void,
  { keptDays = 90 }: { keptDays?: number } = {},
) {
  const followUps = gatherFollowUps(store);
  const callCounts = countCalls();
  let calls: LoggedRecommendation[] = [];
  let timer: Timer | null = null;
  let minuteTimer: Timer | null = null;

  const writeSome = async (batch: LoggedRecommendation[]) => {
    const newestMs = batch.at(-1)?.called_at.getTime() ?? 0;
    try {
      await store.write(async (tx) => {
        await insertMany(tx, recommendationLog, batch.map(rowOf));
        await sweep(tx, newestMs - keptDays * dayMs, Math.max(sweptMin, 2 * batch.length));
      });
    } catch (error) {
      // If the store is unreachable for long, drop the oldest.
      calls = [...batch, ...calls].slice(-waitingCallsMax);
      throw error;
    }
  };
  const writeAll = async () => {
    while (calls.length > 0) {
      await writeSome(calls.splice(0, callsPerWrite));
      await eventLoopTurn();
    }
    // Match follow-ups only after the calls before them are stored.
    if (await followUps.write()) scheduleFlush();
  };
  const inTurn = oneByOne();
  const write = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    return inTurn(writeAll);
  };
  const flush = () => {
    if (minuteTimer !== null) clearTimeout(minuteTimer);
    minuteTimer = null;
    calls.push(...callCounts.take());
    return write();
  };
  const scheduleFlush = () => {
    timer ??= setTimeout(() => void write().catch(onError), flushAfterMs);
    timer.unref();
  };
  /** Counts are complete, and written, when their minute is over. */
  const scheduleCounts = (atMs: number) => {
    minuteTimer ??= setTimeout(() => void flush().catch(onError), minuteMs - (atMs % minuteMs));
    minuteTimer.unref();
  };
  return {
    /**
     * Logs a call; it is written within a second, or with the counts of its minute. `network`: keyed hash of the client's
     * network, null if unknown; it is not stored.
     */
    add: (call: LoggedRecommendation, network: string | null = null): void => {
      const atMs = call.called_at.getTime();
      if (callCounts.add(call, network)) return scheduleCounts(atMs);
      followUps.called(call.client, atMs);
      if (calls.length < waitingCallsMax) calls.push(call);
      scheduleFlush();
    },
    /** Whether any recommendation of this process may be followed at this instant: a cheap first test. */
    isFollowed: (atMs: number): boolean => followUps.isAnyFollowed(atMs),
    /**
     * Logs a client's next action, stored if the same client called at most 60 s before. `elsewhere`: another process may
     * have answered that call, so the store is searched even if this process remembers none.
     */
    follow: (followUp: FollowUp, { elsewhere = false }: { elsewhere?: boolean } = {}): void => {
      if (followUps.take(followUp, elsewhere)) scheduleFlush();
    },
    /** Writes what is pending. On failure it is kept for the next time, and the error is thrown. */
    flush,
  };
}

/** The most calls per minute that are stored one by one. */
const storedMax = { ofNetwork: 20, ofAll: 200 } as const;
/** The most different counts per minute; further ones omit country and top result, which are unlimited. */
const countsMax = 50;

function countCalls() {
  let minute = Number.NaN;
  let storedCount = 0;
  const byNetwork = new Map<string | null, number>();
  const counts = new Map<string, LoggedRecommendation & { weight: number }>();
  const hasRoom = (network: string | null, atMs: number): boolean => {
    const now = Math.floor(atMs / minuteMs);
    if (minute !== now) {
      minute = now;
      storedCount = 0;
      byNetwork.clear();
    }
    const before = byNetwork.get(network) ?? 0;
    if (storedCount >= storedMax.ofAll || before >= storedMax.ofNetwork) return false;
    storedCount += 1;
    byNetwork.set(network, before + 1);
    return true;
  };
  const countOf = (call: LoggedRecommendation) => {
    const keyOf = ({ query, top_slug, result_count }: LoggedRecommendation) =>
      JSON.stringify([minute, call.phase, query, top_slug, result_count]);
    const wordlessCall = withoutWords(call);
    const knownEntry = counts.get(keyOf(wordlessCall));
    if (knownEntry !== undefined) return knownEntry;
    const query = { ...wordlessCall.query, country: null };
    const count =
      counts.size < countsMax
        ? wordlessCall
        : { ...wordlessCall, query, top_slug: null, slugs: [] };
    const key = keyOf(count);
    const countEntry = counts.get(key) ?? { ...count, weight: 0 };
    counts.set(key, countEntry);
    return countEntry;
  };
  return {
    /** Counts a call if its minute has no room for it; returns whether it did. */
    add: (call: LoggedRecommendation, network: string | null): boolean => {
      if (hasRoom(network, call.called_at.getTime())) return false;
      countOf(call).weight += 1;
      return true;
    },
    /** Removes and returns the counts, each as a call with a weight. */
    take: (): LoggedRecommendation[] => {
      const batch = [...counts.values()];
      counts.clear();
      return batch;
    },
  };
}

/** The counted part of a call: known causes and countries, and the first result. No client has an empty hash. */
function withoutWords(call: LoggedRecommendation): LoggedRecommendation {
  const { query, top_slug } = call;
  const causeName = query.cause?.trim().toLowerCase();
  const cause = causeIds.find((id) => id === causeName) ?? otherCause;
  const country = query.country === null ? null : (countryOf(query.country) ?? otherCause);
  return {
    ...call,
    query: {
      cause: causeName === undefined ? null : cause,
      country,
      q: null,
      intent: query.intent,
    },
    result_count: top_slug === null ? 0 : 1,
    slugs: top_slug === null ? [] : [top_slug],
    ranking_signals: [],
    client: "",
  };
}

/** Deletes the oldest rows, at most `sweptMax`, if they are too old. Rows are in order of time, so no index is needed. */
async function sweep(tx: WriteTransaction, beforeMs: number, sweptMax: number): Promise<void> {
  const log = recommendationLog;
  if (((await oldestCall(tx)) ?? beforeMs) >= beforeMs) return;
  const oldest = tx.db.select({ id: log.id }).from(log).orderBy(asc(log.id)).limit(sweptMax);
  await tx.db.delete(log).where(and(inArray(log.id, oldest), lt(log.called_at, beforeMs)));
  const { recommendation_id } = recommendationFollowThroughs;
  const first = tx.db.select({ id: min(log.id) }).from(log);
  await tx.db.delete(recommendationFollowThroughs).where(sql`${recommendation_id} < (${first})`);
}

const rowOf = ({ query, called_at, weight = 1, ...call }: LoggedRecommendation) => ({
  ...call,
  weight,
  query: {
    cause: loggedText(query.cause),
    country: loggedText(query.country),
    q: loggedText(query.q),
    intent: query.intent,
  },
  called_at: called_at.getTime(),
});

const loggedText = (text: string | null): string | null =>
  text === null ? null : withoutContacts(text).slice(0, loggedLengthMax).toWellFormed();

/** The most follow-ups per second; beyond that, telemetry is a sample, because looking up more would slow down answers. */
const waitingFollowUpsMax = 2_000;
/** The most follow-ups of calls that this process does not remember: each requires a query. */
const unsureMax = 500;
/** Other processes write their calls within a second or two. */
const looksMax = 3;

const clientsMax = 20_000;

/** Follow-ups of recommendations that wait in memory to be stored with the log. */
function gatherFollowUps(store: Store) {
  /** When each client last got a recommendation: nearly all page views follow none. */
  const calledAt = countedCache<number>(clientsMax);
  let newestMs = -Infinity;
  const within = (calledAtMs: number, atMs: number) => atMs - calledAtMs <= followThroughWindowMs;
  let waitingFollowUps: { followUp: FollowUp; looks: number }[] = [];
  let notedKeys = new Set<string>();
  let unsure = 0;
  return {
    /** Remembers that a client got a recommendation. */
    called: (client: string, atMs: number) => {
      calledAt.set(client, atMs);
      newestMs = atMs;
    },
    /** Whether anyone's recommendation may be followed at this instant. */
    isAnyFollowed: (atMs: number) => within(newestMs, atMs),
    /** Accepts a follow-up if a recommendation may precede it; returns whether it did. */
    take: (followUp: FollowUp, elsewhere: boolean) => {
      const { clients, atMs } = followUp;
      const key = `${clients[0]} ${followUp.action} ${followUp.slug} ${followUp.intent_id ?? ""}`;
      if (notedKeys.has(key)) return false;
      const isKnown = clients.some((client) => within(calledAt.peek(client) ?? -Infinity, atMs));
      const isWanted = isKnown || (elsewhere && unsure < unsureMax);
      if (!isWanted || waitingFollowUps.length >= waitingFollowUpsMax) return false;
      if (!isKnown) unsure += 1;
      notedKeys.add(key);
      waitingFollowUps.push({ followUp, looks: isKnown ? 1 : looksMax });
      return true;
    },
    /** Stores the follow-ups of logged recommendations. Returns whether some must be looked up again. */
    write: async () => {
      const batch = waitingFollowUps;
      waitingFollowUps = [];
      notedKeys = new Set();
      unsure = 0;
      if (batch.length === 0) return false;
      try {
        const { missed } = await saveFollowThroughs(
          store,
          batch.map(({ followUp }) => followUp),
        );
        const again = batch.filter(({ followUp, looks }) => looks > 1 && missed.has(followUp));
        waitingFollowUps.push(
          ...again.map(({ followUp, looks }) => ({ followUp, looks: looks - 1 })),
        );
      } catch (error) {
        waitingFollowUps = [...batch, ...waitingFollowUps].slice(-waitingFollowUpsMax);
        throw error;
      }
      return waitingFollowUps.length > 0;
    },
  };
}
