import { causeIds } from "#content/contract/cause.ts";
import { countsHere } from "#content/donation/network.ts";
import type { Queryable } from "#content/store/open.ts";

/** How many calls of recommend led how far. Each step counts calls, not clicks. */
export type FunnelStep = {
  calls: number;
  /** Calls that were answered with at least one recommendation. */
  answered: number;
  /** Calls after which the same user agent opened a profile within 60 s. */
  profile: number;
  /** Calls after which it asked for payment requirements within 60 s. */
  donate: number;
  /** Calls of which such a payment arrived, whenever that was. */
  donation: number;
  /** What arrived, in micro-USDC. */
  given_micro_usdc: bigint;
};

export type FunnelRow = FunnelStep & { phase: number; intent: string; cause: string };

/** Calls that name no cause of the directory, or none at all. */
export const otherCause = "(another)";
export const noCause = "(none)";

/** What followed the calls since an instant (milliseconds since 1970), by phase, intent and cause. Reads the whole log. */
export async function recommendationFunnel(
  store: Queryable,
  sinceMs: number,
): Promise<FunnelRow[]> {
  const { rows } = await store.raw.execute({
    sql: `WITH followed AS (
            SELECT f.recommendation_id AS id, max(f.action = 'profile') AS profile, max(f.action = 'donate') AS donate,
              max(d.id IS NOT NULL) AS donation, total(d.amount_micro_usdc) AS given
            FROM recommendation_follow_throughs AS f
            LEFT JOIN donations AS d ON f.intent_id <> '' AND d.memo = f.intent_id AND d.${countsHere}
            GROUP BY f.recommendation_id
          ),
          called AS (
            SELECT r.id, r.phase, r.result_count, r.query ->> 'intent' AS intent, lower(trim(r.query ->> 'cause')) AS cause
            FROM recommendation_log AS r
            WHERE r.called_at >= ?1
          )
          SELECT phase, intent,
            CASE WHEN cause IS NULL THEN ?3 WHEN cause IN (SELECT value FROM json_each(?2)) THEN cause ELSE ?4 END
              AS cause_id,
            count(*) AS calls, sum(result_count > 0) AS answered, sum(coalesce(profile, 0)) AS profile,
            sum(coalesce(donate, 0)) AS donate, sum(coalesce(donation, 0)) AS donation, total(given) AS given
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
    answered: Number(row["answered"]),
    profile: Number(row["profile"]),
    donate: Number(row["donate"]),
    donation: Number(row["donation"]),
    given_micro_usdc: BigInt(Math.round(Number(row["given"]))),
  }));
}

/** Profiles opened after calls since an instant, by the place at which they were recommended; null: they were not. */
export async function openedByRank(
  store: Queryable,
  sinceMs: number,
): Promise<{ rank: number | null; opened: number }[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT f.rank, count(*) AS opened
          FROM recommendation_follow_throughs AS f
          JOIN recommendation_log AS r ON r.id = f.recommendation_id
          WHERE f.action = 'profile' AND r.called_at >= ?
          GROUP BY f.rank
          ORDER BY f.rank IS NULL, f.rank`,
    args: [sinceMs],
  });
  return rows.map((row) => ({
    rank: row["rank"] === null ? null : Number(row["rank"]),
    opened: Number(row["opened"]),
  }));
}

/** When the oldest call was that is still kept, in milliseconds since 1970; null for none. */
export async function oldestCall(store: Queryable): Promise<number | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT called_at FROM recommendation_log ORDER BY id LIMIT 1",
    args: [],
  });
  const atMs = rows[0]?.["called_at"];
  return atMs === undefined ? null : Number(atMs);
}
