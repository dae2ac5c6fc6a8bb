import { randomUUID } from "node:crypto";
import { testEvent } from "#content/operation/webhook-events.ts";
import type { Clock } from "#content/contract/time.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type { WebhookDelivery, WebhookLog, WebhookTest } from "#content/contract/webhook.ts";
import { logOperator } from "#content/operation/audit-store.ts";
import type { Store } from "#content/store/open.ts";
import {
  type DeliveryFilter,
  deliveries,
  deliveriesOf,
  deliveriesWith,
  deliveryById,
  noteAttempts,
  queueEvent,
  requeue,
} from "#content/operation/webhook-store.ts";

export type MessageToPost = { url: string; id: string; payload: string };

/** The outcome of one attempt. `status` is null when nothing answered. */
export type Posted = {
  delivered: boolean;
  status: number | null;
  /** The beginning of the answer, or why there was none. At most 200 characters. */
  answer: string;
  /** What the receiver asked for; 0 for nothing. */
  retryAfterMs: number;
};

/** Sends one message once. Throws only when `stop` fires: then no one knows the outcome of it. */
export type Post = (message: MessageToPost, stop: AbortSignal) => Promise<Posted>;

type WebhookContext = { store: Store; clock: Clock; urls: readonly string[] };

export type WebhookFailure =
  | { kind: "webhooks_off" }
  | { kind: "delivery_not_found" }
  | { kind: "delivery_under_way" }
  | { kind: "address_not_listed"; url: string };

const countedMax = 100_000;

/** A page of the log of deliveries, the newest first, and how many are on their way or failed. */
export async function readDeliveries(
  { store, urls }: Pick<WebhookContext, "store" | "urls">,
  { limit, ...filter }: DeliveryFilter & { limit: number },
): Promise<WebhookLog> {
  const found = await deliveries(store, filter, limit + 1);
  const page = found.slice(0, limit);
  return {
    urls: [...urls],
    pending: await deliveriesWith(store, "pending", countedMax),
    failed: await deliveriesWith(store, "failed", countedMax),
    count: page.length,
    deliveries: page,
    next: found.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}

/** Sends a message that says nothing to every address, once, and answers what came back. It is not tried again. */
export async function testWebhooks(
  { store, clock, urls, post }: WebhookContext & { post: Post },
  operator: string,
): Promise<Result<WebhookTest, WebhookFailure>> {
  if (urls.length === 0) return fail({ kind: "webhooks_off" });
  const now = clock();
  const event = testEvent(randomUUID(), now);
  const payload = JSON.stringify(event.message);
  const never = new AbortController().signal;
  const posted = await Promise.all(
    urls.map(async (url) => [url, await post({ url, id: event.id, payload }, never)] as const),
  );
  await store.write(async (tx) => {
    await queueEvent(tx, event, { urls, now });
    const queued = new Map((await deliveriesOf(tx, event.id)).map(({ url, id }) => [url, id]));
    const attempts = posted.map(([url, { delivered, status, answer }]) => ({
      id: queued.get(url) ?? 0,
      status: delivered ? ("delivered" as const) : ("failed" as const),
      due_at: null,
      answered_status: status,
      answer,
    }));
    await noteAttempts(tx, attempts, clock());
    await logOperator(tx, {
      operator,
      action: "webhook.tested",
      subject: event.id,
      detail: { addresses: urls.length },
      at: now.getTime(),
    });
  });
  const sent = await deliveriesOf(store, event.id);
  return ok({ count: sent.length, deliveries: sent });
}

/** Puts a delivery that is finished, well or badly, on its way once more. */
export async function resendDelivery(
  { store, clock, urls }: WebhookContext,
  { id, operator }: { id: number; operator: string },
): Promise<Result<WebhookDelivery, WebhookFailure>> {
  const known = await deliveryById(store, id);
  if (known === null) return fail({ kind: "delivery_not_found" });
  if (urls.length === 0) return fail({ kind: "webhooks_off" });
  if (!urls.includes(known.url)) return fail({ kind: "address_not_listed", url: known.url });
  const queued = await store.write(async (tx) => {
    const now = clock();
    if (!(await requeue(tx, id, now))) return null;
    await logOperator(tx, {
      operator,
      action: "webhook.resent",
      subject: known.event_id,
      detail: { delivery: id },
      at: now.getTime(),
    });
    return deliveryById(tx, id);
  });
  return queued === null ? fail({ kind: "delivery_under_way" }) : ok(queued);
}
