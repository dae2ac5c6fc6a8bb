import { and, asc, eq, inArray, isNotNull, lt, lte, ne, type SQL, sql } from "drizzle-orm";
import { logOperator } from "#content/operation/audit-store.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { countUpTo, inValues } from "#content/store/query.ts";
import { corrections } from "#content/store/tables/enrichment.ts";

/** What someone said is wrong, and the outcome of it. Instants in milliseconds since 1970. Private. */
export type Correction = typeof corrections.$inferSelect;

/** Stores one that waits for an operator. */
export async function addCorrection(
  tx: WriteTransaction,
  one: Omit<Correction, "status" | "reason" | "reviewed_by" | "reviewed_at">,
): Promise<void> {
  await tx.db.insert(corrections).values({ ...one, status: "pending_review" });
}

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
export const waitingForProfile = (
  store: Queryable,
  nonprofitId: number,
): Promise<{ network: string | null }[]> =>
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
export async function closeCorrection(
  tx: WriteTransaction,
  { id, ...decision }: Decision,
): Promise<void> {
  await tx.db
    .update(corrections)
    .set({ ...decision, network: null })
    .where(and(eq(corrections.id, id), isWaiting));
}

/** Rejects those that have waited longest. Answers how many. Index: corrections_by_status. */
export async function expireCorrections(
  tx: WriteTransaction,
  { before, at, limit }: { before: number; at: number; limit: number },
): Promise<number> {
  const expired = { status: "rejected", reason: "expired", reviewed_by: "expiry" } as const;
  const old = tx.db
    .select({ id: corrections.id })
    .from(corrections)
    .where(and(isWaiting, lt(corrections.created_at, before)))
    .orderBy(asc(corrections.created_at))
    .limit(limit);
  const { rowsAffected } = await tx.db
    .update(corrections)
    .set({ ...expired, reviewed_at: at, network: null })
    .where(inArray(corrections.id, old));
  return rowsAffected;
}

/** Those that were decided by this instant and still hold a contact. Index: corrections_with_contact. */
export const decidedBy = (atMs: number): SQL =>
  sql`${corrections.contact_email} IS NOT NULL AND ${corrections.status} <> 'pending_review' AND ${lte(corrections.reviewed_at, atMs)}`;
export const isCorrection = (id: string): SQL => eq(corrections.id, id);
export const isCorrectionFrom = (email: string): SQL =>
  sql`lower(${corrections.contact_email}) = lower(${email})`;

/** Whether there is such a correction. */
export const hasCorrection = async (store: Queryable, which: SQL): Promise<boolean> =>
  (await first(store, which)) !== null;

/** Corrections from an address that wait. */
export const waitingCorrectionsFrom = async (
  store: Queryable,
  email: string,
): Promise<string[]> => {
  const { id } = corrections;
  const rows = await store.db
    .select({ id })
    .from(corrections)
    .where(and(isWaiting, isCorrectionFrom(email)));
  return rows.map((one) => one.id);
};

const erasedAtOnceMax = 500;

/** Erases the contact of these, with a line of the audit log for each. Those that wait keep theirs. Answers the ids, at most 500. */
export async function eraseCorrectionContacts(
  tx: WriteTransaction,
  which: SQL,
  { by, at }: { by: string; at: number },
): Promise<string[]> {
  const { id, contact_email, status } = corrections;
  const found = await tx.db
    .select({ id })
    .from(corrections)
    .where(and(which, ne(status, "pending_review"), isNotNull(contact_email)))
    .limit(erasedAtOnceMax);
  const ids = found.map((one) => one.id);
  // A digest of a text with an address in it gives guesses of the address away.
  await tx.db
    .update(corrections)
    .set({ contact_email: null, request_digest: "" })
    .where(inValues(id, ids));
  for (const one of ids) {
    const entry = { operator: by, action: "contact.erased", subject: `correction-${one}`, at };
    await logOperator(tx, { ...entry, detail: {} });
  }
  return ids;
}
