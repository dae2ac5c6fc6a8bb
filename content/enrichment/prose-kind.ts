import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { isRowField } from "#content/contract/enrichment.ts";
import { rejectionReasons } from "./consensus.ts";
import { rowFrom, rowInWords, checkValue } from "./value.ts";
import { applyProse, expireSubmissions, proseQueue, proseWaiting } from "./review-store.ts";
import { rejectAll, type StoredSubmission, submissionById } from "./submission-store.ts";
import { publicName } from "#content/nonprofit/public-name.ts";
import { type NonprofitRecord, sourceFrom } from "#content/nonprofit/record.ts";
import { planSaves } from "#content/nonprofit/save.ts";
import { planned } from "#content/operation/plan.ts";
import {
  isListed,
  numbered,
  requestKind,
  type ReviewFailure,
  unusable,
} from "#content/requests/kind.ts";
import { checksOf, flagsOf } from "./request-checks.ts";

/** Texts, programmes and metrics that agents sent. A person accepts, edits or rejects them. */
export const proseRequests = requestKind<StoredSubmission>({
  kind: "prose",
  ...numbered({
    count: proseWaiting,
    page: proseQueue,
    byId: async (store, id) => {
      const submission = await submissionById(store, id);
      return submission?.field_type === "prose" && submission.audit_only === 0 ? submission : null;
    },
  }),
  isWaiting: isListed,
  // This also expires structured values: they are rows of the same table.
  expire: expireSubmissions,

  item: (_, { row: submission, record }, now) => {
    const { id, field, value, source_url, agent_id, agent_name, confidence } = submission;
    const flags = flagsOf(submission);
    return {
      key: String(id),
      summary: `Accept this ${field}, as it was sent or edited, or reject it with a reason.`,
      detail: { field, value, source_url, agent_id, agent_name, flags, confidence },
      comparison: [{ field, ...besideEachOther(submission, record) }],
      checks: checksOf(field, submission, now),
      sources: source_url === null ? [] : [source_url],
      flags,
      editing: { field, required: false, current: value, choices: [] },
      created_at: submission.created_at,
    };
  },

  approve: async (store, { row: submission, record }, { value, now }) => {
    const accepted = accept(record, submission, value, now);
    if (!accepted.ok) return accepted;
    const { after, text } = accepted.value;
    const { id, nonprofit_id, field } = submission;
    const at = now.getTime();
    const save = { before: record, after };
    const { statements } = await planSaves(store, [save], { origin: "review", now });
    const applied = applyProse(id, text === submission.value ? null : text, at);
    const reason = rejectionReasons.superseded;
    const others = { nonprofit_id, field, winning_value: text, reason, at };
    return planned(
      ok({ message: `The ${field} is accepted.` }),
      ...statements,
      applied,
      ...(isRowField(field) ? [] : [rejectAll("texts", others)]),
    );
  },

  // One decision also rejects the same text from other agents.
  reject: (_, { row: { nonprofit_id, field, normalised_value } }, { reason, now }) => {
    const refused = { nonprofit_id, field, normalised_value, reason, at: now.getTime() };
    return planned(ok({ message: `The ${field} is rejected.` }), rejectAll("texts", refused));
  },
});

/** What the profile holds and what it would hold. For programmes and metrics: all existing rows, one line each. */
function besideEachOther({ field, value }: StoredSubmission, record: NonprofitRecord) {
  if (!isRowField(field)) return { before: isText(field) ? record[field] : null, after: value };
  const lines =
    field === "programme"
      ? record.programs.map((row) => rowInWords({ kind: "programme", row }))
      : record.impact_metrics.map((row) => rowInWords({ kind: "impact_metric", row }));
  const added = rowFrom(field, value);
  const after = added === null ? value : rowInWords(added);
  return {
    before: lines.length === 0 ? null : lines.join("\n"),
    after: [...lines, after].join("\n"),
  };
}

const isText = (field: string): field is "mission" | "description" | "tagline" =>
  field === "mission" || field === "description" || field === "tagline";

/** The record with the accepted text, or with one more row. */
function accept(
  record: NonprofitRecord,
  { field, value, source_url, ...agent }: StoredSubmission,
  edited: string | null,
  now: Date,
): Result<{ after: NonprofitRecord; text: string }, ReviewFailure> {
  const checked = checkValue(field, edited ?? value, { thisYear: now.getUTCFullYear() });
  if (!checked.ok) return unusable(checked.failure);
  const text = checked.value.value;
  const accepted = (part: string, values: Partial<NonprofitRecord>) => {
    const source = sourceFrom("operator", now.getTime(), {
      source_url,
      agents: [publicName(agent)],
    });
    const provenance = { ...record.provenance, [part]: source };
    return ok({ after: { ...record, ...values, provenance }, text });
  };
  if (isText(field)) {
    return record[field] === null || record[field] === ""
      ? accepted(field, { [field]: text })
      : fail({ kind: "field_has_value", field });
  }
  if (!isRowField(field)) throw new Error(`${field} is no prose`);
  const row = rowFrom(field, text);
  if (row === null) return unusable(metricAsText);
  return row.kind === "programme"
    ? accepted("programs", { programs: [...record.programs, row.row] })
    : accepted("impact_metrics", { impact_metrics: [...record.impact_metrics, row.row] });
}

const metricAsText =
  'A metric in plain text has no name and value of its own: approve it with a value like {"name": "Meals served", "value": "12,000", "unit": "meals", "period": "annual"}.';
