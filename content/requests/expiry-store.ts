import { and, asc, inArray, lt, sql } from "drizzle-orm";
import type { WriteTransaction } from "#content/store/open.ts";
import type { corrections } from "#content/store/tables/enrichment.ts";
import type { onboardingSubmissions } from "#content/store/tables/onboarding.ts";
import type { Old } from "./kind.ts";

/** The tables of requests that people send. Each has an index on status and time. */
type RequestTable = typeof corrections | typeof onboardingSubmissions;

/** Rejects those of a table that have waited longest. Answers how many. */
export async function expireRequests(
  tx: WriteTransaction,
  table: RequestTable,
  { before, at, limit }: Old,
): Promise<number> {
  // A literal: SQLite uses a partial index only for what the index says.
  const isWaiting = sql`${table.status} = 'pending_review'`;
  const old = tx.db
    .select({ id: table.id })
    .from(table)
    .where(and(isWaiting, lt(table.created_at, before)))
    .orderBy(asc(table.created_at))
    .limit(limit);
  const decided = { status: "rejected", reason: "expired", reviewed_by: "expiry" } as const;
  const { rowsAffected } = await tx.db
    .update(table)
    .set({ ...decided, reviewed_at: at, network: null })
    .where(inArray(table.id, old));
  return rowsAffected;
}
