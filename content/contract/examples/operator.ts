import type { AuditLog, DailyNumbers, OperatorHealth } from "#content/contract/operator.ts";
import type {
  ReviewDecision,
  ReviewList,
  ReviewQueues,
  Reverted,
} from "#content/contract/review.ts";
import type { WebhookDelivery, WebhookLog, WebhookTest } from "#content/contract/webhook.ts";
import { slug, summary } from "./directory.ts";

export const reviews: ReviewList = {
  count: 1,
  reviews: [
    {
      id: "prose-12",
      kind: "prose",
      slug,
      name: summary.name,
      summary: "Approve to make the text live, reject to refuse it.",
      detail: { field: "mission", value: "We cook and share a warm meal every day." },
      comparison: [
        { field: "mission", before: null, after: "We cook and share a warm meal every day." },
      ],
      checks: [{ name: "form", outcome: "passed", message: "It is a mission that may go live." }],
      sources: ["https://hope-kitchen.example/about"],
      flags: [],
      editing: {
        field: "mission",
        required: false,
        current: "We cook and share a warm meal every day.",
        choices: [],
      },
      cursor: "prose:12",
      created_at: "2026-05-04T10:00:00Z",
    },
  ],
  next: null,
};

export const decision: ReviewDecision = {
  id: "prose-12",
  decision: "approved",
  slug,
  live: true,
  message: "The text is live.",
};

export const queues: ReviewQueues = {
  queues: [
    { kind: "prose", waiting: 31 },
    { kind: "contested", waiting: 2 },
  ],
};

export const audit: AuditLog = {
  count: 1,
  entries: [
    {
      id: 41,
      operator: "ada",
      action: "review.rejected",
      subject: "prose-11",
      detail: { value: null, reason: "The source says otherwise." },
      happened_at: "2026-05-04T10:02:00Z",
    },
  ],
  next: null,
};

export const agentReverted: Reverted = {
  agent_id: "research-bot-7",
  submissions: 12,
  emptied: 11,
  recommendations: 1,
  complete: true,
};

export const delivery: WebhookDelivery = {
  id: 7,
  url: "https://receiver.example/almoner",
  event_id: "changes-41001-41003",
  type: "profiles.changed",
  status: "pending",
  attempts: 1,
  due_at: "2026-05-04T10:00:05Z",
  answered_status: 503,
  answer: "try later",
  created_at: "2026-05-04T10:00:00Z",
  finished_at: null,
};

export const webhookLog: WebhookLog = {
  urls: ["https://receiver.example/almoner"],
  pending: 1,
  failed: 0,
  count: 1,
  deliveries: [delivery],
  next: null,
};

export const webhookTest: WebhookTest = {
  count: 1,
  deliveries: [
    {
      ...delivery,
      event_id: "test-6b1f0f5e-2c1c-4a57-9d5e-0f3d6f6f2c11",
      type: "webhook.test",
      status: "delivered",
      due_at: null,
      answered_status: 204,
      answer: "",
      finished_at: "2026-05-04T10:00:01Z",
    },
  ],
};

export const health: OperatorHealth = {
  at: "2026-05-04T10:00:00Z",
  warnings: ["No backup has been recorded."],
  publication: {
    release: 812,
    held: false,
    profiles_behind: 0,
    lists_behind: 3,
    oldest_waiting_s: 1,
    failures: 0,
  },
  chain: { cluster: "mainnet", answers: true, took_ms: 80, why: null },
  backup: null,
  refused: { hours: 24, requests: { read: 12 } },
  store: { bytes: 180_000_000, free_bytes: 40_000_000_000, newest_change: 41_003 },
  webhooks: { receivers: 1, pending: 1, failed: 0, oldest_pending_s: 5 },
};

export const numbers: DailyNumbers = {
  days: ["2026-05-03", "2026-05-04"],
  submissions: [120, 31],
  applied: [22, 4],
  searches: [900, 210],
  mcp_searches: [60, 9],
  recommendations: [310, 75],
  profiles_opened: [48, 11],
  donate_requests: [9, 2],
  donations: [5, 1],
  donated_usdc: [62.5, 10],
  refused: [3, 0],
};
