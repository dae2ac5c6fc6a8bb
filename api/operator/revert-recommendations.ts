import { agentsNeeded } from "#content/enrichment/consensus.ts";
import type { Clock } from "#content/contract/time.ts";
import {
  type QueuedDraft,
  agentsAgreed,
  agreedDraftsOf,
  rejectAgreed,
} from "#content/recommendation/draft-store.ts";
import { logOperator } from "#content/operation/audit-log.ts";
import type { Store, WriteTransaction } from "#content/store/open.ts";
import { deletePick, pickOf } from "#content/recommendation/pick-store.ts";

type Reverting = { agent_id: string; operator: string; reason: string };

/** A short transaction, so that a running service goes on writing meanwhile. */
const perTransaction = 50;

/**
 * Takes an agent's voice out of what agents agreed to recommend. A recommendation goes when it stands in this agent's
 * words, or when fewer than two others are left that agreed; the profile counts anew. What an operator approved stays.
 * Answers how many went. Safe to repeat.
 */
export async function revertRecommendations(
  { store, clock }: { store: Store; clock: Clock },
  reverting: Reverting,
): Promise<number> {
  let gone = 0;
  for (;;) {
    const drafts = await agreedDraftsOf(store, reverting.agent_id, perTransaction);
    if (drafts.length === 0) return gone;
    gone += await store.write(async (tx) => {
      let count = 0;
      for (const draft of drafts) if (await reverted(tx, draft, reverting, clock())) count += 1;
      return count;
    });
  }
}

/** Rejects one draft that agreed, and says whether the recommendation went with it. */
async function reverted(
  tx: WriteTransaction,
  draft: QueuedDraft,
  { operator, reason }: Reverting,
  now: Date,
): Promise<boolean> {
  const { id, nonprofit_id, normalised, slug } = draft;
  const at = now.getTime();
  // No operator refused the profile, only an agent: others may agree on it anew.
  const settling = { reason, decided_by: `revert:${operator}`, at };
  await rejectAgreed(tx, { nonprofit_id, normalised, id }, settling);
  const pick = await pickOf(tx, nonprofit_id);
  if (pick?.origin !== "consensus") return false;
  const stands = pick.draft_id !== id && (await agentsAgreed(tx, draft)) >= agentsNeeded;
  if (stands) return false;
  await deletePick(tx, nonprofit_id);
  await rejectAgreed(tx, { nonprofit_id, normalised, id: null }, settling);
  await logOperator(tx, {
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
  });
  return true;
}
