import { decide, type Decision } from "#content/rules/consensus.ts";
import { comparedValue } from "#content/rules/normalise.ts";
import { rejectionReasons } from "#content/rules/promotion-note.ts";
import type { EnrichmentRequest } from "#content/rules/read-enrichment.ts";
import { isStructured } from "#content/shapes/enrichment.ts";
import { addCorroboration, applyAgreed } from "#content/store/apply-field.ts";
import type { EnrichTarget } from "#content/store/enrich-target.ts";
import type { EnrichmentTally } from "#content/store/enrichment-tally.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import { countPending } from "#content/store/pending-fields.ts";
import {
  insertSubmission,
  type NewSubmission,
  pendingVoices,
  rejectSubmission,
  runningConfidence,
  setConfidence,
  type StoredSubmission,
  submissionById,
  touchedBefore,
} from "#content/store/submissions.ts";
import type { EnrichJob } from "./enrich-transaction.ts";

/** The reason stored with an audit-only submission that equals the live value. */
export const corroborates = "corroborates the live value";

type One = { job: EnrichJob; target: EnrichTarget; item: EnrichmentRequest["items"][number] };
type Stored = { submission: StoredSubmission; sequence: number | null };

/** Stores a new submission and does what the rules decide of it. `sequence` is that of the change it made, if any. */
export async function storeSubmission(
  tx: WriteTransaction,
  tally: EnrichmentTally,
  one: One,
): Promise<Stored> {
  const { job, target, item } = one;
  const fresh = newSubmission(one);
  const live = target.live(item.field);
  const pending =
    live === null && item.field_type === "structured" ? await pendingVoices(tx.raw, fresh) : [];
  const decision = decide({
    field_type: item.field_type,
    live: live === null ? null : comparedValue(item.field, live),
    pending,
    mine: fresh,
    mode: job.mode,
  });
  await countSubmission(tx, tally, fresh);
  switch (decision.kind) {
    case "audit":
      return audit(tx, tally, one, { fresh, corroborating: decision.corroborates });
    case "queued": {
      const confidence = await runningConfidence(tx.raw, fresh);
      return { submission: await insert(tx, tally, { ...fresh, confidence }), sequence: null };
    }
    case "pending": {
      await replaceOwn(tx, tally, fresh, decision);
      const submission = await insert(tx, tally, { ...fresh, confidence: decision.confidence });
      await recount(tx, tally, fresh, decision.confidence);
      if (fresh.test_data === 0) await countPending(tx, fresh, 1);
      return { submission, sequence: null };
    }
    case "applied":
      return apply(tx, tally, one, { fresh, decision });
    default:
      return decision satisfies never;
  }
}

const newSubmission = ({ job, target, item }: One): NewSubmission => ({
  nonprofit_id: target.id,
  field: item.field,
  field_type: item.field_type,
  value: item.value,
  normalised_value: item.normalised_value,
  source_url: item.source_url,
  agent_id: job.request.agent_id,
  agent_name: job.request.agent_name,
  network: job.network,
  status: "pending",
  audit_only: 0,
  test_data: item.test_data ? 1 : 0,
  confidence: 1,
  reason: null,
  winning_value: null,
  created_at: job.now.getTime(),
  applied_at: null,
  decided_at: null,
});

/** The field holds a value: logged, and the agent named as one more source when it found the same. */
async function audit(
  tx: WriteTransaction,
  tally: EnrichmentTally,
  { job, target }: One,
  { fresh, corroborating }: { fresh: NewSubmission; corroborating: boolean },
): Promise<Stored> {
  const confidence = await runningConfidence(tx.raw, fresh);
  const reason = corroborating ? corroborates : null;
  const submission = await insert(tx, tally, { ...fresh, audit_only: 1, confidence, reason });
  if (corroborating && fresh.test_data === 0) {
    await addCorroboration(tx, { ...fresh, slug: target.slug, now: job.now });
  }
  return { submission, sequence: null };
}

type Applied = Extract<Decision, { kind: "applied" }>;

async function apply(
  tx: WriteTransaction,
  tally: EnrichmentTally,
  { job, target }: One,
  { fresh, decision }: { fresh: NewSubmission; decision: Applied },
): Promise<Stored> {
  const { field, normalised_value } = fresh;
  if (!isStructured(field)) throw new Error(`${field} never goes live by agreement`);
  await replaceOwn(tx, tally, fresh, decision);
  const { confidence } = decision;
  const mine = await insert(tx, tally, { ...fresh, confidence });
  await recount(tx, tally, fresh, confidence);
  const earliest = decision.winner === null ? null : await submissionById(tx.raw, decision.winner);
  const sequence = await applyAgreed(tx, tally, {
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
  return { submission: { ...mine, status: "applied", decided_at: job.now.getTime() }, sequence };
}

/** An agent has one pending value per field: its earlier one is rejected. */
async function replaceOwn(
  tx: WriteTransaction,
  tally: EnrichmentTally,
  fresh: NewSubmission,
  { replaces }: { replaces: number | null },
): Promise<void> {
  if (replaces === null) return;
  const earlier = await submissionById(tx.raw, replaces);
  const reason = rejectionReasons.replaced;
  const at = fresh.created_at;
  await rejectSubmission(tx, { id: replaces, reason, winning_value: fresh.value, at });
  tally.move("pending", "rejected");
  if (earlier === null) return;
  if (earlier.test_data === 0) await countPending(tx, fresh, -1);
  if (earlier.confidence > 1) await recount(tx, tally, earlier, earlier.confidence - 1);
}

/** Brings the number of agreeing agents on the other submissions of a value up to date. */
async function recount(
  tx: WriteTransaction,
  tally: EnrichmentTally,
  { nonprofit_id, field, normalised_value }: NewSubmission,
  confidence: number,
): Promise<void> {
  const changed = await setConfidence(tx, { nonprofit_id, field, normalised_value, confidence });
  if (changed.risen > 0) tally.add("high_confidence", changed.risen);
  if (changed.fallen > 0) tally.add("high_confidence", -changed.fallen);
}

async function insert(tx: WriteTransaction, tally: EnrichmentTally, one: NewSubmission) {
  if (one.confidence > 1) tally.add("high_confidence");
  return insertSubmission(tx, one);
}

async function countSubmission(tx: WriteTransaction, tally: EnrichmentTally, fresh: NewSubmission) {
  const counted = fresh.test_data === 0;
  tally.add("total");
  tally.add(`status:${fresh.status}`);
  tally.add(`field:${fresh.field}`);
  if (counted) tally.add("public_submissions");
  const touched = counted && !(await touchedBefore(tx.raw, fresh));
  tally.seen({ ...fresh, at: fresh.created_at }, { counted, touched });
}
