import { and, desc, eq, isNotNull } from "drizzle-orm";
import type { Queryable } from "#content/store/open.ts";
import type { corrections } from "#content/store/tables/enrichment.ts";
import type { onboardingSubmissions } from "#content/store/tables/onboarding.ts";

const lastOnes = 20;
const enough = 5;
const dayMs = 86_400_000;

/**
 * Days in which half of the last that were approved were decided: what a sender may hope for. Null while there are too
 * few to say so. Indexes: corrections_by_status, onboarding_by_status.
 */
export async function usualDays(
  store: Queryable,
  of: typeof corrections | typeof onboardingSubmissions,
): Promise<number | null> {
  const rows = await store.db
    .select({ sent: of.created_at, decided: of.reviewed_at })
    .from(of)
    .where(and(eq(of.status, "approved"), isNotNull(of.reviewed_at)))
    .orderBy(desc(of.created_at))
    .limit(lastOnes);
  const waits = rows.map(({ sent, decided }) => Number(decided) - sent).sort((a, b) => a - b);
  const middle = waits[Math.floor(waits.length / 2)];
  return middle === undefined || waits.length < enough ? null : middle / dayMs;
}
