import { foldAgentId } from "#content/enrichment/agent.ts";
import type { Clock } from "#content/contract/time.ts";
import type { Reverted } from "#content/contract/review.ts";
import { EnrichmentTally } from "#content/enrichment/tally.ts";
import type { Store } from "#content/store/open.ts";
import { agreedFieldsOf, revertField } from "#content/enrichment/revert.ts";
import { logOperator } from "#content/operation/audit-log.ts";
import { revertRecommendations } from "./revert-recommendations.ts";

/** A short transaction, so that a running service goes on writing meanwhile. */
const perTransaction = 50;

/**
 * Undoes all that one agent's agreement made live: the fields are emptied, all submissions that agreed with it are
 * rejected with the reason, and credit is taken back; recommendations that rest on its voice go. The log of submissions and changes stays. Prose that an operator
 * accepted stays too. Safe to repeat, and to be gone on with after `submissionsMax` of them, which is looked at every 50;
 * `progress` hears how many submissions are done.
 */
export async function revertAgent(
  { store, clock }: { store: Store; clock: Clock },
  {
    agent,
    operator,
    reason,
    submissionsMax = Number.POSITIVE_INFINITY,
  }: { agent: string; operator: string; reason: string; submissionsMax?: number },
  progress: (done: number) => void = () => {},
): Promise<Reverted> {
  const agent_id = foldAgentId(agent);
  const recommendations = await revertRecommendations(
    { store, clock },
    { agent_id, operator, reason },
  );
  const total: Reverted = { agent_id, submissions: 0, emptied: 0, recommendations, complete: true };
  for (let after = 0; ;) {
    total.complete = total.submissions < submissionsMax;
    if (!total.complete) break;
    const found = await agreedFieldsOf(store, agent_id, after, perTransaction);
    const last = found.at(-1);
    if (last === undefined) break;
    after = last.id;
    const emptied = await store.write(async (tx) => {
      const now = clock();
      const tally = new EnrichmentTally();
      let count = 0;
      for (const { nonprofit_id, field } of found) {
        const sequence = await revertField(tx, tally, { nonprofit_id, field, reason, now });
        if (sequence !== null) count += 1;
      }
      await tally.write(tx);
      await logOperator(tx, {
        operator,
        action: "revert.agent",
        subject: agent_id,
        detail: { reason, submissions: found.map(({ id }) => id) },
        at: now.getTime(),
      });
      return count;
    });
    total.submissions += found.length;
    total.emptied += emptied;
    progress(total.submissions);
  }
  return total;
}
