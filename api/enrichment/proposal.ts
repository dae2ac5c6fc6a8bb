import type { Context } from "#api/context.ts";
import { isUsableKey, networkHash } from "#api/http/client.ts";
import { agentWindows } from "#api/http/rate-limit.ts";
import { idempotencyKeyReused, invalidIdempotencyKey } from "#content/contract/problem.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { SecretRefusal } from "#content/enrichment/agent-key.ts";
import type { Clock } from "#content/contract/base/time.ts";
import type { ConsensusMode } from "#content/enrichment/consensus.ts";
import { answerOnce, requestDigest } from "#content/operation/idempotency-store.ts";
import type { Store, WriteTransaction } from "#content/store/open.ts";
import { givenSecret, secretAnswers } from "./agent-keys.ts";

// What agents propose and others confirm comes in alike: values of fields here, drafts in api/recommendation.

/** What a verb that takes proposals works with. */
export type ProposalContext = {
  store: Store;
  clock: Clock;
  /** Without a trailing slash. */
  baseUrl: string;
  mode: ConsensusMode;
  /** Counts proposals of a sender; answers how long it must wait, 0 for not at all. */
  takeAgent: (sender: string, proposals: number) => Promise<AgentAllowance>;
};

type AgentAllowance = { allowed: boolean; retryAfterMs: number };

export type ProposalCall = {
  idempotencyKey: string | null;
  /** Keyed hash of the client's network behind its family; null when it is not known. */
  network: string | null;
  /** Digest of the agent's secret; null when none came. */
  secret: string | null;
  /** Counts what was stored toward the day's room of the network and of everyone. */
  countStored?: (bytes: number) => void;
};

/** Why the transaction stores nothing of a proposal. */
export type ProposalFailure =
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "nonprofit_withdrawn"; slug: string }
  | SecretRefusal
  | { kind: "pending_from_another_network"; path: string }
  | { kind: "idempotency_key_reused" };

export type ProposalRefusal =
  | ProposalFailure
  | { kind: "invalid_idempotency_key" }
  | { kind: "agent_rate_limited"; agent_id: string; retryAfterMs: number };

/** A proposal as it goes into a transaction. */
export type Admitted = Omit<ProposalCall, "countStored"> & {
  mode: ConsensusMode;
  now: Date;
};

export const proposalContext = ({ store, clock, config, limits }: Context): ProposalContext => ({
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
  secret: givenSecret(request),
  countStored: (bytes) => context.limits.stored("agents", request, bytes),
});

/** Lets a request of an agent in, unless its Idempotency-Key cannot be used or the agent has sent too many. */
export async function admit(
  { clock, mode, takeAgent }: ProposalContext,
  { idempotencyKey, network, secret }: ProposalCall,
  { agent_id, proposals }: { agent_id: string; proposals: number },
): Promise<Result<Admitted, ProposalRefusal>> {
  if (idempotencyKey !== null && !isUsableKey(idempotencyKey)) {
    return fail({ kind: "invalid_idempotency_key" });
  }
  const sender = senderOf(agent_id, { secret, network });
  const { allowed, retryAfterMs } = await takeAgent(sender, proposals);
  if (!allowed) return fail({ kind: "agent_rate_limited", agent_id, retryAfterMs });
  return ok({ idempotencyKey, network, secret, mode, now: clock() });
}

/**
 * Whose limits and Idempotency-Keys they are. Who has the secret is alone; anyone can use an id that has none, so each
 * network is for itself.
 */
const senderOf = (
  agent_id: string,
  { secret, network }: Pick<ProposalCall, "secret" | "network">,
): string => `${agent_id} ${secret ?? network ?? ""}`;

/**
 * Stores a proposal inside the caller's transaction, once for an agent's Idempotency-Key; to be called once the secret has
 * been looked at. `identity`: what makes two requests the same, plain data.
 */
export const storeOnce = <Value, Failure>(
  tx: WriteTransaction,
  route: string,
  { idempotencyKey, secret, network, now, request }: Admitted & { request: { agent_id: string } },
  identity: unknown,
  store: () => Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure | { kind: "idempotency_key_reused" }>> => {
  const digest = () => requestDigest(identity);
  const sender = senderOf(request.agent_id, { secret, network });
  return answerOnce(tx, { route, sender, idempotencyKey, digest, now }, store);
};

/**
 * Whether a pending proposal is another's: an id without a secret is anyone's, so what waits under it is replaced only from
 * the network that sent it. One from before networks were kept has none.
 */
export const isOfAnotherNetwork = (
  { network }: { network: string | null },
  call: Pick<ProposalCall, "network" | "secret">,
): boolean => call.secret === null && network !== null && network !== call.network;

const [minute, day] = agentWindows.map(({ limit }) => limit.toLocaleString("en"));

/** What agents read wherever they write: the same of every route. */
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
    detail: `This agent_id has sent ${minute} submissions in a minute, or ${day} in a day, from your network or with its secret. Retry-After says when to send the next.`,
    headers: { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) },
  }),
} as const;
