import { decide } from "#content/enrichment/consensus.ts";
import { comparedLive, comparedValue } from "#content/enrichment/normalise.ts";
import { corroborates } from "#content/enrichment/promotion-note.ts";
import type { OwnSubmission } from "#content/enrichment/target.ts";
import { newestChangeOf } from "#content/nonprofit/history.ts";
import { setNetwork } from "#content/enrichment/submissions.ts";
import { applySubmission } from "./apply-submission.ts";
import type { Group, OneItem, Stored } from "./job.ts";

/** The submission with this value that the agent has already; null when it has none, or none that still counts. */
export function earlierOf({ standing: { own, live } }: OneItem): OwnSubmission | null {
  if (own === null) return null;
  const { field, status, audit_only } = own;
  if (field === "programme" || field === "impact_metric") return own;
  const compared = live === null ? null : comparedLive(field, live);
  // What was live and has since been emptied or replaced, or was logged beside another value than this, counts anew.
  if (status === "applied") {
    return compared === comparedValue(field, own.winning_value ?? own.value) ? own : null;
  }
  if (audit_only === 0) return own;
  const isLive = compared === own.normalised_value;
  return compared !== null && isLive === (own.reason === corroborates) ? own : null;
}

/** The same value from the same agent again: it is answered with the submission it has. */
export async function repeatSubmission(
  group: Group,
  one: OneItem,
  own: OwnSubmission,
): Promise<Stored> {
  const { target, standing } = one;
  if (own.status === "pending" && own.audit_only === 0 && own.field_type === "structured") {
    return lookAgain(group, one, own);
  }
  const running = own.status === "applied" ? 1 : standing.running;
  return {
    submission: { ...own, confidence: Math.max(own.confidence, running) },
    sequence: own.status === "applied" ? await newestChangeOf(group.tx, target.id) : null,
    rivals: false,
    rejections: standing.rejections,
  };
}

/**
 * The rules look at what waits as at a new submission: the mode of consensus may have been switched since. One from
 * before the strict mode has no network and could never agree with another, so it gets that of this request; after the
 * strict mode two agents of one network are enough.
 */
async function lookAgain(group: Group, one: OneItem, own: OwnSubmission): Promise<Stored> {
  const { job, standing } = one;
  const mine = { ...own, network: own.network ?? job.network };
  if (mine.network !== null && own.network === null) {
    await setNetwork(group.tx, { id: mine.id, network: mine.network });
  }
  const { field_type } = own;
  const pending = standing.voices.filter(({ id }) => id !== mine.id);
  const decision = decide({ field_type, live: null, pending, mine, mode: job.mode });
  if (decision.kind === "applied") return applySubmission(group, one, { mine, decision });
  const { rivals, rejections } = standing;
  return { submission: mine, sequence: null, rivals, rejections };
}
