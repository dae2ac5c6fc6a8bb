import { and, desc, eq, isNotNull } from "drizzle-orm";
import type { Queryable } from "#content/store/open.ts";
import type { corrections } from "#content/store/tables/enrichment.ts";
import type { onboardingSubmissions } from "#content/store/tables/onboarding.ts";

const lastOnes = 20;
const enough = 5;
const dayMs = 86_400_000;

/**
 * Days in which half of the last ones were decided, whichever way: what a sender may expect. One that expired counts with
 * all the days it waited; one that its sender withdrew was decided by no one. Null while there are too few to say so.
 * Indexes: corrections_by_status, onboarding_by_status.
 */
export async function usualDays(
  store: Queryable,
  of: typeof corrections | typeof onboardingSubmissions,
): Promise<number | null> {
  const lastWith = (status: "approved" | "rejected") =>
    store.db
      .select({ sent: of.created_at, decided: of.reviewed_at })
      .from(of)
      .where(and(eq(of.status, status), isNotNull(of.reviewed_by)))
      .orderBy(desc(of.created_at))
      .limit(lastOnes);
  const rows = [...(await lastWith("approved")), ...(await lastWith("rejected"))];
  const waits = rows
    .toSorted((a, b) => b.sent - a.sent)
    .slice(0, lastOnes)
    .map(({ sent, decided }) => Number(decided) - sent)
    .toSorted((a, b) => a - b);
  const middle = waits[Math.floor(waits.length / 2)];
  return middle === undefined || waits.length < enough ? null : middle / dayMs;
}
