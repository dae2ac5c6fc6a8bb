import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gte,
  inArray,
  isNotNull,
  lt,
  lte,
  ne,
  not,
  notExists,
  type SQL,
  sql,
} from "drizzle-orm";
import { isoTime } from "#content/contract/base/time.ts";
import type { WebhookDelivery, WebhookEvent } from "#content/contract/webhook.ts";
import { micro } from "#content/contract/base/money.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { countUpTo, inValues } from "#content/store/query.ts";
import { donations } from "#content/store/tables/giving.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { webhookCursors, webhookDeliveries } from "#content/store/tables/operations.ts";
import {
  type AnnouncedDonation,
  type DonationEventType,
  donationEvents,
} from "./webhook-events.ts";

export type CursorName = "changes" | "donations";

/** How far events were made; null before the first time. */
export async function webhookCursor(store: Queryable, name: CursorName): Promise<number | null> {
  const [cursor] = await store.db
    .select({ position: webhookCursors.position })
    .from(webhookCursors)
    .where(eq(webhookCursors.name, name));
  return cursor?.position ?? null;
}

/** Moves a cursor on, never back: two processes that both believe to be the sender send nothing a second time for it. */
export async function moveCursor(
  tx: WriteTransaction,
  name: CursorName,
  position: number,
): Promise<void> {
  await tx.db
    .insert(webhookCursors)
    .values({ name, position })
    .onConflictDoUpdate({
      target: webhookCursors.name,
      set: { position: sql`max(${webhookCursors.position}, excluded.position)` },
    });
}

/** Puts an event on its way to every address. One that is known already stays what it is. */
export async function queueEvent(
  tx: WriteTransaction,
  { id, message }: WebhookEvent,
  { urls, now }: { urls: readonly string[]; now: Date },
): Promise<void> {
  const at = now.getTime();
  const { type } = message;
  const payload = JSON.stringify(message);
  for (const url of urls) {
    await tx.db
      .insert(webhookDeliveries)
      .values({ url, event_id: id, type, payload, status: "pending", due_at: at, created_at: at })
      .onConflictDoNothing({ target: [webhookDeliveries.event_id, webhookDeliveries.url] });
  }
}

/**
 * Donations recorded (or voided) since an instant of which no such event was made yet, the oldest first. Looked for by what
 * is missing, because a donation that another process recorded may become visible after a later one. Indexes:
 * donations_by_time, donations_voided.
 */
export async function unannouncedDonations(
  store: Queryable,
  { type, since, limit }: { type: DonationEventType; since: number; limit: number },
): Promise<(AnnouncedDonation & { recorded_at: number })[]> {
  const { id, network, tx_signature, settled_at, recorded_at, amount_micro_usdc } = donations;
  const happened_at = type === "donation.voided" ? donations.voided_at : recorded_at;
  const isAnnounced = sql`${webhookDeliveries.event_id} = ${donationEvents[type]} || ${id}`;
  const announced = store.db
    .select({ found: sql`1` })
    .from(webhookDeliveries)
    .where(isAnnounced);
  // Money leaves the store as text: a double would round what a whale gives.
  const amount = sql<string>`CAST(${amount_micro_usdc} AS TEXT)`;
  const found = await store.db
    .select({ id, slug: nonprofits.slug, amount, network, tx_signature, settled_at, recorded_at })
    .from(donations)
    .innerJoin(nonprofits, eq(nonprofits.id, donations.nonprofit_id))
    .where(and(gte(happened_at, since), notExists(announced)))
    .orderBy(asc(happened_at))
    .limit(limit);
  return found.map(({ amount: text, ...one }) => ({
    ...one,
    amount_micro_usdc: micro(BigInt(text)),
  }));
}

/** As the partial index says it: a bound value would not find it. */
const isPending = sql`${webhookDeliveries.status} = 'pending'`;

export type StoredDelivery = typeof webhookDeliveries.$inferSelect;

/** What is to be sent to one address now, the longest due first. Index: webhook_deliveries_due. */
export const dueDeliveries = (
  store: Queryable,
  { url, now, limit }: { url: string; now: Date; limit: number },
): Promise<StoredDelivery[]> => {
  const d = webhookDeliveries;
  return store.db
    .select()
    .from(d)
    .where(and(isPending, eq(d.url, url), lte(d.due_at, now.getTime())))
    .orderBy(asc(d.due_at), asc(d.id))
    .limit(limit)
    .execute();
};

/** The outcome of an attempt. `due_at` is when the next one is; null when it is finished. */
export type Attempted = Pick<StoredDelivery, "id" | "status" | "answered_status" | "answer"> & {
  due_at: number | null;
};

/** Notes the outcome of attempts. A delivery that was finished meanwhile stays so. */
export async function noteAttempts(
  tx: WriteTransaction,
  attempts: readonly Attempted[],
  now: Date,
): Promise<void> {
  const at = now.getTime();
  const d = webhookDeliveries;
  for (const { id, due_at, ...outcome } of attempts) {
    await tx.db
      .update(d)
      .set({
        ...outcome,
        ...(due_at === null ? {} : { due_at }),
        attempts: sql`${d.attempts} + 1`,
        finished_at: outcome.status === "pending" ? null : at,
      })
      .where(and(eq(d.id, id), eq(d.status, "pending")));
  }
}

/** Gives up what goes to addresses that the operator no longer lists. */
export async function dropUnlisted(
  tx: WriteTransaction,
  { urls, now }: { urls: readonly string[]; now: Date },
): Promise<void> {
  await giveUp(tx, not(inValues(webhookDeliveries.url, urls)), "not listed any more", now);
}

/** Gives up what waited for too long behind others for a receiver that answers nothing. Index: webhook_deliveries_due. */
export async function expireDeliveries(
  tx: WriteTransaction,
  { before, now }: { before: Date; now: Date },
): Promise<void> {
  const { answer, created_at } = webhookDeliveries;
  const why = sql`coalesce(${answer}, 'given up before its turn came')`;
  await giveUp(tx, lt(created_at, before.getTime()), why, now);
}

async function giveUp(tx: WriteTransaction, which: SQL, answer: SQL | string, now: Date) {
  await tx.db
    .update(webhookDeliveries)
    .set({ status: "failed", answer, finished_at: now.getTime() })
    .where(and(isPending, which));
}

const prunedAtOnce = 1_000;

/** Forgets deliveries that were finished before an instant, some at a time. Index: webhook_deliveries_finished. */
export async function pruneDeliveries(tx: WriteTransaction, before: Date): Promise<void> {
  const { id, finished_at } = webhookDeliveries;
  const old = tx.db
    .select({ id })
    .from(webhookDeliveries)
    .where(and(isNotNull(finished_at), lt(finished_at, before.getTime())))
    .limit(prunedAtOnce);
  await tx.db.delete(webhookDeliveries).where(inArray(id, old));
}

type DeliveryFilter = {
  status?: StoredDelivery["status"] | undefined;
  before?: number | undefined;
};

/** Deliveries, the newest first. Index: webhook_deliveries_by_status. */
export async function deliveries(
  store: Queryable,
  { status, before }: DeliveryFilter,
  limit: number,
): Promise<WebhookDelivery[]> {
  const { id, status: isIn } = webhookDeliveries;
  const isAsked = status === undefined ? undefined : eq(isIn, status);
  const isBefore = before === undefined ? undefined : lt(id, before);
  return (await found(store, and(isAsked, isBefore)).orderBy(desc(id)).limit(limit)).map(
    deliveryOf,
  );
}

/** Deliveries of one event, by address. Index: one_delivery_per_event_and_url. */
export async function deliveriesOf(store: Queryable, eventId: string): Promise<WebhookDelivery[]> {
  const { event_id, url } = webhookDeliveries;
  return (await found(store, eq(event_id, eventId)).orderBy(asc(url))).map(deliveryOf);
}

export async function deliveryById(store: Queryable, id: number): Promise<WebhookDelivery | null> {
  const [delivery] = await found(store, eq(webhookDeliveries.id, id));
  return delivery === undefined ? null : deliveryOf(delivery);
}

/** Counting stops here. */
const countedMax = 100_000;

/** How many deliveries are on their way, and how many were given up. Index: webhook_deliveries_by_status. */
export async function deliveryCounts(
  store: Queryable,
): Promise<{ pending: number; failed: number }> {
  const counted = (status: StoredDelivery["status"]) =>
    countUpTo(store, countedMax, `SELECT 1 FROM webhook_deliveries WHERE status = '${status}'`);
  return { pending: await counted("pending"), failed: await counted("failed") };
}

/** Puts a finished delivery on its way once more, as if it were new. False when it is on its way already. */
export async function requeue(tx: WriteTransaction, id: number, now: Date): Promise<boolean> {
  const at = now.getTime();
  const { rowsAffected } = await tx.db
    .update(webhookDeliveries)
    .set({ status: "pending", attempts: 0, due_at: at, created_at: at, finished_at: null })
    .where(and(eq(webhookDeliveries.id, id), ne(webhookDeliveries.status, "pending")));
  return rowsAffected === 1;
}

const { payload: _payload, ...columns } = getTableColumns(webhookDeliveries);

const found = (store: Queryable, which: SQL | undefined) =>
  store.db.select(columns).from(webhookDeliveries).where(which);

const deliveryOf = (row: Omit<StoredDelivery, "payload">): WebhookDelivery => ({
  ...row,
  due_at: row.status === "pending" ? isoTime(row.due_at) : null,
  created_at: isoTime(row.created_at),
  finished_at: row.finished_at === null ? null : isoTime(row.finished_at),
});
