import type { Row } from "@libsql/client";
import { isoTime } from "#content/contract/time.ts";
import type { WebhookDelivery } from "#content/contract/webhook.ts";
import { countUpTo } from "#content/store/count-up-to.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";

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
