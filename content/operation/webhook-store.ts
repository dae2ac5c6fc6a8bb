import type { Row } from "@libsql/client";
import { isoTime } from "#content/contract/time.ts";
import type { WebhookDelivery, WebhookEvent } from "#content/contract/webhook.ts";
import { micro } from "#content/donation/money.ts";
import { countUpTo } from "#content/store/query.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import type { ToldDonation } from "./webhook-events.ts";

export type CursorName = "changes" | "donations";

/** How far events were made; null before the first time. */
export async function webhookCursor(store: Queryable, name: CursorName): Promise<number | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT position FROM webhook_cursors WHERE name = ?",
    args: [name],
  });
  return rows[0] === undefined ? null : Number(rows[0]["position"]);
}

/** Moves a cursor on, never back: two processes that both believe to be the sender send nothing a second time for it. */
export async function moveCursor(
  tx: WriteTransaction,
  name: CursorName,
  position: number,
): Promise<void> {
  await tx.raw.execute({
    sql: `INSERT INTO webhook_cursors (name, position) VALUES (?, ?)
          ON CONFLICT (name) DO UPDATE SET position = max(position, excluded.position)`,
    args: [name, position],
  });
}

/** Puts an event on its way to every address. One that is known already stays what it is. */
export async function queueEvent(
  tx: WriteTransaction,
  { id, message }: WebhookEvent,
  { urls, now }: { urls: readonly string[]; now: Date },
): Promise<void> {
  const at = now.getTime();
  for (const url of urls) {
    await tx.raw.execute({
      sql: `INSERT INTO webhook_deliveries (url, event_id, type, payload, status, due_at, created_at)
            VALUES (?, ?, ?, ?, 'pending', ?, ?)
            ON CONFLICT (event_id, url) DO NOTHING`,
      args: [url, id, message.type, JSON.stringify(message), at, at],
    });
  }
}

/**
 * Donations recorded since an instant of which no event was made yet, the oldest first. Looked for by what is missing,
 * because a donation that another process recorded may become visible after a later one. Index: donations_by_time.
 */
export async function untoldDonations(
  store: Queryable,
  { since, limit }: { since: number; limit: number },
): Promise<(ToldDonation & { recorded_at: number })[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT d.id, n.slug, CAST(d.amount_micro_usdc AS TEXT) AS amount, d.network, d.tx_signature, d.settled_at, d.recorded_at
          FROM donations AS d INDEXED BY donations_by_time
          JOIN nonprofits AS n ON n.id = d.nonprofit_id
          WHERE d.recorded_at >= ? AND NOT EXISTS (
            SELECT 1 FROM webhook_deliveries AS w WHERE w.event_id = 'donation-' || d.id
          )
          ORDER BY d.recorded_at
          LIMIT ?`,
    args: [since, limit],
  });
  return rows.map((row) => ({
    id: String(row["id"]),
    slug: String(row["slug"]),
    amount_micro_usdc: micro(BigInt(String(row["amount"]))),
    network: String(row["network"]),
    tx_signature: String(row["tx_signature"]),
    settled_at: Number(row["settled_at"]),
    recorded_at: Number(row["recorded_at"]),
  }));
}

/** A delivery whose time has come. */
export type DueDelivery = {
  id: number;
  url: string;
  event_id: string;
  payload: string;
  attempts: number;
  created_at: number;
};

const dueColumns = "id, url, event_id, payload, attempts, created_at";

/** What is to be sent to one address now, the longest due first. Index: webhook_deliveries_due. */
export async function dueDeliveries(
  store: Queryable,
  { url, now, limit }: { url: string; now: Date; limit: number },
): Promise<DueDelivery[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT ${dueColumns}
          FROM webhook_deliveries
          WHERE status = 'pending' AND url = ? AND due_at <= ?
          ORDER BY due_at, id
          LIMIT ?`,
    args: [url, now.getTime(), limit],
  });
  return rows.map((row) => ({ ...row }) as unknown as DueDelivery);
}

/** What became of an attempt. `due_at` is when the next one is; null when it is finished. */
export type Attempted = {
  id: number;
  status: "pending" | "delivered" | "failed";
  due_at: number | null;
  answered_status: number | null;
  answer: string | null;
};

/** Notes what became of attempts. A delivery that was finished meanwhile stays so. */
export async function noteAttempts(
  tx: WriteTransaction,
  attempts: readonly Attempted[],
  now: Date,
): Promise<void> {
  const at = now.getTime();
  for (const { id, status, due_at, answered_status, answer } of attempts) {
    await tx.raw.execute({
      sql: `UPDATE webhook_deliveries
            SET status = ?, attempts = attempts + 1, due_at = coalesce(?, due_at), answered_status = ?, answer = ?,
              finished_at = ?
            WHERE id = ? AND status = 'pending'`,
      args: [status, due_at, answered_status, answer, status === "pending" ? null : at, id],
    });
  }
}

/** Gives up what goes to addresses that the operator no longer lists. */
export async function dropUnlisted(
  tx: WriteTransaction,
  { urls, now }: { urls: readonly string[]; now: Date },
): Promise<void> {
  await tx.raw.execute({
    sql: `UPDATE webhook_deliveries SET status = 'failed', answer = 'not listed any more', finished_at = ?
          WHERE status = 'pending' AND url NOT IN (SELECT value FROM json_each(?))`,
    args: [now.getTime(), JSON.stringify(urls)],
  });
}

/** Gives up what waited for too long behind others for a receiver that answers nothing. Index: webhook_deliveries_due. */
export async function expireDeliveries(
  tx: WriteTransaction,
  { before, now }: { before: Date; now: Date },
): Promise<void> {
  await tx.raw.execute({
    sql: `UPDATE webhook_deliveries
          SET status = 'failed', answer = coalesce(answer, 'given up before its turn came'), finished_at = ?
          WHERE status = 'pending' AND created_at < ?`,
    args: [now.getTime(), before.getTime()],
  });
}

const prunedAtOnce = 1_000;

/** Forgets deliveries that were finished before an instant, some at a time. Index: webhook_deliveries_finished. */
export async function pruneDeliveries(tx: WriteTransaction, before: Date): Promise<void> {
  await tx.raw.execute({
    sql: `DELETE FROM webhook_deliveries WHERE id IN (
            SELECT id FROM webhook_deliveries WHERE finished_at IS NOT NULL AND finished_at < ? LIMIT ${prunedAtOnce}
          )`,
    args: [before.getTime()],
  });
}

const columns =
  "id, url, event_id, type, status, attempts, due_at, answered_status, answer, created_at, finished_at";

export type DeliveryFilter = { status: WebhookDelivery["status"] | null; before: number | null };

/** Deliveries, the newest first. Index: webhook_deliveries_by_status. */
export async function deliveries(
  store: Queryable,
  { status, before }: DeliveryFilter,
  limit: number,
): Promise<WebhookDelivery[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT ${columns}
          FROM webhook_deliveries
          WHERE ${status === null ? "" : "status = ? AND "}id < ?
          ORDER BY id DESC
          LIMIT ?`,
    args: [...(status === null ? [] : [status]), before ?? Number.MAX_SAFE_INTEGER, limit],
  });
  return rows.map(deliveryOf);
}

/** Deliveries of one event, by address. Index: one_delivery_per_event_and_url. */
export async function deliveriesOf(store: Queryable, eventId: string): Promise<WebhookDelivery[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT ${columns} FROM webhook_deliveries WHERE event_id = ? ORDER BY url`,
    args: [eventId],
  });
  return rows.map(deliveryOf);
}

export async function deliveryById(store: Queryable, id: number): Promise<WebhookDelivery | null> {
  const { rows } = await store.raw.execute({
    sql: `SELECT ${columns} FROM webhook_deliveries WHERE id = ?`,
    args: [id],
  });
  return rows[0] === undefined ? null : deliveryOf(rows[0]);
}

/** How many deliveries have a status; stops counting at `max`. Index: webhook_deliveries_by_status. */
export const deliveriesWith = (
  store: Queryable,
  status: "pending" | "failed",
  max: number,
): Promise<number> =>
  countUpTo(store, max, `SELECT 1 FROM webhook_deliveries WHERE status = '${status}'`);

/** Puts a finished delivery on its way once more, as if it were new. False when it is on its way already. */
export async function requeue(tx: WriteTransaction, id: number, now: Date): Promise<boolean> {
  const { rowsAffected } = await tx.raw.execute({
    sql: `UPDATE webhook_deliveries
          SET status = 'pending', attempts = 0, due_at = ?1, created_at = ?1, finished_at = NULL
          WHERE id = ?2 AND status <> 'pending'`,
    args: [now.getTime(), id],
  });
  return rowsAffected === 1;
}

const deliveryOf = (row: Row): WebhookDelivery => {
  const instant = (name: string) => (row[name] === null ? null : isoTime(Number(row[name])));
  return {
    id: Number(row["id"]),
    url: String(row["url"]),
    event_id: String(row["event_id"]),
    type: row["type"] as WebhookDelivery["type"],
    status: row["status"] as WebhookDelivery["status"],
    attempts: Number(row["attempts"]),
    due_at: row["status"] === "pending" ? instant("due_at") : null,
    answered_status: row["answered_status"] === null ? null : Number(row["answered_status"]),
    answer: row["answer"] === null ? null : String(row["answer"]),
    created_at: isoTime(Number(row["created_at"])),
    finished_at: instant("finished_at"),
  };
};
