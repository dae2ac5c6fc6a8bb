import { foldAgentId } from "#content/rules/agent-id.ts";
import type { Clock } from "#content/rules/time.ts";
import { EnrichmentTally } from "#content/store/enrichment-tally.ts";
import type { Store } from "#content/store/open.ts";
import { agreedFieldsOf, revertField } from "#content/store/revert.ts";
import { logOperator } from "#content/store/review-queues.ts";

export type Reverted = {
  agent_id: string;
  /** Submissions of this agent that were live by agreement. */
  submissions: number;
  /** Fields that are empty now. The others had been set from elsewhere since, and stay. */
  emptied: number;
};

/** A short transaction, so that a running service goes on writing meanwhile. */
const perTransaction = 50;

/**
 * Undoes all that one agent's agreement made live: the fields are emptied, all submissions that agreed with it are
 * rejected with the reason, and credit is taken back. The log of submissions and changes stays. Prose that an operator
 * accepted stays too. Safe to repeat; `progress` hears how many submissions are done.
 */
export async function revertAgent(
  { store, clock }: { store: Store; clock: Clock },
  { agent, operator, reason }: { agent: string; operator: string; reason: string },
  progress: (done: number) => void = () => {},
): Promise<Reverted> {
  const agent_id = foldAgentId(agent);
  const total: Reverted = { agent_id, submissions: 0, emptied: 0 };
  for (let after = 0; ;) {
    const found = await agreedFieldsOf(store.raw, agent_id, after, perTransaction);
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
