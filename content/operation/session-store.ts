import { eq, lt } from "drizzle-orm";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { endedSessions } from "#content/store/tables/operations.ts";

/** Ends a session of the desk early, for all processes, and forgets sessions that have expired anyway. */
export async function endSession(
  tx: WriteTransaction,
  { id, until, now }: { id: string; until: Date; now: Date },
): Promise<void> {
  await tx.db.delete(endedSessions).where(lt(endedSessions.until, now.getTime()));
  await tx.db.insert(endedSessions).values({ id, until: until.getTime() }).onConflictDoNothing();
}

export const isEnded = async (store: Queryable, id: string): Promise<boolean> =>
  (await store.db.$count(endedSessions, eq(endedSessions.id, id))) > 0;
