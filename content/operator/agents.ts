import { newSecret } from "#content/enrichment/bind-agent.ts";
import type {
  AgentNamed,
  AgentSecret,
  AgentSubmissions,
} from "#content/contract/enrichment-answers.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { wireTime } from "#content/contract/base/time.ts";
import { type AgentKey, foldAgentId, isBound, nameKey } from "#content/enrichment/agent.ts";
import {
  agentKey,
  isNameInUse,
  otherOwners,
  releaseName,
  reserveName,
  saveAgentKey,
} from "#content/enrichment/agent-key-store.ts";
import { agreedSubmissions } from "#content/enrichment/agreed-field-store.ts";
import { isHarmlessName } from "#content/nonprofit/public-name.ts";
import { publicValue } from "#content/nonprofit/wire.ts";
import { carryOut, planned } from "#content/operation/plan.ts";
import type { OperatorWorld } from "#content/requests/kind.ts";
import type { Queryable } from "#content/store/open.ts";

type AgentWorld = Pick<OperatorWorld, "store" | "clock">;
type AgentAction = { agent_id: string; operator: string; reason: string };

/** The name, or the id to bind, would stand for two agents: `holder` is the other one. */
type NameTaken = { kind: "name_taken"; name: string; holder: string };

/**
 * Binds an id, even a used or revoked one, and returns its secret once, for the operator to give to the owner. An id that
 * was bound gets a new secret. The approved name of another agent is refused.
 */
export async function bindForOwner(
  { store, clock }: AgentWorld,
  { operator, reason, ...request }: AgentAction,
): Promise<Result<AgentSecret, NameTaken>> {
  const agent_id = foldAgentId(request.agent_id);
  return store.write(async (tx) => {
    const owners = await otherOwners(tx, agent_id);
    const holder = owners.find(({ approved_name }) => isSame(approved_name, agent_id));
    if (holder !== undefined) {
      return fail({ kind: "name_taken", name: agent_id, holder: holder.agent_id });
    }
    const now = clock();
    const { answer, save } = newSecret({ agent_id, by: `operator:${operator}`, now });
    const detail = { reason };
    const at = now.getTime();
    const entry = { operator, action: "agent.bound", subject: agent_id, detail, at };
    const release = releaseOf(await agentKey(tx, agent_id));
    return carryOut(tx, planned(ok(answer), save, ...release, entry));
  });
}

/** Ids that read like an approved name are reserved while an agent has it. */
const releaseOf = (key: Pick<AgentKey, "approved_name"> | null) =>
  key === null || key.approved_name === null ? [] : [releaseName(key.approved_name)];

const isSame = (name: string | null, other: string): boolean =>
  name !== null && nameKey(name) === nameKey(other);

export type NameFailure =
  | NameTaken
  | { kind: "name_in_use"; name: string }
  | { kind: "name_not_harmless"; name: string }
  | { kind: "name_of_no_owner"; agent_id: string };

/** Approves the public name of an id's owner; null revokes the approval. */
export async function approveAgentName(
  { store, clock }: AgentWorld,
  { operator, reason, name, ...request }: AgentAction & { name: string | null },
): Promise<Result<AgentNamed, NameFailure>> {
  if (name !== null && !isHarmlessName(name)) return fail({ kind: "name_not_harmless", name });
  const agent_id = foldAgentId(request.agent_id);
  return store.write(async (tx) => {
    // Anyone can submit under an unbound id and would get the name.
    const key = await agentKey(tx, agent_id);
    if (!isBound(key)) return fail({ kind: "name_of_no_owner", agent_id });
    const conflict = name === null ? null : await nameConflict(tx, agent_id, name);
    if (conflict !== null) return fail(conflict);
    const save = saveAgentKey({ agent_id, approved_name: name });
    const detail = { reason, name };
    const at = clock().getTime();
    const entry = { operator, action: "agent.named", subject: agent_id, detail, at };
    // No one else can use an id that reads like the name, or go by it.
    const reservation = name === null ? [] : [reserveName(name, at)];
    const idChanges = [...releaseOf(key), ...reservation];
    return carryOut(tx, planned(ok({ agent_id, approved_name: name }), save, ...idChanges, entry));
  });
}

/** Why an agent cannot get a name: another one goes by it, or submits under it and would be shut out. */
async function nameConflict(
  store: Queryable,
  agent_id: string,
  name: string,
): Promise<NameFailure | null> {
  const owners = await otherOwners(store, agent_id);
  const holder = owners.find(
    (owner) =>
      isSame(owner.approved_name, name) || (isBound(owner) && isSame(owner.agent_id, name)),
  );
  if (holder !== undefined) return { kind: "name_taken", name, holder: holder.agent_id };
  return (await isNameInUse(store, name, { besides: agent_id }))
    ? { kind: "name_in_use", name }
    : null;
}

/** Submissions that an agent's agreement made live and that are still live, by id: they can be reverted one by one. */
export async function listAgentSubmissions(
  { store }: AgentWorld,
  { agent_id, after = 0, limit }: { agent_id: string; after?: number | undefined; limit: number },
): Promise<AgentSubmissions> {
  const of = { agent_id: foldAgentId(agent_id) };
  const rows = await agreedSubmissions(store, of, after, limit);
  const submissions = rows.map(({ id, slug, field, value, source_url, decided_at }) => ({
    submission_id: id,
    slug,
    field,
    value: publicValue(field, value),
    source_url,
    applied_at: wireTime(new Date(decided_at ?? 0)),
  }));
  const next = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
  return { count: submissions.length, submissions, next };
}
