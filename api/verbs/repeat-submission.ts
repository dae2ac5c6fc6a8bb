import { decide } from "#content/rules/consensus.ts";
import type { OwnSubmission } from "#content/store/enrich-target.ts";
import { newestChangeOf } from "#content/store/history.ts";
import { setNetwork } from "#content/store/submissions.ts";
import { applySubmission } from "./apply-submission.ts";
import type { Group, OneItem, Stored } from "./enrich-job.ts";

/** The submission with this value that the agent has already; null when it has none, or none that still counts. */
export function earlierOf({ standing: { own, live } }: OneItem): OwnSubmission | null {
  if (own === null || live !== null) return own;
  // The field was emptied since what was applied, or only logged: then the value counts anew.
  const isRow = own.field === "programme" || own.field === "impact_metric";
  const stands = own.status === "applied" ? isRow : own.audit_only === 0;
  return stands ? own : null;
}

/** The same value from the same agent again: it is answered with the submission it has. */
export async function repeatSubmission(
  group: Group,
  one: OneItem,
  own: OwnSubmission,
): Promise<Stored> {
  const { job, target, standing } = one;
  const waits = own.status === "pending" && own.audit_only === 0 && own.field_type === "structured";
  if (waits && own.network === null && job.network !== null) {
    return nameNetwork(group, one, { ...own, network: job.network });
  }
  const running = waits || own.status === "applied" ? 1 : standing.running;
  return {
    submission: { ...own, confidence: Math.max(own.confidence, running) },
    sequence: own.status === "applied" ? await newestChangeOf(group.tx.raw, target.id) : null,
    rivals: waits && standing.rivals,
    rejections: standing.rejections,
  };
}

/**
 * The strict mode was switched on since: a submission from before it has no network, and without one it could never
 * agree with another. Sent again it gets one, and the rules look at it as at a new one.
 */
async function nameNetwork(
  group: Group,
  one: OneItem,
  mine: OwnSubmission & { network: string },
): Promise<Stored> {
  const { job, item, standing } = one;
  await setNetwork(group.tx, mine);
  const { field_type } = item;
  const pending = standing.voices.filter(({ id }) => id !== mine.id);
  const decision = decide({ field_type, live: null, pending, mine, mode: job.mode });
  if (decision.kind === "applied") return applySubmission(group, one, { mine, decision });
  const { rivals, rejections } = standing;
  return { submission: mine, sequence: null, rivals, rejections };
}
