import type { Reverted } from "#content/contract/review.ts";
import { foldAgentId } from "#content/enrichment/agent.ts";
import { agentsNeeded } from "#content/enrichment/consensus.ts";
import { agreedSubmissions, planRevert } from "#content/enrichment/agreed-field-store.ts";
import { logOperator } from "#content/operation/audit-store.ts";
import {
  agentsAgreed,
  agreedDraftsOf,
  type QueuedDraft,
  rejectAgreed,
} from "#content/recommendation/draft-store.ts";
import { deletePick, pickOf } from "#content/recommendation/pick-store.ts";
import type { Queryable } from "#content/store/open.ts";
import { type Write, writeAll } from "#content/operation/plan.ts";
import { doAll } from "#content/store/query.ts";
import { ok, type Result } from "#content/contract/base/result.ts";
import type { OperatorWorld } from "#content/requests/kind.ts";

/** Keeps transactions short, so that a running service can write meanwhile. */
const perTransaction = 50;
/** How many submissions one request reverts: about two seconds of work. */
const perRequest = 500;

/**
 * Undoes what one agent helped to make live, or the named submissions: empties the fields, rejects all submissions that
 * agreed, takes credit back, and removes recommendations that rest on the agent's vote; named submissions leave
 * recommendations alone. The log and prose that an operator accepted stay. Safe to repeat, and to continue: it stops at
 * `submissionsMax`, checked every 50 submissions.
 */
export async function revertAgent(
  world: RevertWorld,
  { submissionsMax = perRequest, ...selection }: RevertSelection & { submissionsMax?: number },
): Promise<Result<Reverted, never>> {
  const { store, clock } = world;
  const { operator, reason } = selection;
  const ids = selection.submissions;
  const agent_id = selection.agent_id === undefined ? undefined : foldAgentId(selection.agent_id);
  const recommendations =
    agent_id === undefined || ids !== undefined
      ? 0
      : await revertRecommendations(world, { operator, reason, agent_id });
  const total: Reverted = {
    agent_id: agent_id ?? null,
    submissions: 0,
    emptied: 0,
    recommendations,
    complete: false,
  };
  for (let after = 0; total.submissions < submissionsMax;) {
    const submissions = await agreedSubmissions(store, { agent_id, ids }, after, perTransaction);
    const last = submissions.at(-1);
    if (last === undefined) return ok({ ...total, complete: true });
    after = last.id;
    const emptiedCount = await store.write(async (tx) => {
      const now = clock();
      let count = 0;
      // One after the other: two submissions may be of one field.
      for (const { nonprofit_id, field } of submissions) {
        const revert = await planRevert(tx, { nonprofit_id, field, reason, now });
        await doAll(tx, revert.statements);
        if (revert.empties) count += 1;
      }
      await logOperator(tx, {
        operator,
        action: ids === undefined ? "revert.agent" : "revert.submissions",
        subject: agent_id ?? "",
        detail: { reason, submissions: submissions.map(({ id }) => id) },
        at: now.getTime(),
      });
      return count;
    });
    total.submissions += submissions.length;
    total.emptied += emptiedCount;
  }
  return ok(total);
}

type RevertWorld = Pick<OperatorWorld, "store" | "clock" | "curated">;
type AgentReversal = { agent_id: string; operator: string; reason: string };
/** Without ids all submissions of the agent; with both, those ids that are the agent's. */
type RevertSelection = Omit<AgentReversal, "agent_id"> & {
  agent_id?: string | undefined;
  submissions?: readonly number[] | undefined;
};

/**
 * Removes an agent's vote from agreed recommendations. A recommendation is removed if it has this agent's words, or if fewer
 * than two other agents agreed; agents may then promote the profile again. Those approved by an operator stay. Returns how
 * many were removed. Safe to repeat.
 */
async function revertRecommendations(
  { store, clock, curated }: RevertWorld,
  reversal: AgentReversal,
): Promise<number> {
  let removedCount = 0;
  for (;;) {
    const drafts = await agreedDraftsOf(store, reversal.agent_id, perTransaction);
    if (drafts.length === 0) break;
    removedCount += await store.write(async (tx) => {
      let count = 0;
      for (const draft of drafts) {
        const { goes, writes } = await planRejection(tx, draft, reversal, clock());
        await writeAll(tx, writes);
        if (goes) count += 1;
      }
      return count;
    });
  }
  if (removedCount > 0) curated.lookAgain();
  return removedCount;
}

/** Plans the rejection of one agreed draft, and whether the recommendation is removed with it. */
async function planRejection(
  store: Queryable,
  draft: QueuedDraft,
  { operator, reason }: AgentReversal,
  now: Date,
): Promise<{ goes: boolean; writes: Write[] }> {
  const { id, nonprofit_id, normalised, slug } = draft;
  const at = now.getTime();
  // The operator refused only an agent, not the profile, so others may agree on it again.
  const rejection = { reason, decided_by: `revert:${operator}`, at };
  const draftKey = { nonprofit_id, normalised };
  const pick = await pickOf(store, nonprofit_id);
  const stands =
    pick?.origin !== "consensus" ||
    (pick.draft_id !== id && (await agentsAgreed(store, draft, { besides: id })) >= agentsNeeded);
  if (stands) return { goes: false, writes: [rejectAgreed({ ...draftKey, id }, rejection)] };
  const entry = {
    operator,
    action: "recommendation.reverted",
    subject: slug,
    detail: {
      reason,
      agent: draft.agent_id,
      recommended_for: pick.recommended_for,
      why_recommended: pick.why_recommended,
    },
    at,
  };
  const rejectionWrite = rejectAgreed({ ...draftKey, id: null }, rejection);
  return { goes: true, writes: [...deletePick(nonprofit_id, at), rejectionWrite, entry] };
}
