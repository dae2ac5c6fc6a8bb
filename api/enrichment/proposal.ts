import { createHmac } from "node:crypto";
import type { Context } from "#api/context.ts";
import { networkOf } from "#api/http/client.ts";
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

/**
 * A keyed hash of the client's /24 or /48, for the strict consensus mode only: two agents on one network are one voice.
 * Not by the day, because agreement may take longer than that; without the mode nothing is kept.
 */
export function consensusNetwork(
  { config, secrets }: Pick<Context, "config" | "secrets">,
  request: Request,
): string | null {
  if (config.consensus !== "networks") return null;
  const network = networkOf(request, config);
  const wide = network.includes(":")
    ? network.split(":").slice(0, 3).join(":")
    : /^(\d+\.\d+\.\d+)\.\d+$/.exec(network)?.[1];
  if (wide === undefined) return null;
  return createHmac("sha256", secrets.dailyHashKey)
    .update(`consensus ${wide}`)
    .digest("base64url")
    .slice(0, 22);
}
