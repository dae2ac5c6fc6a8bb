import { and, eq, inArray, isNotNull, isNull, like, ne, or } from "drizzle-orm";
import type { Queryable } from "#content/store/open.ts";
import { builder, statement, type Statement } from "#content/store/query.ts";
import { agentKeys, agents, submissions } from "#content/store/tables/enrichment.ts";
import { recommendationDrafts } from "#content/store/tables/recommendations.ts";
import { type AgentKey, foldAgentId, nameKey } from "./agent.ts";
import { rejectionReasons } from "./consensus.ts";
import { decideWaiting } from "./submission-store.ts";

/** Who owns an agent id, or an approved name that reads like it; null when the id is free. */
export async function agentKey(store: Queryable, agent_id: string): Promise<AgentKey | null> {
  const { secret_digest, revoked_at, approved_name } = agentKeys;
  const rows = await store.db
    .select({ agent_id: agentKeys.agent_id, secret_digest, revoked_at, approved_name })
    .from(agentKeys)
    .where(inArray(agentKeys.agent_id, [agent_id, nameKey(agent_id)]));
  return rows.find((row) => row.agent_id === agent_id) ?? rows[0] ?? null;
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

/**
 * Whether anyone but this agent submitted under an id that reads like a name. Looks through all ids: only operators ask, when
 * they approve a name.
 */
export async function isNameInUse(
  store: Queryable,
  name: string,
  { besides }: { besides: string },
): Promise<boolean> {
  const key = nameKey(name);
  const pattern = `%${Array.from(key.trim()).join("%")}%`;
  for (const table of [agents, recommendationDrafts]) {
    const { agent_id } = table;
    const isLike = and(like(agent_id, pattern), ne(agent_id, besides));
    const rows = await store.db.selectDistinct({ agent_id }).from(table).where(isLike);
    if (rows.some((row) => nameKey(row.agent_id) === key)) return true;
  }
  return false;
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

/** Retires the ids that read like a name, so that no one submits under them or goes by the name. */
export const reserveName = (name: string, revoked_at: number): Statement =>
  statement(
    builder
      .insert(agentKeys)
      .values({ agent_id: nameKey(name), revoked_at })
      .onConflictDoNothing(),
  );

/** Frees the ids that a name reserved. A name that was approved earlier reserved an id of its own. */
export function releaseName(name: string): Statement {
  const { agent_id, secret_digest, bound_at, approved_name } = agentKeys;
  const isReserved = and(isNull(secret_digest), isNull(bound_at), isNull(approved_name));
  const ofName = inArray(agent_id, [nameKey(name), foldAgentId(name)]);
  return statement(builder.delete(agentKeys).where(and(ofName, isReserved)));
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
