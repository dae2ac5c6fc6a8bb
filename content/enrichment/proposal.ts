import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { SecretRefusal } from "./agent.ts";
import type { Clock } from "#content/contract/base/time.ts";
import type { ConsensusMode } from "./consensus.ts";
import { isUsableKey, planOnce, requestDigest } from "#content/operation/idempotency-store.ts";
import type { Plan } from "#content/operation/plan.ts";
import type { Queryable, Store } from "#content/store/open.ts";

// What agents propose and others confirm comes in alike: values of fields here, drafts in content/recommendation.

/** What a verb that takes proposals works with. */
export type ProposalWorld = {
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
export type Admission = Omit<ProposalCall, "countStored"> & {
  mode: ConsensusMode;
  now: Date;
};

/** Lets a request of an agent in, unless its Idempotency-Key cannot be used or the agent has sent too many. */
export async function admit(
  { clock, mode, takeAgent }: ProposalWorld,
  { idempotencyKey, network, secret }: ProposalCall,
  { agent_id, proposals }: { agent_id: string; proposals: number },
): Promise<Result<Admission, ProposalRefusal>> {
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
 * Plans a proposal once for an agent's Idempotency-Key; to be called once the secret has been looked at. `identity`: what
 * makes two requests the same, plain data.
 */
export const planProposalOnce = <Value, Failure>(
  store: Queryable,
  route: string,
  { idempotencyKey, secret, network, now, request }: Admission & { request: { agent_id: string } },
  identity: unknown,
  plan: () => Promise<Plan<Value, Failure>>,
): Promise<Plan<Value, Failure | { kind: "idempotency_key_reused" }>> => {
  const digest = () => requestDigest(identity);
  const sender = senderOf(request.agent_id, { secret, network });
  return planOnce(store, { route, sender, idempotencyKey, digest, now }, plan);
};

/**
 * Whether a pending proposal is another's: an id without a secret is anyone's, so what waits under it is replaced only from
 * the network that sent it. One from before networks were kept has none.
 */
export const isOfAnotherNetwork = (
  { network }: { network: string | null },
  call: Pick<ProposalCall, "network" | "secret">,
): boolean => call.secret === null && network !== null && network !== call.network;
