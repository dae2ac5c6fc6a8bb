import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { SecretRefusal } from "./agent.ts";
import type { Clock } from "#content/contract/base/time.ts";
import type { ConsensusMode } from "./consensus.ts";
import { isUsableKey, planOnce, requestDigest } from "#content/operation/idempotency-store.ts";
import type { Plan } from "#content/operation/plan.ts";
import type { Queryable, Store } from "#content/store/open.ts";

// Admission of proposals that other agents confirm: values of fields (here) and drafts (content/recommendation).

/** What functions that accept proposals depend on. */
export type ProposalWorld = {
  store: Store;
  clock: Clock;
  /** Without a trailing slash. */
  baseUrl: string;
  mode: ConsensusMode;
  /** Counts the proposals of a sender against its limits. `retryAfterMs`: when the next may be sent. */
  takeAgent: (sender: string, proposals: number) => Promise<AgentAllowance>;
};

type AgentAllowance = { allowed: boolean; retryAfterMs: number };

export type ProposalCall = {
  idempotencyKey: string | null;
  /** The address family and a keyed hash of the client's network; null when the network is unknown. */
  network: string | null;
  /** Digest of the agent's secret; null when none was sent. */
  secret: string | null;
  /** Counts stored bytes against the daily limits of the network and of everyone. */
  countStored?: (bytes: number) => void;
};

/** Why the transaction does not store a proposal. */
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

/** A proposal that was admitted, ready for a transaction. */
export type Admission = Omit<ProposalCall, "countStored"> & {
  mode: ConsensusMode;
  now: Date;
};

/** Admits a request of an agent unless its Idempotency-Key is malformed or the agent has sent too many proposals. */
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
 * The owner of the limits and Idempotency-Keys. A secret identifies one sender; an id without a secret is open to anyone, so
 * each network counts as a sender of its own.
 */
const senderOf = (
  agent_id: string,
  { secret, network }: Pick<ProposalCall, "secret" | "network">,
): string => `${agent_id} ${secret ?? network ?? ""}`;

/**
 * Plans a proposal once per Idempotency-Key. Call it after checking the secret. `identity`: plain data; two requests are the
 * same if it is equal.
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
 * Whether a pending proposal came from another network. Anyone can use an id without a secret, so its pending proposals may
 * be replaced only from the network that sent them. Proposals stored before networks were recorded have none.
 */
export const isOfAnotherNetwork = (
  { network }: { network: string | null },
  call: Pick<ProposalCall, "network" | "secret">,
): boolean => call.secret === null && network !== null && network !== call.network;
