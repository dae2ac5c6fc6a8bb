import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { oneByOne } from "#content/runtime/concurrency.ts";
import { countedCache } from "#content/runtime/cache.ts";
import { and, asc, inArray, lt, min, sql } from "drizzle-orm";
import { dayMs, minuteMs } from "#content/contract/base/time.ts";
import { causeIds } from "#content/contract/browse.ts";
import type { RecommendQuery } from "#content/contract/recommendation.ts";
import { countryCode } from "#content/nonprofit/country.ts";
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

/** One call of recommend. Source: spec, "Events". */
export type LoggedRecommendation = {
  query: Pick<RecommendQuery, "cause" | "country" | "q" | "intent">;
  result_count: number;
  top_slug: string | null;
  /** What was recommended, in its order. */
  slugs: readonly string[];
  ranking_signals: readonly string[];
  phase: 1 | 2 | 3;
  /** How many calls it stands for; 1 unless given. */
  weight?: number;
  /** Daily keyed hash of the user agent; never the agent itself, never an address. */
  client: string;
  called_at: Date;
};

type Timer = ReturnType<typeof setTimeout>;

export type RecommendationLog = ReturnType<typeof logRecommendations>;

const waitingCallsMax = 20_000;
const flushAfterMs = 1_000;
/** Of each of the words, in the log. */
const loggedLengthMax = 100;
/** An embedded store works synchronously: a larger write would keep requests waiting. */
const callsPerWrite = 500;
const sweptMin = 200;

/**
 * Logs recommendations and what follows them in batches, so that no answer waits for a write. Of a busy minute the log has
 * counts, see decision 29. The caller flushes at shutdown. Rows older than `keptDays` are deleted.
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
      // With the store out of reach for long, the oldest are let go.
      calls = [...batch, ...calls].slice(-waitingCallsMax);
      throw error;
    }
  };
  const writeAll = async () => {
    while (calls.length > 0) {
      await writeSome(calls.splice(0, callsPerWrite));
      await eventLoopTurn();
    }
    // A follow-up is looked for when the call before it is sure to be stored.
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
     * Notes a call; written within a second, or with the counts of its minute. `network`: keyed hash of the client's, null
     * for an unknown one, which is not stored.
     */
    add: (call: LoggedRecommendation, network: string | null = null): void => {
      const atMs = call.called_at.getTime();
      if (callCounts.add(call, network)) return scheduleCounts(atMs);
      followUps.called(call.client, atMs);
      if (calls.length < waitingCallsMax) calls.push(call);
      scheduleFlush();
    },
    /** Whether a recommendation of this process may be followed at this instant at all: a cheap first look. */
    isFollowed: (atMs: number): boolean => followUps.isAnyFollowed(atMs),
    /**
     * Notes what a client went on to do; stored when a call of the same client was at most 60 s before. `elsewhere`: that
     * call may have been answered by another process, so the store is asked even when this one remembers none.
     */
    follow: (followUp: FollowUp, { elsewhere = false }: { elsewhere?: boolean } = {}): void => {
      if (followUps.take(followUp, elsewhere)) scheduleFlush();
    },
    /** Writes what is noted. A failure keeps it for the next time, and throws. */
    flush,
  };
}

/** Calls of a minute that are stored each. */
const storedMax = { ofNetwork: 20, ofAll: 200 } as const;
/** Different counts of a minute; further ones leave out country and top result, of which there is no end. */
const countsMax = 50;

/** Tells which calls of a minute are stored each, and counts the others. */
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
    /** Whether a call is counted here, because its minute has no room for it. */
    add: (call: LoggedRecommendation, network: string | null): boolean => {
      if (hasRoom(network, call.called_at.getTime())) return false;
      countOf(call).weight += 1;
      return true;
    },
    /** Takes the counts out, each as a call that stands for as many. */
    take: (): LoggedRecommendation[] => {
      const batch = [...counts.values()];
      counts.clear();
      return batch;
    },
  };
}

/** What is counted of a call: known causes and countries, and the first result. No client has an empty hash. */
function withoutWords(call: LoggedRecommendation): LoggedRecommendation {
  const { query, top_slug } = call;
  const causeName = query.cause?.trim().toLowerCase();
  const cause = causeIds.find((id) => id === causeName) ?? otherCause;
  const country = query.country === null ? null : (countryCode(query.country) ?? otherCause);
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

/** Deletes the oldest rows, at most this many, when they are too old. They lie in the order of time: no index is needed. */
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
  slugs: [...call.slugs],
  ranking_signals: [...call.ranking_signals],
  called_at: called_at.getTime(),
});

const loggedText = (text: string | null): string | null =>
  text === null ? null : withoutContacts(text).slice(0, loggedLengthMax).toWellFormed();

/** Of a second. Beyond it, telemetry is a sample: looking for more would slow down what is served. */
const waitingFollowUpsMax = 2_000;
/** Follow-ups of calls that this process does not remember: each costs a look at the store. */
const unsureMax = 500;
/** Another process writes its calls within a second or two. */
const looksMax = 3;

const clientsMax = 20_000;

/** What clients did after recommendations, waiting in memory to be stored with the log. */
function gatherFollowUps(store: Store) {
  /** When a client was last given a recommendation: nearly all page views follow none. */
  const calledAt = countedCache<number>(clientsMax);
  let newestMs = -Infinity;
  const within = (calledAtMs: number, atMs: number) => atMs - calledAtMs <= followThroughWindowMs;
  let waitingFollowUps: { followUp: FollowUp; looks: number }[] = [];
  let notedKeys = new Set<string>();
  let unsure = 0;
  return {
    /** Remembers that a client was given a recommendation. */
    called: (client: string, atMs: number) => {
      calledAt.set(client, atMs);
      newestMs = atMs;
    },
    /** Whether anybody's recommendation may be followed at this instant. */
    isAnyFollowed: (atMs: number) => within(newestMs, atMs),
    /** Takes a follow-up, and says so; it leaves alone what follows no recommendation that could be meant. */
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
    /** Stores what follows a logged recommendation. Answers whether something waits for another look. */
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
