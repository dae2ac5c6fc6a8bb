import { and, eq, isNotNull, isNull, ne, or } from "drizzle-orm";
import type { Queryable } from "#content/store/open.ts";
import { builder, statement, type Statement } from "#content/store/query.ts";
import { agentKeys, agents, submissions } from "#content/store/tables/enrichment.ts";
import { recommendationDrafts } from "#content/store/tables/recommendations.ts";
import type { AgentKey } from "./agent.ts";
import { rejectionReasons } from "./consensus.ts";
import { decideWaiting } from "./submission-store.ts";

/** Who owns an agent id; null when the id is free. */
export async function agentKey(store: Queryable, agent_id: string): Promise<AgentKey | null> {
  const { secret_digest, revoked_at, approved_name } = agentKeys;
  const [row] = await store.db
    .select({ secret_digest, revoked_at, approved_name })
    .from(agentKeys)
    .where(eq(agentKeys.agent_id, agent_id));
  return row ?? null;
}

/**
 * Everyone but this agent whose id is bound or whose name is approved. Reads all such keys: only operators ask, when they
 * bind an id or approve a name.
 */
export const otherOwners = (store: Queryable, agent_id: string) => {
  const { secret_digest, approved_name } = agentKeys;
  const hasOwner = or(isNotNull(secret_digest), isNotNull(approved_name));
  return store.db
    .select({ agent_id: agentKeys.agent_id, secret_digest, approved_name })
    .from(agentKeys)
    .where(and(ne(agentKeys.agent_id, agent_id), hasOwner));
};

/** Whether any submission or draft came under this id. Indexes: the keys of agents, drafts_by_agent. */
export async function hasSubmitted(store: Queryable, agent_id: string): Promise<boolean> {
  const count = await store.db.$count(agents, eq(agents.agent_id, agent_id));
  const ofAgent = eq(recommendationDrafts.agent_id, agent_id);
  return count + (await store.db.$count(recommendationDrafts, ofAgent)) > 0;
}

type KeyChange = Partial<typeof agentKeys.$inferInsert> & { agent_id: string };

/** Stores a new secret, a revocation or a name for an id; columns that are not in `change` stay as they are. */
export const saveAgentKey = (change: KeyChange): Statement =>
  statement(
    builder
      .insert(agentKeys)
      .values(change)
      .onConflictDoUpdate({ target: agentKeys.agent_id, set: change }),
  );

/** Retires an id that has no owner, so that no one submits under it or goes by its name. */
export const reserveId = (agent_id: string, revoked_at: number): Statement =>
  statement(builder.insert(agentKeys).values({ agent_id, revoked_at }).onConflictDoNothing());

/** Frees an id that was only reserved: it has no owner, and never had one. */
export function releaseId(agent_id: string): Statement {
  const { secret_digest, bound_at, approved_name } = agentKeys;
  const isReserved = and(isNull(secret_digest), isNull(bound_at), isNull(approved_name));
  return statement(
    builder.delete(agentKeys).where(and(eq(agentKeys.agent_id, agent_id), isReserved)),
  );
}

/** Rejects what waits under an id that its owner has revoked. Indexes: submissions_by_agent, drafts_by_agent. */
export function rejectWaitingOf(agent_id: string, at: number): Statement[] {
  const decision = { status: "rejected", reason: rejectionReasons.retired, at } as const;
  const isOwn = eq(submissions.agent_id, agent_id);
  const ofAgent = eq(recommendationDrafts.agent_id, agent_id);
  return [
    decideWaiting(submissions, and(isOwn, eq(submissions.audit_only, 0)), decision),
    decideWaiting(recommendationDrafts, ofAgent, decision, { decided_by: "agent" }),
  ];
}
