import { secretDigest } from "#content/runtime/digest.ts";
import details from "#content/editorial/problem-details.json";
import type { Context } from "#api/context.ts";
import { agentSecretOf, bearerOf, networkHash } from "#api/http/client.ts";
import { type FailureTable, retryAfter } from "#api/http/problem.ts";
import { agentLimits } from "#content/contract/addresses.ts";
import { idempotencyKeyReused, invalidIdempotencyKey } from "#content/contract/problem.ts";
import { type SecretRefusal } from "#content/enrichment/agent.ts";
import type { ProposalCall, ProposalWorld } from "#content/enrichment/proposal.ts";

// Turns a request into a proposal, and has the refusals that its sender reads. Values and drafts share it.

export const proposalWorld = ({ store, clock, config, limits }: Context): ProposalWorld => ({
  store,
  clock,
  baseUrl: config.baseUrl,
  mode: config.consensus,
  takeAgent: async (sender, proposals) => {
    const { allowed, resetMs } = await limits.agent(sender, proposals);
    return { allowed, retryAfterMs: resetMs };
  },
});

export const proposalCall = (context: Context, request: Request): ProposalCall => ({
  idempotencyKey: request.headers.get("idempotency-key"),
  network: networkHash(request, context),
  secret: secretDigestOf(request),
  countStored: (bytes) => context.limits.stored("agents", request, bytes),
});

/** The digest of the agent's secret in `Authorization: Bearer`; null without one. */
export function secretDigestOf(request: Request): string | null {
  const secret = agentSecretOf(request);
  return secret === null ? null : secretDigest(secret);
}

/** Corrects the refusal when another kind of token was sent: the secret is then wrong, not missing. */
export const secretFailure = <Failure extends { kind: string }>(
  request: Request,
  failure: Failure,
): Failure =>
  failure.kind === "agent_secret_missing" && bearerOf(request) !== null
    ? { ...failure, kind: "agent_secret_wrong" }
    : failure;

const unauthorised = {
  status: 401,
  headers: { "www-authenticate": 'Bearer realm="almoner agent"' },
} as const;

/** Refusals about an agent's secret, for all routes that ask for one. */
export const secretAnswers = {
  agent_secret_missing: { ...unauthorised, detail: details.agents.agent_secret_missing },
  agent_secret_wrong: { ...unauthorised, detail: details.agents.agent_secret_wrong },
  agent_not_bound: { ...unauthorised, detail: details.agents.agent_not_bound },
  agent_retired: { status: 403, detail: details.agents.agent_retired },
} as const satisfies FailureTable<SecretRefusal>;

const { perMinute, perDay } = agentLimits;

/** Refusals that all routes share to which agents write. */
export const agentRefusals = {
  invalid_idempotency_key: invalidIdempotencyKey,
  idempotency_key_reused: idempotencyKeyReused,
  ...secretAnswers,
  pending_from_another_network: ({ path }: { path: string }) => ({
    status: 409,
    detail: `Nothing was stored. Under this agent_id another ${path} waits that came from another network, and only that network replaces it. Use an agent_id of your own, or have an operator bind this one to a secret.`,
  }),
  agent_rate_limited: ({ retryAfterMs }: { retryAfterMs: number }) => ({
    status: 429,
    detail: `This agent_id has sent ${perMinute} submissions in a minute, or ${perDay.toLocaleString("en")} in a day, from your network or with its secret. Retry-After says when to send the next.`,
    headers: { "retry-after": retryAfter(retryAfterMs) },
  }),
} as const;
