import { and, asc, eq, gt, lte, max } from "drizzle-orm";
import type { Queryable } from "#content/store/open.ts";
import { changes } from "#content/store/tables/publishing.ts";

/** One appended change of public data. `changed_at` is in milliseconds since 1970. */
export type Change = typeof changes.$inferSelect;

/** The changes after a sequence number, oldest first, at most `limit`. */
export const changesAfter = (
  store: Queryable,
  sequence: number,
  limit: number,
): Promise<Change[]> =>
  store.db
    .select()
    .from(changes)
    .where(gt(changes.sequence, sequence))
    .orderBy(asc(changes.sequence))
    .limit(limit);

/** The sequence number of the newest change, 0 for none. */
export async function newestSequence(store: Queryable): Promise<number> {
  const [found] = await store.db.select({ newest: max(changes.sequence) }).from(changes);
  return found?.newest ?? 0;
}

/** The newest of the next `limit` changes after a sequence number, not beyond `upTo`; null for none. */
export async function newestSequenceWithin(
  store: Queryable,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<number | null> {
  const next = store.db
    .select({ sequence: changes.sequence })
    .from(changes)
    .where(and(gt(changes.sequence, after), lte(changes.sequence, upTo)))
    .orderBy(asc(changes.sequence))
    .limit(limit)
    .as("next");
  const [found] = await store.db.select({ newest: max(next.sequence) }).from(next);
  return found?.newest ?? null;
}

/** Which nonprofit a change is about, null for the directory itself. */
export async function changedProfile(store: Queryable, sequence: number): Promise<number | null> {
  const [found] = await store.db
    .select({ id: changes.nonprofit_id })
    .from(changes)
    .where(eq(changes.sequence, sequence));
  return found?.id ?? null;
}
