import { randomUUID } from "node:crypto";
import type { Context } from "#api/context.ts";
import type { QueryOf } from "#content/contract/operations/operation.ts";
import type { operatorOperations } from "#content/contract/operations/operator.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { WebhookDelivery, WebhookLog, WebhookTest } from "#content/contract/webhook.ts";
import { logOperator } from "#content/operation/audit-store.ts";
import { testEvent } from "#content/operation/webhook-events.ts";
import {
  deliveries,
  deliveriesOf,
  deliveryById,
  deliveryCounts,
  noteAttempts,
  queueEvent,
  requeue,
} from "#content/operation/webhook-store.ts";
import { openPost } from "./post.ts";

type WebhookContext = Pick<Context, "store" | "clock" | "config" | "secrets">;

export type WebhookFailure =
  | { kind: "webhooks_off" }
  | { kind: "delivery_not_found" }
  | { kind: "delivery_under_way" }
  | { kind: "address_not_listed"; url: string };

/** An operator who asks whether an address answers waits this long; the service lets a request be silent for 10 s. */
const testTimeoutMs = 5_000;

/** A page of the log of deliveries, the newest first, and how many are on their way or failed. */
export async function readDeliveries(
  { store, config }: Pick<WebhookContext, "store" | "config">,
  { limit, ...filter }: QueryOf<typeof operatorOperations.readWebhookLog>,
): Promise<WebhookLog> {
  const found = await deliveries(store, filter, limit + 1);
  const page = found.slice(0, limit);
  return {
    urls: [...config.webhookUrls],
    ...(await deliveryCounts(store)),
    count: page.length,
    deliveries: page,
    next: found.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}

/** Sends a message that says nothing to every address, once, and answers what came back. It is not tried again. */
export async function testWebhooks(
  { store, clock, config, secrets }: WebhookContext,
  { operator }: { operator: string },
): Promise<Result<WebhookTest, WebhookFailure>> {
  const { webhookUrls: urls } = config;
  if (urls.length === 0 || secrets.webhookSecret === null) return fail({ kind: "webhooks_off" });
  const post = openPost(secrets.webhookSecret, clock, { timeoutMs: testTimeoutMs });
  const now = clock();
  const event = testEvent(randomUUID(), now);
  const payload = JSON.stringify(event.message);
  const never = new AbortController().signal;
  const posted = await Promise.all(
    urls.map(async (url) => ({ url, ...(await post({ url, id: event.id, payload }, never)) })),
  );
  const sent = await store.write(async (tx) => {
    await queueEvent(tx, event, { urls, now });
    const queued = new Map((await deliveriesOf(tx, event.id)).map(({ url, id }) => [url, id]));
    const attempts = posted.map(({ url, delivered, status, answer }) => ({
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
    return deliveriesOf(tx, event.id);
  });
  return ok({ count: sent.length, deliveries: sent });
}

/** Puts a delivery that is finished, well or badly, on its way once more. */
export async function resendDelivery(
  { store, clock, config }: WebhookContext,
  { delivery, operator }: { delivery: string; operator: string },
): Promise<Result<WebhookDelivery, WebhookFailure>> {
  const id = /^\d{1,15}$/.test(delivery) ? Number(delivery) : 0;
  const known = await deliveryById(store, id);
  if (known === null) return fail({ kind: "delivery_not_found" });
  if (config.webhookUrls.length === 0) return fail({ kind: "webhooks_off" });
  if (!config.webhookUrls.includes(known.url)) {
    return fail({ kind: "address_not_listed", url: known.url });
  }
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
