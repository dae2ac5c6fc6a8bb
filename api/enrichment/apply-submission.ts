import type { Decision } from "#content/enrichment/consensus.ts";
import { rejectionReasons } from "#content/enrichment/promotion-note.ts";
import { isStructured } from "#content/contract/enrichment.ts";
import { applyAgreed } from "#content/enrichment/apply-field.ts";
import type { OwnSubmission } from "#content/enrichment/target.ts";
import { uncountPending } from "#content/nonprofit/pending-fields.ts";
import {
  type NewSubmission,
  priorRejections,
  rejectSubmission,
  setConfidence,
  submissionById,
} from "#content/enrichment/submissions.ts";
import type { Group, OneItem, Stored } from "./job.ts";

type Applied = Extract<Decision, { kind: "applied" }>;

/** Makes the value of `mine` live, with all that agree on it; `mine` is stored, or among what is gathered. */
export async function applySubmission(
  group: Group,
  { job, target }: OneItem,
  { mine, decision }: { mine: OwnSubmission; decision: Applied },
): Promise<Stored> {
  const { tx, writes } = group;
  const { field, normalised_value } = mine;
  if (!isStructured(field)) throw new Error(`${field} never goes live by agreement`);
  await writes.flush();
  const { confidence } = decision;
  await recount(group, mine, confidence);
  const earliest = await submissionById(tx, Math.min(mine.id, decision.winner ?? mine.id));
  const sequence = await applyAgreed(tx, writes.tally, {
    nonprofit_id: target.id,
    slug: target.slug,
    field,
    value: earliest?.value ?? mine.value,
    normalised_value,
    confidence,
    now: job.now,
  });
  // The transaction holds the write lock, so the field is as empty as it was when it was read.
  if (sequence === null) throw new Error(`${field} of nonprofit ${target.id} was filled meanwhile`);
  const submission = { ...mine, confidence, status: "applied" as const };
  return { submission, sequence, rivals: false, rejections: await priorRejections(tx, mine) };
}

/** An agent has one pending value per field: its earlier one, if there is one, is rejected. */
export async function replaceOwn(
  group: Group,
  fresh: NewSubmission,
  { replaces }: { replaces: number | null },
): Promise<void> {
  if (replaces === null) return;
  const { tx, writes } = group;
  const earlier = await submissionById(tx, replaces);
  const reason = rejectionReasons.replaced;
  const at = fresh.created_at;
  await rejectSubmission(tx, { id: replaces, reason, winning_value: fresh.value, at });
  writes.tally.move("pending", "rejected");
  if (earlier === null) return;
  if (earlier.test_data === 0) await uncountPending(tx, fresh);
  if (earlier.confidence > 1) await recount(group, earlier, earlier.confidence - 1);
}

/** Brings the number of agreeing agents on the stored submissions of a value up to date. */
export async function recount(
  { tx, writes }: Group,
  one: Pick<NewSubmission, "nonprofit_id" | "field" | "normalised_value">,
  confidence: number,
): Promise<void> {
  const { nonprofit_id, field, normalised_value } = one;
  const changed = await setConfidence(tx, { nonprofit_id, field, normalised_value, confidence });
  if (changed.risen > 0) writes.tally.add("high_confidence", changed.risen);
  if (changed.fallen > 0) writes.tally.add("high_confidence", -changed.fallen);
}
