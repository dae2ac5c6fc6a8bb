import type { Context } from "#api/context.ts";
import { isUsableKey, keyedHash, networkOf } from "#api/http/client.ts";
import { agentWindows } from "#api/http/rate-limit.ts";
import { idempotencyKeyReused, invalidIdempotencyKey } from "#content/contract/problem.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type { Clock } from "#content/contract/time.ts";
import type { ConsensusMode } from "#content/enrichment/consensus.ts";
import { answerOnce, requestDigest } from "#content/operation/idempotency-store.ts";
import type { Store, WriteTransaction } from "#content/store/open.ts";

// What agents propose and others confirm comes in alike: values of fields here, drafts in api/recommendation.

/** What a verb that takes proposals works with. */
export type ProposalContext = {
  store: Store;
  clock: Clock;
  /** Without a trailing slash. */
  baseUrl: string;
  mode: ConsensusMode;
  /** Counts proposals of an agent; answers how long it must wait, 0 for not at all. */
  takeAgent: (agentId: string, proposals: number) => Promise<AgentAllowance>;
};

type AgentAllowance = { allowed: boolean; retryAfterMs: number };

export type ProposalCall = {
  idempotencyKey: string | null;
  /** Keyed hash of the client's network; null outside the strict mode. */
  network: string | null;
};

/** Why the transaction stores nothing of a proposal. */
export type ProposalFailure =
  | { kind: "nonprofit_not_found"; slug: string }
  | { kind: "nonprofit_withdrawn"; slug: string }
  | { kind: "idempotency_key_reused" };

export type ProposalRefusal =
  | ProposalFailure
  | { kind: "invalid_idempotency_key" }
  | { kind: "agent_rate_limited"; agent_id: string; retryAfterMs: number };

/** A proposal as it goes into a transaction. */
export type Admitted = {
  idempotencyKey: string | null;
  network: string | null;
  mode: ConsensusMode;
  now: Date;
};

export const proposalContext = ({ store, clock, config, limits }: Context): ProposalContext => ({
  store,
  clock,
  baseUrl: config.baseUrl,
  mode: config.consensus,
  takeAgent: async (agentId, proposals) => {
    const { allowed, resetMs } = await limits.agent(agentId, proposals);
    return { allowed, retryAfterMs: resetMs };
  },
});

export const proposalCall = (context: Context, request: Request): ProposalCall => ({
  idempotencyKey: request.headers.get("idempotency-key"),
  network: consensusNetwork(context, request),
});

/** Lets a request of an agent in, unless its Idempotency-Key cannot be used or the agent has sent too many. */
export async function admit(
  { clock, mode, takeAgent }: ProposalContext,
  { idempotencyKey, network }: ProposalCall,
  { agent_id, proposals }: { agent_id: string; proposals: number },
): Promise<Result<Admitted, ProposalRefusal>> {
  if (idempotencyKey !== null && !isUsableKey(idempotencyKey)) {
    return fail({ kind: "invalid_idempotency_key" });
  }
  const { allowed, retryAfterMs } = await takeAgent(agent_id, proposals);
  if (!allowed) return fail({ kind: "agent_rate_limited", agent_id, retryAfterMs });
  return ok({ idempotencyKey, network: mode === "networks" ? network : null, mode, now: clock() });
}

/**
 * Stores a proposal inside the caller's transaction, once for an agent's Idempotency-Key. `identity`: what makes two
 * requests the same, plain data.
 */
export const storeOnce = <Value, Failure>(
  tx: WriteTransaction,
  route: string,
  { idempotencyKey, now, request }: Admitted & { request: { agent_id: string } },
  identity: unknown,
  store: () => Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure | { kind: "idempotency_key_reused" }>> => {
  const digest = () => requestDigest(identity);
  return answerOnce(tx, { route, sender: request.agent_id, idempotencyKey, digest, now }, store);
};

const [minute, day] = agentWindows.map(({ limit }) => limit.toLocaleString("en"));

/** What agents read wherever they write: the same of every route. */
export const agentRefusals = {
  invalid_idempotency_key: invalidIdempotencyKey,
  idempotency_key_reused: idempotencyKeyReused,
  agent_rate_limited: ({ retryAfterMs }: { retryAfterMs: number }) => ({
    status: 429,
    detail: `This agent_id has sent ${minute} submissions in a minute, or ${day} in a day. Retry-After says when to send the next.`,
    headers: { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) },
  }),
} as const;

/**
 * The client's /24 or /48 as a keyed hash behind its family ("4:…", "6:…"), for the strict consensus mode only: two agents
 * on one network are one vote. Not by the day, because agreement may take longer than that; without the mode nothing is
 * kept.
 */
function consensusNetwork(
  { config, secrets }: Pick<Context, "config" | "secrets">,
  request: Request,
): string | null {
  if (config.consensus !== "networks") return null;
  const network = networkOf(request, config);
  const family = network.includes(":") ? 6 : 4;
  const wide =
    family === 6
      ? network.split(":").slice(0, 3).join(":")
      : /^(\d+\.\d+\.\d+)\.\d+$/.exec(network)?.[1];
  if (wide === undefined) return null;
  return `${family}:${keyedHash(secrets.dailyHashKey, `consensus ${wide}`)}`;
}
