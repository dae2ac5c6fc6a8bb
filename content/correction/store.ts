import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import type { Queryable } from "#content/store/open.ts";
import { countUpTo } from "#content/store/query.ts";
import { builder, statement, type Statement } from "#content/store/statement.ts";
import { corrections } from "#content/store/tables/enrichment.ts";

/** What someone said is wrong, and the outcome of it. Instants in milliseconds since 1970. Private. */
export type Correction = typeof corrections.$inferSelect;

export const addCorrection = (
  one: Omit<Correction, "status" | "reason" | "reviewed_by" | "reviewed_at">,
): Statement => statement(builder.insert(corrections).values({ ...one, status: "pending_review" }));

export const correctionById = (store: Queryable, id: string): Promise<Correction | null> =>
  first(store, eq(corrections.id, id));

/** The one that the link of a status page shows. Index: corrections_by_status_token. */
export const correctionByToken = (store: Queryable, digest: string): Promise<Correction | null> =>
  first(store, eq(corrections.status_digest, digest));

/** Says literally what the partial indexes say, so that SQLite uses them. */
const isWaiting = sql`${corrections.status} = 'pending_review'`;

/** The same correction that waits already. Index: one_pending_correction_per_request. */
export const waitingTwin = (store: Queryable, digest: string): Promise<Correction | null> =>
  first(store, and(isWaiting, eq(corrections.request_digest, digest)));

async function first(store: Queryable, which: SQL | undefined): Promise<Correction | null> {
  const [row] = await store.db.select().from(corrections).where(which).limit(1);
  return row ?? null;
}

/** From which networks those came that wait for a profile. Index: corrections_waiting_for_nonprofit. */
export const waitingForProfile = async (store: Queryable, nonprofitId: number) =>
  store.db
    .select({ network: corrections.network })
    .from(corrections)
    .where(and(eq(corrections.nonprofit_id, nonprofitId), isWaiting));

/** How many of a network wait, for all profiles. Index: corrections_waiting_of_network. */
export const waitingOfNetwork = (store: Queryable, network: string): Promise<number> =>
  store.db.$count(corrections, and(eq(corrections.network, network), isWaiting));

/** What waits, the oldest first, after a place. Index: corrections_by_status. */
export const correctionQueue = (
  store: Queryable,
  { after, limit }: { after: { at: number; id: string }; limit: number },
): Promise<Correction[]> => {
  const { created_at, id, status } = corrections;
  const isAfter = sql`(${created_at}, ${id}) > (${after.at}, ${after.id})`;
  return store.db
    .select()
    .from(corrections)
    .where(and(eq(status, "pending_review"), isAfter))
    .orderBy(asc(created_at), asc(id))
    .limit(limit);
};

/** How many wait. Stops counting at `max`. */
export const correctionsWaiting = (store: Queryable, max: number): Promise<number> =>
  countUpTo(store, max, "SELECT 1 FROM corrections WHERE status = 'pending_review'");

type Decision = Pick<Correction, "id" | "status" | "reason" | "reviewed_by" | "reviewed_at">;

/** Decides one that waits. From which network it came is of no use any more. */
export const closeCorrection = ({ id, ...decision }: Decision): Statement =>
  statement(
    builder
      .update(corrections)
      .set({ ...decision, network: null })
      .where(and(eq(corrections.id, id), isWaiting)),
  );
