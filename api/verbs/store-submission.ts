import { decide, type Decision } from "#content/rules/consensus.ts";
import { comparedValue } from "#content/rules/normalise.ts";
import { rejectionReasons } from "#content/rules/promotion-note.ts";
import { isStructured } from "#content/shapes/enrichment.ts";
import { addCorroboration, applyAgreed } from "#content/store/apply-field.ts";
import type { EnrichmentTally } from "#content/store/enrichment-tally.ts";
import type { WriteTransaction } from "#content/store/open.ts";
import { countPending } from "#content/store/pending-fields.ts";
import {
  fieldStanding,
  insertSubmission,
  type NewSubmission,
  priorRejections,
  type Rejection,
  rejectSubmission,
  runningConfidence,
  setConfidence,
  type StoredSubmission,
  submissionById,
} from "#content/store/submissions.ts";
import type { OneItem } from "./enrich-transaction.ts";

/** The reason stored with an audit-only submission that equals the live value. */
export const corroborates = "corroborates the live value";

/** `rivals`: other values are pending too. `rejections`: what was rejected on this field, as of after this submission. */
type Stored = {
  submission: StoredSubmission;
  sequence: number | null;
  rivals: boolean;
  rejections: Rejection[];
};

/** Stores a new submission and does what the rules decide of it. `sequence` is that of the change it made, if any. */
export async function storeSubmission(
  tx: WriteTransaction,
  tally: EnrichmentTally,
  one: OneItem,
): Promise<Stored> {
  const { job, target, item } = one;
  const fresh = newSubmission(one);
  const live = target.live(item.field);
  const { voices, rivals, rejections } = await fieldStanding(tx.raw, fresh);
  const pending = live === null && item.field_type === "structured" ? voices : [];
  // Only the newest of its submissions were looked at; this one is as good as new.
  const again = pending.find(
    (voice) =>
      voice.agent_id === fresh.agent_id && voice.normalised_value === fresh.normalised_value,
  );
  const known = again === undefined ? null : await submissionById(tx.raw, again.id);
  if (known !== null) return { submission: known, sequence: null, rivals, rejections };
  const decision = decide({
    field_type: item.field_type,
    live: live === null ? null : comparedValue(item.field, live),
    pending,
    mine: fresh,
    mode: job.mode,
  });
  countSubmission(tally, one, fresh);
  switch (decision.kind) {
    case "audit":
      return {
        ...nothingLive,
        submission: await audit(tx, tally, one, { fresh, corroborating: decision.corroborates }),
        rejections,
      };
    case "queued": {
      const confidence = await runningConfidence(tx.raw, fresh);
      const submission = await insert(tx, tally, { ...fresh, confidence });
      return { ...nothingLive, submission, rejections };
    }
    case "pending": {
      await replaceOwn(tx, tally, fresh, decision);
      const submission = await insert(tx, tally, { ...fresh, confidence: decision.confidence });
      // Alone with its value there is nobody else to tell.
      if (decision.confidence > 1) await recount(tx, tally, fresh, decision.confidence);
      if (fresh.test_data === 0) await countPending(tx, fresh, 1);
      const isNews = decision.replaces !== null;
      const now = isNews ? await priorRejections(tx.raw, fresh) : rejections;
      return { ...nothingLive, submission, rivals, rejections: now };
    }
    case "applied":
      return apply(tx, tally, one, { fresh, decision });
    default:
      return decision satisfies never;
  }
}

const nothingLive = { sequence: null, rivals: false };

const newSubmission = ({ job, target, item }: OneItem): NewSubmission => ({
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
  { job, target }: OneItem,
  { fresh, corroborating }: { fresh: NewSubmission; corroborating: boolean },
): Promise<StoredSubmission> {
  const confidence = await runningConfidence(tx.raw, fresh);
  const reason = corroborating ? corroborates : null;
  const submission = await insert(tx, tally, { ...fresh, audit_only: 1, confidence, reason });
  if (corroborating && fresh.test_data === 0) {
    await addCorroboration(tx, { ...fresh, slug: target.slug, now: job.now });
  }
  return submission;
}

type Applied = Extract<Decision, { kind: "applied" }>;

async function apply(
  tx: WriteTransaction,
  tally: EnrichmentTally,
  { job, target }: OneItem,
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
  const submission = { ...mine, status: "applied" as const, decided_at: job.now.getTime() };
  return { submission, sequence, rivals: false, rejections: await priorRejections(tx.raw, fresh) };
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

function countSubmission(
  tally: EnrichmentTally,
  { target, job, item }: OneItem,
  fresh: NewSubmission,
) {
  const counted = fresh.test_data === 0;
  tally.add("total");
  tally.add(`status:${fresh.status}`);
  tally.add(`field:${fresh.field}`);
  if (counted) tally.add("public_submissions");
  // Of a batch the first item that counts is the one that touches the nonprofit.
  const first = job.request.items.find(({ test_data }) => !test_data) === item;
  const touched = counted && first && target.own.every(({ test_data }) => test_data === 1);
  tally.seen({ ...fresh, at: fresh.created_at }, { counted, touched });
}
