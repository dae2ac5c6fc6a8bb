import { agentWindows } from "#api/http/rate-limit.ts";

const [minute, day] = agentWindows.map(({ limit }) => limit.toLocaleString("en"));

/** What agents are told wherever they write: the same of every route. */
export const agentRefusals = {
  invalid_idempotency_key: {
    status: 400,
    detail:
      "Idempotency-Key is a text of 1 to 255 printable characters without spaces, for example a UUID.",
  },
  idempotency_key_reused: {
    status: 409,
    detail:
      "This Idempotency-Key was used for another request in the last 24 hours. Send a new one.",
  },
  agent_rate_limited: ({ retryAfterMs }: { retryAfterMs: number }) => ({
    status: 429,
    detail: `This agent_id has sent ${minute} submissions in a minute, or ${day} in a day. Retry-After says when to go on.`,
    headers: { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) },
  }),
} as const;
