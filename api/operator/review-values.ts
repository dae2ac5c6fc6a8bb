import { isStructured } from "#content/contract/enrichment.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type { FoundReview } from "#content/contract/review.ts";
import { isoTime } from "#content/contract/time.ts";
import { agentFlags } from "#content/enrichment/agent.ts";
import { applyAgreed, revertField } from "#content/enrichment/agreed-field-store.ts";
import {
  contestedFields,
  contestedWaiting,
  disputes,
  disputesWaiting,
  disputingVotes,
  type FieldOf,
  fieldVotes,
  rejectDisputes,
  rejectPending,
  type WaitingField,
} from "#content/enrichment/review-store.ts";
import type { StoredSubmission } from "#content/enrichment/submission-store.ts";
import { checkValue } from "#content/enrichment/value.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import type { Queryable } from "#content/store/open.ts";
import { checksOf, type ReviewQueue, type ReviewFailure } from "./review-queue.ts";

/**
 * Fields on which agents disagree, or agree without making the value live (on one network, in the strict mode): an
 * operator may pick a value, or reject all of them.
 */
export const contestedReviews: ReviewQueue = {
  list: async (store, { after, limit, now }) => {
    const place = after === null ? null : fieldFrom(after);
    const found = await contestedFields(store, { after: place, limit });
    return found.map((one) => contestedItem(one, now));
  },

  find: async (store, key, now) => {
    const waiting = await waitingField(store, key);
    return waiting.ok ? contestedItem(waiting.value, now) : null;
  },

  count: contestedWaiting,

  approve: async (tx, { key, value, now }) => {
    const waiting = await waitingField(tx, key);
    if (!waiting.ok) return waiting;
    const { field, slug, votes } = waiting.value;
    if (value === null) {
      return fail({
        kind: "review_value_not_usable",
        message: "Send value: the correct value of the field.",
      });
    }
    const checked = checkValue(field, value, { thisYear: now.getUTCFullYear() });
    if (!checked.ok) {
      return fail({ kind: "review_value_not_usable", message: checked.failure.message });
    }
    const { normalised_value } = checked.value;
    const agreeing = votes.filter((vote) => vote.normalised_value === normalised_value);
    const sequence = await applyAgreed(tx, {
      ...waiting.value,
      value: agreeing[0]?.value ?? checked.value.value,
      normalised_value,
      confidence: Math.max(1, agreeing.length),
      decidedBy: "operator",
      now,
    });
    return ok({ slug, sequence, message: `The ${field} is set; other values are rejected.` });
  },

  reject: async (tx, { key, reason, now }) => {
    const waiting = await waitingField(tx, key);
    if (!waiting.ok) return waiting;
    const rejected = await rejectPending(tx, { ...waiting.value, reason, at: now.getTime() });
    return ok({
      slug: waiting.value.slug,
      sequence: null,
      message: `${rejected} values are rejected.`,
    });
  },
};

const contestedItem = (
  { nonprofit_id, field, slug, name, votes }: WaitingField,
  now: Date,
): FoundReview => {
  const choices = distinct(votes.map(({ value }) => value));
  return {
    id: `contested-${nonprofit_id}-${field}`,
    kind: "contested",
    slug,
    name,
    summary: `${standingOf(field, votes)} Approve with the value that is right, or reject all of them with a reason.`,
    detail: { field, values: votes.map(voteOf) },
    comparison: choices.map((after) => ({ field, before: null, after })),
    checks: votes.flatMap((vote) =>
      checksOf(field, vote, now).map((check) => ({
        ...check,
        name: `${check.name}: ${vote.value}`,
      })),
    ),
    sources: distinct(votes.flatMap(({ source_url }) => source_url ?? [])),
    flags: distinct(votes.flatMap(({ agent_id }) => agentFlags(agent_id))),
    editing: { field, required: true, current: null, choices },
    cursor: `${nonprofit_id}-${field}`,
    created_at: isoTime(votes[0]?.created_at ?? 0),
  };
};

const standingOf = (field: string, votes: readonly StoredSubmission[]): string =>
  distinct(votes.map(({ normalised_value }) => normalised_value)).length > 1
    ? `Agents disagree on ${field}.`
    : `Agents agree on ${field}, but none on a second network does.`;

/** Without repetitions, in the order in which they came. */
export const distinct = (texts: readonly string[]): string[] => [...new Set(texts)];

/** One agent's value, as an operator sees it. */
export const voteOf = ({
  value,
  agent_id,
  agent_name,
  source_url,
  confidence,
  created_at,
}: StoredSubmission) => ({
  value,
  agent_id,
  agent_name,
  source_url,
  confidence,
  sent_at: isoTime(created_at),
  flags: agentFlags(agent_id),
});

/** "12-website": the field of a nonprofit, when its parts make sense. */
export function fieldFrom(key: string): FieldOf | null {
  const [, id = "", field = ""] = /^(\d{1,15})-([a-z_]{1,40})$/.exec(key) ?? [];
  return isStructured(field) ? { nonprofit_id: Number(id), field } : null;
}

async function waitingField(
  store: Queryable,
  key: string,
): Promise<Result<WaitingField, ReviewFailure>> {
  const notFound = fail({ kind: "review_not_found", id: `contested-${key}` } as const);
  const field = fieldFrom(key);
  if (field === null) return notFound;
  const [record] = await recordsById(store, [field.nonprofit_id], { summaries: true });
  const votes = await fieldVotes(store, field);
  if (record === undefined || record.status === "withdrawn" || votes.length === 0) return notFound;
  return ok({ ...field, slug: record.slug, name: record.name, votes });
}

/** Live values that agents agreed on and other agents, two or more, contradict: an operator may empty the field. */
export const disputeReviews: ReviewQueue = {
  list: async (store, { after, limit, now }) => {
    const place = /^\d{1,15}$/.test(after ?? "") ? Number(after) : 0;
    const found = await disputes(store, { after: place, limit });
    const ids = distinct(found.map(({ nonprofit_id }) => String(nonprofit_id))).map(Number);
    const records = await recordsById(store, ids);
    const recordOf = new Map(records.map((record) => [record.id, record]));
    return found.map((one) => disputedItem(one, recordOf.get(one.nonprofit_id), now));
  },

  find: async (store, key, now) => {
    const field = fieldFrom(key);
    const [record] = field === null ? [] : await recordsById(store, [field.nonprofit_id]);
    if (field === null || record === undefined || record.status === "withdrawn") return null;
    const votes = await disputingVotes(store, field);
    if (votes.length === 0) return null;
    return disputedItem({ ...field, slug: record.slug, name: record.name, votes }, record, now);
  },

  count: disputesWaiting,

  approve: async (tx, { key, reason, now }) => {
    const field = fieldFrom(key);
    const [record] = field === null ? [] : await recordsById(tx, [field.nonprofit_id]);
    if (field === null || record === undefined || record.status === "withdrawn") {
      return fail({ kind: "review_not_found", id: `revert-${key}` });
    }
    const why = reason === "" ? "reverted by a reviewer" : `reverted: ${reason}`;
    const sequence = await revertField(tx, { ...field, reason: why, now });
    if (sequence === null) return fail({ kind: "review_not_found", id: `revert-${key}` });
    return ok({
      slug: record.slug,
      sequence,
      message: `${field.field} is empty, and agents can agree on it again.`,
    });
  },

  reject: async (tx, { key, reason, now }) => {
    const field = fieldFrom(key);
    const [record] = field === null ? [] : await recordsById(tx, [field.nonprofit_id]);
    const rejected =
      field === null ? 0 : await rejectDisputes(tx, { ...field, reason, at: now.getTime() });
    if (field === null || rejected === 0) {
      return fail({ kind: "review_not_found", id: `revert-${key}` });
    }
    return ok({
      slug: record?.slug ?? null,
      sequence: null,
      message: `${field.field} stays as it is.`,
    });
  },
};

const disputedItem = (
  { nonprofit_id, field, slug, name, votes }: WaitingField,
  record: NonprofitRecord | undefined,
  now: Date,
): FoundReview => {
  const live = record?.[field] ?? null;
  const { agents = [], source_url = null } = record?.provenance[field] ?? {};
  const [first] = votes;
  return {
    id: `revert-${nonprofit_id}-${field}`,
    kind: "revert",
    slug,
    name,
    summary:
      "Agents contradict a value that agents made live. Approve to empty the field, so that agents can agree on it again; reject, with a reason, to keep the value.",
    detail: {
      field,
      live: { value: live, agents, source_url },
      values: votes.map(voteOf),
    },
    comparison: [{ field, before: live === null ? null : String(live), after: null }],
    checks: votes.flatMap((vote) =>
      checksOf(field, vote, now).map((check) => ({
        ...check,
        name: `${check.name}: ${vote.value}`,
      })),
    ),
    sources: distinct(
      [source_url, ...votes.map((vote) => vote.source_url)].filter((url) => url !== null),
    ),
    flags: distinct(votes.flatMap(({ agent_id }) => agentFlags(agent_id))),
    cursor: String(first?.id ?? 0),
    created_at: isoTime(first?.created_at ?? 0),
  };
};
