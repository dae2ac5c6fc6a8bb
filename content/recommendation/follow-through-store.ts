import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { and, asc, count, eq, gte, sql } from "drizzle-orm";
import { causeIds } from "#content/contract/browse.ts";
import { countsHere } from "#content/giving/store.ts";
import type { Queryable, Store, WriteTransaction } from "#content/store/open.ts";
import { insertMany, valuesOf } from "#content/store/query.ts";
import {
  recommendationFollowThroughs,
  recommendationLog,
} from "#content/store/tables/recommendations.ts";
import { micro, usdcNumber } from "#content/contract/base/money.ts";
import type { FunnelGroup } from "#content/contract/operator.ts";

/** The follow-through window; exactly this long after still counts. */
export const followThroughWindowMs = 60_000;

/** A client's action that may follow a recommendation. */
export type FollowUp = {
  slug: string;
  /** "donate": it asked for payment requirements. */
  action: "profile" | "donate";
  /** How the profile was read; null for a donation. */
  form: "page" | "markdown" | "json" | null;
  /** Memo of the payment requirements, which links a donation to the recommendation. Null for a profile. */
  intent_id: string | null;
  /** Daily keyed hashes of the user agent: today's, and just after midnight also yesterday's. */
  clients: readonly [string] | readonly [string, string];
  atMs: number;
  /** The precision of `atMs`: access logs have whole seconds, so 12:00:05 may be up to 12:00:05.999. */
  withinMs: number;
};

/** The most follow-throughs per call: reading on costs a client nothing and must not fill the store. */
const followThroughsMax = 20;
/** Common user agents call often: how many of the newest calls are searched for one that named the profile. */
const callsLookedAt = 20;
/** An embedded store works synchronously: a larger query would keep requests waiting. */
const perQuery = 100;

/**
 * Stores follow-ups of recommendations, each once, at most 20 per call; repeating one, from any source, changes nothing.
 * Each belongs to the newest call of the same user agent within the window that recommended this profile, else to the newest
 * call. Returns how many are new, and which belong to none. Index: recommendation_log_by_client.
 */
export async function saveFollowThroughs(
  store: Pick<Store, "raw" | "write">,
  followUps: readonly FollowUp[],
): Promise<{ written: number; missed: ReadonlySet<FollowUp> }> {
  const missed = new Set(followUps);
  const followThroughs: FollowThrough[] = [];
  for (let from = 0; from < followUps.length; from += perQuery) {
    if (from > 0) await eventLoopTurn();
    const batch = followUps.slice(from, from + perQuery);
    const lookups = batch.map(({ clients: [today, before], slug, atMs, withinMs }) => [
      today,
      before ?? null,
      slug,
      atMs - followThroughWindowMs,
      atMs + withinMs,
    ]);
    // SQL, because one statement matches a hundred follow-ups while requests wait.
    const { rows } = await store.raw.execute({ sql: matchSql, args: [JSON.stringify(lookups)] });
    for (const row of rows) {
      const followUp = batch[Number(row["place"])];
      if (followUp === undefined) continue;
      missed.delete(followUp);
      followThroughs.push({
        recommendation_id: Number(row["recommendation_id"]),
        slug: followUp.slug,
        action: followUp.action,
        form: followUp.form,
        // From 1; null if the profile was not among those recommended, which counts as well.
        rank: row["rank"] === null ? null : Number(row["rank"]),
        intent_id: followUp.intent_id ?? "",
        followed_at: Math.max(followUp.atMs, Number(row["called_at"])),
      });
    }
  }
  if (followThroughs.length === 0) return { written: 0, missed };
  const once = "ON CONFLICT (recommendation_id, action, slug, intent_id) DO NOTHING";
  const written = await store.write(async (tx) =>
    insertMany(tx, recommendationFollowThroughs, await withRoom(tx, followThroughs), once),
  );
  return { written, missed };
}

type FollowThrough = typeof recommendationFollowThroughs.$inferInsert;

/** The follow-throughs whose call has room for them. Index: one_follow_through. */
async function withRoom(tx: WriteTransaction, followThroughs: readonly FollowThrough[]) {
  const { recommendation_id: id } = recommendationFollowThroughs;
  const calls = JSON.stringify(followThroughs.map(({ recommendation_id }) => recommendation_id));
  const before = await tx.db
    .select({ id, stored: count() })
    .from(recommendationFollowThroughs)
    .where(sql`${id} IN (SELECT value FROM json_each(${calls}))`)
    .groupBy(id);
  const storedOf = new Map(before.map(({ id: call, stored }) => [call, stored]));
  return followThroughs.filter(({ recommendation_id: call }) => {
    const storedCount = storedOf.get(call) ?? 0;
    storedOf.set(call, storedCount + 1);
    return storedCount < followThroughsMax;
  });
}

const callOf = (client: string) => `
  SELECT id
  FROM (
    SELECT id, called_at, step.slug IN (SELECT value FROM json_each(slugs)) AS named
    FROM recommendation_log
    WHERE client = ${client} AND called_at BETWEEN step.since AND step.until
    ORDER BY called_at DESC
    LIMIT ${callsLookedAt}
  )
  ORDER BY named DESC, called_at DESC, id DESC
  LIMIT 1`;

const matchSql = `
  WITH step AS (
    SELECT key AS place, value ->> 0 AS today, value ->> 1 AS before, value ->> 2 AS slug,
      value ->> 3 AS since, value ->> 4 AS until
    FROM json_each(?)
  )
  SELECT step.place, call.id AS recommendation_id, call.called_at,
    (SELECT named.key + 1 FROM json_each(call.slugs) AS named WHERE named.value = step.slug) AS rank
  FROM step
  JOIN recommendation_log AS call
    ON call.id = coalesce((${callOf("step.today")}), (${callOf("step.before")}))`;

/** How far calls of recommend led. Each step counts calls, not clicks. */
export type FunnelRow = Awaited<ReturnType<typeof recommendationFunnel>>[number];

/** Values for calls that name an unknown cause, or none. */
export const otherCause = "(another)";
export const noCause = "(none)";

/**
 * What followed the calls since an instant (milliseconds since 1970), by phase, intent and cause. Every call counts;
 * follow-throughs are known only for calls stored one by one, at most 20 each. Reads the whole log.
 */
export async function recommendationFunnel(store: Queryable, sinceMs: number) {
  // SQL, because it is one statement with two subqueries over JSON; only the operator asks for it.
  const { rows } = await store.raw.execute({
    sql: `WITH followed AS (
            SELECT f.recommendation_id AS id, max(f.action = 'profile') AS profile, max(f.action = 'donate') AS donate,
              max(d.id IS NOT NULL) AS donation, total(d.amount_micro_usdc) AS given
            FROM recommendation_follow_throughs AS f
            LEFT JOIN donations AS d ON f.intent_id <> '' AND d.memo = f.intent_id AND d.${countsHere}
            GROUP BY f.recommendation_id
          ),
          called AS (
            SELECT r.id, r.phase, r.weight, r.result_count, r.query ->> 'intent' AS intent, lower(trim(r.query ->> 'cause')) AS cause
            FROM recommendation_log AS r
            WHERE r.called_at >= ?1
          )
          SELECT phase, intent,
            CASE WHEN cause IS NULL THEN ?3 WHEN cause IN (SELECT value FROM json_each(?2)) THEN cause ELSE ?4 END
              AS cause_id,
            sum(weight) AS calls, sum(weight * (result_count > 0)) AS answered,
            sum(weight * coalesce(profile, 0)) AS profile, sum(weight * coalesce(donate, 0)) AS donate,
            sum(coalesce(donation, 0)) AS donation, total(given) AS given
          FROM called
          LEFT JOIN followed USING (id)
          GROUP BY phase, intent, cause_id
          ORDER BY phase, intent, cause_id`,
    args: [sinceMs, JSON.stringify(causeIds), noCause, otherCause],
  });
  return rows.map((row) => ({
    phase: Number(row["phase"]),
    intent: String(row["intent"]),
    cause: String(row["cause_id"]),
    calls: Number(row["calls"]),
    /** Calls with at least one recommendation in the answer. */
    answered: Number(row["answered"]),
    /** Calls after which the same user agent opened a profile within 60 s. */
    profile: Number(row["profile"]),
    /** Calls after which it asked for payment requirements within 60 s. */
    donate: Number(row["donate"]),
    /** Calls whose payment arrived, at any time. */
    donation: Number(row["donation"]),
    given_micro_usdc: BigInt(Math.round(Number(row["given"]))),
  }));
}

/** Profiles opened after calls since an instant, by rank in the recommendation; null: not recommended. */
export async function openedByRank(store: Queryable, sinceMs: number) {
  const follow = recommendationFollowThroughs;
  return store.db
    .select({ rank: follow.rank, opened: count() })
    .from(follow)
    .innerJoin(recommendationLog, eq(recommendationLog.id, follow.recommendation_id))
    .where(and(eq(follow.action, "profile"), gte(recommendationLog.called_at, sinceMs)))
    .groupBy(follow.rank)
    .orderBy(sql`${follow.rank} IS NULL`, asc(follow.rank));
}

/** The time of the oldest stored call, in milliseconds since 1970; null if there is none. */
export async function oldestCall(store: Queryable): Promise<number | null> {
  const { id, called_at } = recommendationLog;
  const [oldest = null] = await valuesOf(store, called_at, undefined, { by: id, limit: 1 });
  return oldest;
}

/** Calls and what followed: for all, then by phase, intent and cause, those with most calls first. */
export const funnelOf = (rows: readonly FunnelRow[]): FunnelGroup[] => [
  sumOf("all", "", rows),
  ...(["phase", "intent", "cause"] as const).flatMap((by) =>
    [...Map.groupBy(rows, (row) => String(row[by]))]
      .map(([value, same]) => sumOf(by, value, same))
      .sort((a, b) => b.calls - a.calls || (a.value < b.value ? -1 : 1)),
  ),
];

function sumOf(by: FunnelGroup["by"], value: string, rows: readonly FunnelRow[]): FunnelGroup {
  const sum = (name: "calls" | "answered" | "profile" | "donate" | "donation") =>
    rows.reduce((all, row) => all + row[name], 0);
  const givenTotal = rows.reduce((all, row) => all + row.given_micro_usdc, 0n);
  return {
    by,
    value,
    calls: sum("calls"),
    answered: sum("answered"),
    profile: sum("profile"),
    donate: sum("donate"),
    donation: sum("donation"),
    given_usdc: usdcNumber(micro(givenTotal)),
  };
}
