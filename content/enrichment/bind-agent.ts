import { secretDigest } from "#content/runtime/digest.ts";
import { randomBytes } from "node:crypto";
import type { AgentRevoked, AgentSecret } from "#content/contract/enrichment-answers.ts";
import type { Wrong } from "#content/contract/problem.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import {
  agentSecretStart,
  isBound,
  readAgent,
  secretRefusal,
  type SecretRefusal,
} from "./agent.ts";
import { agentKey, hasSubmitted, rejectWaitingOf, saveAgentKey } from "./agent-key-store.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { carryOut, type Plan, planned } from "#content/operation/plan.ts";
import type { Clock } from "#content/contract/base/time.ts";

type KeyWorld = { store: Store; clock: Clock };
/** `secret` is the digest of the secret in the request. */
export type KeyCall = { agent_id: string; secret: string | null };

export type KeyFailure =
  | SecretRefusal
  | { kind: "invalid_agent_id"; errors: Wrong[] }
  | { kind: "agent_bound"; agent_id: string }
  | { kind: "agent_in_use"; agent_id: string };

const secretBytes = 32;

/** Makes a secret for an id and the statement that stores its digest only. `by`: "agent", or the operator's name. */
export function newSecret({ agent_id, by, now }: { agent_id: string; by: string; now: Date }) {
  const agent_secret = agentSecretStart + randomBytes(secretBytes).toString("base64url");
  const secret_digest = secretDigest(agent_secret);
  const bound_at = now.getTime();
  const key = { agent_id, secret_digest, bound_at, bound_by: by, revoked_at: null };
  // An approved name belonged to the previous owner, so an operator's new binding clears it.
  const change = by === "agent" ? key : { ...key, approved_name: null };
  const message =
    "Keep agent_secret: it is not shown again. Send it as Authorization: Bearer with every enrichment and draft of this agent_id, also through MCP; without it the id takes nothing.";
  const answer: AgentSecret = { agent_id, bound: true, agent_secret, message };
  return { answer, save: saveAgentKey(change) };
}

function planSecret({ clock }: KeyWorld, agent_id: string): Plan<AgentSecret, KeyFailure> {
  const { answer, save } = newSecret({ agent_id, by: "agent", now: clock() });
  return planned(ok(answer), save);
}

/** POST /api/agents: binds an id that no one has used yet to the first agent that asks. */
export function bindAgent(
  world: KeyWorld,
  { agent_id, secret }: KeyCall,
): Promise<Result<AgentSecret, KeyFailure>> {
  return changed(world, agent_id, async (store, id) => {
    const key = await agentKey(store, id);
    if (isBound(key)) return fail({ kind: "agent_bound", agent_id: id });
    const refusal = secretRefusal(id, key, secret);
    if (refusal !== null) return fail(refusal);
    // An earlier submitter cannot prove that the id is its own, so an operator has to decide.
    if (await hasSubmitted(store, id)) return fail({ kind: "agent_in_use", agent_id: id });
    return planSecret(world, id);
  });
}

/** POST /api/agents/rotate: gives the holder of the current secret a new one. */
export const rotateSecret = (world: KeyWorld, call: KeyCall) =>
  changed(world, call.agent_id, async (store, agent_id) => {
    const refusal = await refusalOfHolder(store, agent_id, call.secret);
    return refusal === null ? planSecret(world, agent_id) : fail(refusal);
  });

/** POST /api/agents/revoke: the id accepts nothing from now on. It does not become free, or anyone could take its name. */
export const revokeSecret = (world: KeyWorld, call: KeyCall) =>
  changed<AgentRevoked>(world, call.agent_id, async (store, agent_id) => {
    const refusal = await refusalOfHolder(store, agent_id, call.secret);
    if (refusal !== null) return fail(refusal);
    const at = world.clock().getTime();
    const message =
      "The id takes no more submissions, and what waited under it is rejected. An operator can bind it again.";
    return planned(
      ok({ agent_id, bound: false, message }),
      saveAgentKey({ agent_id, secret_digest: null, revoked_at: at }),
      ...rejectWaitingOf(agent_id, at),
    );
  });

async function refusalOfHolder(store: Queryable, agent_id: string, secret: string | null) {
  const refusal = secretRefusal(agent_id, await agentKey(store, agent_id), secret);
  if (refusal !== null || secret !== null) return refusal;
  return { kind: "agent_not_bound", agent_id } as const;
}

async function changed<Value>(
  { store }: KeyWorld,
  agent_id: string,
  plan: (store: Queryable, agent_id: string) => Promise<Plan<Value, KeyFailure>>,
): Promise<Result<Value, KeyFailure>> {
  const { agent, wrongs } = readAgent({ agent_id, agent_name: null });
  const errors = wrongs.filter(({ path }) => path === "agent_id");
  if (errors.length > 0) return fail({ kind: "invalid_agent_id", errors });
  return store.write(async (tx) => carryOut(tx, await plan(tx, agent.agent_id)));
}
