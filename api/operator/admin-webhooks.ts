import { Elysia } from "elysia";
import { webhookStatuses } from "#content/contract/webhook.ts";
import {
  deliveriesMax,
  readDeliveries,
  resendDelivery,
  testWebhooks,
  type WebhookFailure,
} from "#api/webhooks/webhooks.ts";
import { operatorOf } from "./operators.ts";
import type { Context } from "#api/context.ts";
import { encodedJson } from "#api/http/encoded-body.ts";
import { type FailureTable, refuse } from "#api/http/problem.ts";
import { queryOf, refuseParameter } from "#api/http/query.ts";
import { testPost } from "#api/webhooks/post.ts";

/** The log of webhooks for operators; testing the addresses, and sending once more. Never cached. */
export const adminWebhookRoutes = (context: Context) => {
  const { store, clock, config, secrets } = context;
  const verb = { store, clock, urls: config.webhookUrls, post: testPost(secrets, clock) };
  return new Elysia()
    .get("/api/admin/webhooks", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const query = queryOf(request.url);
      const status = query.choice("status", { values: webhookStatuses, fallback: null });
      const before = query.number("before");
      const limit = query.limit({ fallback: 50, max: deliveriesMax });
      if (!status.ok) return refuseParameter(status.failure);
      if (!before.ok) return refuseParameter(before.failure);
      if (!limit.ok) return refuseParameter(limit.failure);
      const page = { status: status.value, before: before.value, limit: limit.value };
      return encodedJson(await readDeliveries(verb, page), "no-store");
    })
    .post("/api/admin/webhooks/test", async ({ request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const tested = await testWebhooks(verb, operator.name);
      return tested.ok
        ? encodedJson(tested.value, "no-store")
        : refuse(webhookRefusals, tested.failure);
    })
    .post("/api/admin/webhooks/:delivery/resend", async ({ params, request }) => {
      const operator = operatorOf(context, request);
      if (operator instanceof Response) return operator;
      const id = /^\d{1,15}$/.test(params.delivery) ? Number(params.delivery) : 0;
      const queued = await resendDelivery(verb, { id, operator: operator.name });
      return queued.ok
        ? encodedJson(queued.value, "no-store")
        : refuse(webhookRefusals, queued.failure);
    });
};

/** Why nothing was sent: the words of the desk, too. */
export const webhookRefusals = {
  webhooks_off: {
    status: 409,
    detail: "Webhooks are off: ALMONER_WEBHOOK_URLS lists no address.",
  },
  delivery_not_found: { status: 404, detail: "The log has no delivery with this number." },
  delivery_under_way: { status: 409, detail: "It is on its way already." },
  address_not_listed: ({ url }) => ({
    status: 409,
    detail: `ALMONER_WEBHOOK_URLS does not list ${url} (any more): nothing is sent there.`,
  }),
} as const satisfies FailureTable<WebhookFailure>;
