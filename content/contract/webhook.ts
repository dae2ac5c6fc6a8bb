import { z } from "zod";
import { named } from "./base/shape.ts";
import { FeedEntry } from "./feed.ts";

export const webhookTypes = [
  "profiles.changed",
  "donation.recorded",
  "donation.voided",
  "webhook.test",
] as const;

/** The most changes in one message: it stays below 20 kB. */
export const changesPerMessageMax = 30;

/** One change of a profile, as the change feed tells it, with where to read the profile. Never a value. */
export const ProfileChange = FeedEntry.extend({
  slug: z.string(),
  profile_url: z.string(),
  api_url: z.string(),
});

const Donated = z.object({
  donation_id: z.string(),
  slug: z.string(),
  amount_usdc: z.string().describe("Decimal text, exact"),
  network: z.string().describe("CAIP-2"),
  tx_signature: z.string(),
  settled_at: z.string(),
  profile_url: z.string(),
});

/** What is sent to a receiver. Source: Standard Webhooks, "Payload structure". */
export const WebhookMessage = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("profiles.changed"),
    timestamp: z.string().describe("ISO 8601, UTC"),
    data: z.object({ changes: z.array(ProfileChange).min(1).max(changesPerMessageMax) }),
  }),
  z.object({
    type: z.literal("donation.recorded"),
    timestamp: z.string(),
    data: Donated,
  }),
  z.object({
    type: z.literal("donation.voided"),
    timestamp: z.string(),
    data: Donated.describe("The gift that a donation.recorded announced: the chain dropped it"),
  }),
  z.object({
    type: z.literal("webhook.test"),
    timestamp: z.string(),
    data: z.object({ message: z.string() }),
  }),
]);
export type WebhookMessage = z.infer<typeof WebhookMessage>;

/** What is to be sent: `id` is the same for every attempt and every address. */
export type WebhookEvent = { id: string; message: WebhookMessage };

export const webhookStatuses = ["pending", "delivered", "failed"] as const;

/** One message on its way to one address. */
export const WebhookDelivery = named("WebhookDelivery", {
  id: z.int(),
  url: z.string(),
  event_id: z.string().describe("webhook-id: the same for every attempt"),
  type: z.enum(webhookTypes),
  status: z.enum(webhookStatuses),
  attempts: z.int().min(0),
  due_at: z.string().nullable().describe("When it is sent (again); null when it is finished"),
  answered_status: z.int().nullable().describe("HTTP status of the last answer"),
  answer: z.string().nullable().describe("The last answer's beginning, or why there was none"),
  created_at: z.string().describe("ISO 8601, UTC"),
  finished_at: z.string().nullable(),
});
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

/** 200 of GET /api/admin/webhooks: the newest first. */
export const WebhookLog = named("WebhookLog", {
  urls: z.array(z.string()).describe("ALMONER_WEBHOOK_URLS; empty: nothing is sent"),
  pending: z.int().min(0),
  failed: z.int().min(0).describe("Of the log, which goes back 30 days; both stop at 100,000"),
  count: z.int().min(0).describe("Deliveries in this page"),
  deliveries: z.array(WebhookDelivery),
  next: z.int().nullable().describe("`before` of the next page; null at the end"),
});
export type WebhookLog = z.infer<typeof WebhookLog>;

/** 200 of POST /api/admin/webhooks/test. */
export const WebhookTest = named("WebhookTest", {
  count: z.int().min(0),
  deliveries: z.array(WebhookDelivery),
});
export type WebhookTest = z.infer<typeof WebhookTest>;
