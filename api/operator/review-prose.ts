import { agentFlags } from "#content/enrichment/agent.ts";
import { isBrokenObject } from "#content/contract/json-object.ts";
import { rowFrom, rowInWords } from "#content/enrichment/prose-rows.ts";
import { isoTime } from "#content/contract/time.ts";
import { checkValue } from "#content/enrichment/value.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { FoundReview } from "#content/contract/review.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { newestChangeOf } from "#content/nonprofit/changes-store.ts";
import type { Queryable } from "#content/store/open.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import {
  applyProse,
  proseQueue,
  proseWaiting,
  type QueuedSubmission,
  rejectOtherProse,
} from "#content/enrichment/review-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import {
  rejectSubmission,
  type StoredSubmission,
  submissionById,
} from "#content/enrichment/submission-store.ts";
import { type ReviewQueue, type ReviewFailure, checksOf } from "./review-queue.ts";

/** Texts, programmes and metrics that agents sent: a person accepts, edits or rejects them. */
export const proseReviews: ReviewQueue = {
  list: async (store, { after, limit, now }) => {
    const place = /^\d{1,15}$/.test(after ?? "") ? Number(after) : 0;
    const found = await proseQueue(store, { after: place, limit });
    const idsOf = (some: typeof found) => [
      ...new Set(some.map(({ nonprofit_id }) => nonprofit_id)),
    ];
    const whole = idsOf(found.filter(({ field }) => isRow(field)));
    const records = [
      ...(await recordsById(store, idsOf(found), { summaries: true })),
      ...(await recordsById(store, whole)),
    ];
    const recordOf = new Map(records.map((record) => [record.id, record]));
    return found.map((one) => itemOf(one, recordOf.get(one.nonprofit_id), now));
  },

  find: async (store, key, now) => {
    const waiting = await waitingProse(store, key);
    if (!waiting.ok) return null;
    const { submission, record } = waiting.value;
    return itemOf({ ...submission, slug: record.slug, name: record.name }, record, now);
  },

  count: proseWaiting,

  approve: async (tx, { key, value, now }) => {
    const waiting = await waitingProse(tx, key);
    if (!waiting.ok) return waiting;
    const { submission, record } = waiting.value;
    const accepted = accept(record, submission, value, now);
    if (!accepted.ok) return accepted;
    const at = now.getTime();
    await saveNonprofits(tx, [{ before: record, after: accepted.value.after }], {
      origin: "review",
      now,
    });
    const { text } = accepted.value;
    await applyProse(tx, {
      id: submission.id,
      edited: text === submission.value ? null : text,
      at,
    });
    if (!isRow(submission.field)) {
      const { nonprofit_id, field } = submission;
      const others = {
        nonprofit_id,
        field,
        winning_value: text,
        reason: "another text was accepted",
        at,
      };
      await rejectOtherProse(tx, others);
    }
    const sequence = await newestChangeOf(tx, record.id);
    return ok({ slug: record.slug, sequence, message: `The ${submission.field} is accepted.` });
  },

  reject: async (tx, { key, reason, now }) => {
    const waiting = await waitingProse(tx, key);
    if (!waiting.ok) return waiting;
    const { submission, record } = waiting.value;
    await rejectSubmission(tx, {
      id: submission.id,
      reason,
      winning_value: null,
      at: now.getTime(),
    });
    return ok({
      slug: record.slug,
      sequence: null,
      message: `The ${submission.field} is rejected.`,
    });
  },
};

const itemOf = (
  one: QueuedSubmission,
  record: NonprofitRecord | undefined,
  now: Date,
): FoundReview => ({
  id: `prose-${one.id}`,
  kind: "prose",
  slug: one.slug,
  name: one.name,
  summary: `Accept this ${one.field}, as it was sent or edited, or reject it with a reason.`,
  detail: {
    field: one.field,
    value: one.value,
    source_url: one.source_url,
    agent_id: one.agent_id,
    agent_name: one.agent_name,
    flags: flagsOf(one),
    confidence: one.confidence,
  },
  comparison: [{ field: one.field, ...besideEachOther(one, record) }],
  checks: checksOf(one.field, one, now),
  sources: one.source_url === null ? [] : [one.source_url],
  flags: flagsOf(one),
  editing: { field: one.field, required: false, current: one.value, choices: [] },
  cursor: String(one.id),
  created_at: isoTime(one.created_at),
});

const flagsOf = ({ agent_id, test_data }: QueuedSubmission): string[] => [
  ...agentFlags(agent_id),
  ...(test_data === 1 ? ["test_data"] : []),
];

/** What the profile holds, and what it would hold; of programmes and metrics all that are there, a line each. */
function besideEachOther({ field, value }: QueuedSubmission, record: NonprofitRecord | undefined) {
  if (isText(field)) return { before: record?.[field] ?? null, after: value };
  const lines =
    field === "programme"
      ? record?.programs.map((row) => rowInWords({ kind: "programme", row }))
      : record?.impact_metrics.map((row) => rowInWords({ kind: "impact_metric", row }));
  const added = isRow(field) ? rowFrom(field, value) : null;
  const before = lines === undefined || lines.length === 0 ? null : lines.join("\n");
  const after = added === null ? value : rowInWords(added);
  return { before, after: before === null ? after : `${before}\n${after}` };
}

type Waiting = { submission: StoredSubmission; record: NonprofitRecord };

async function waitingProse(
  store: Queryable,
  key: string,
): Promise<Result<Waiting, ReviewFailure>> {
  const notFound = fail({ kind: "review_not_found", id: `prose-${key}` } as const);
  if (!/^\d{1,15}$/.test(key)) return notFound;
  const submission = await submissionById(store, Number(key));
  if (submission?.field_type !== "prose" || submission.audit_only === 1) return notFound;
  if (submission.status !== "pending") {
    return fail({ kind: "review_decided", status: submission.status });
  }
  const [record] = await recordsById(store, [submission.nonprofit_id]);
  if (record === undefined || record.status === "withdrawn") return notFound;
  return ok({ submission, record });
}

const isText = (field: string): field is "mission" | "description" | "tagline" =>
  field === "mission" || field === "description" || field === "tagline";

const isRow = (field: string): field is "programme" | "impact_metric" =>
  field === "programme" || field === "impact_metric";

/** The record with the accepted text, or with one row more. */
function accept(
  record: NonprofitRecord,
  submission: StoredSubmission,
  edited: string | null,
  now: Date,
): Result<{ after: NonprofitRecord; text: string }, ReviewFailure> {
  const { field } = submission;
  const checked = checkValue(field, edited ?? submission.value, { thisYear: now.getUTCFullYear() });
  if (!checked.ok) {
    return fail({ kind: "review_value_not_usable", message: checked.failure.message });
  }
  const text = checked.value.value;
  const provenance = (part: string) => ({
    ...record.provenance,
    [part]: {
      set_by: "operator" as const,
      source: "operator",
      source_url: submission.source_url,
      agents: [submission.agent_name],
      applied_at: now.getTime(),
    },
  });
  if (isRow(field)) {
    // An agent's text may begin as it likes; an operator's edit that begins like an object is meant as one.
    if (edited !== null && isBrokenObject(edited)) {
      return fail({ kind: "review_value_not_usable", message: brokenObject });
    }
    const row = rowFrom(field, text);
    if (row === null) return fail({ kind: "review_value_not_usable", message: metricAsText });
    const after =
      row.kind === "programme"
        ? { ...record, programs: [...record.programs, row.row], provenance: provenance("programs") }
        : {
            ...record,
            impact_metrics: [...record.impact_metrics, row.row],
            provenance: provenance("impact_metrics"),
          };
    return ok({ after, text });
  }
  if (!isText(field)) throw new Error(`${field} is no prose`);
  if (record[field] !== null && record[field] !== "")
    return fail({ kind: "field_has_value", field });
  return ok({ after: { ...record, [field]: text, provenance: provenance(field) }, text });
}

const brokenObject = "The value begins like a JSON object and is none: is a quote missing?";

const metricAsText =
  'A metric in plain text has no name and value of its own: approve it with a value like {"name": "Meals served", "value": "12,000", "unit": "meals", "period": "annual"}.';
