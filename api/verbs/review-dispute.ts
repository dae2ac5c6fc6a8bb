import { agentFlags } from "#content/rules/agent-id.ts";
import { isoTime } from "#content/rules/time.ts";
import type { ReviewItem } from "#content/shapes/review.ts";
import { fail, ok } from "#content/shapes/result.ts";
import { recordsById } from "#content/store/records.ts";
import { disputes, type QueuedSubmission, rejectDisputes } from "#content/store/review-queues.ts";
import { revertField } from "#content/store/revert.ts";
import { fieldFrom } from "./review-contested.ts";
import type { ReviewDesk } from "./review.ts";

/** Live values that agents agreed on and other agents, two or more, contradict: an operator may empty the field. */
export const disputeDesk: ReviewDesk = {
  list: async (asked, limit) => {
    const byField = new Map<string, QueuedSubmission[]>();
    for (const one of await disputes(asked, limit)) {
      const key = `${one.nonprofit_id}-${one.field}`;
      byField.set(key, [...(byField.get(key) ?? []), one]);
    }
    return [...byField].map(([key, found]) => itemOf(key, found));
  },

  approve: async (tx, tally, { key, reason, now }) => {
    const field = fieldFrom(key);
    const [record] = field === null ? [] : await recordsById(tx.raw, [field.nonprofit_id]);
    if (field === null || record === undefined || record.status === "withdrawn") {
      return fail({ kind: "review_not_found", id: `revert-${key}` });
    }
    const why = reason === "" ? "reverted by a reviewer" : `reverted: ${reason}`;
    const sequence = await revertField(tx, tally, { ...field, reason: why, now });
    if (sequence === null) return fail({ kind: "review_not_found", id: `revert-${key}` });
    return ok({ slug: record.slug, sequence, message: `${field.field} is empty and counts anew.` });
  },

  reject: async (tx, tally, { key, reason, now }) => {
    const field = fieldFrom(key);
    const [record] = field === null ? [] : await recordsById(tx.raw, [field.nonprofit_id]);
    const rejected =
      field === null ? 0 : await rejectDisputes(tx, { ...field, reason, at: now.getTime() });
    if (field === null || rejected === 0) {
      return fail({ kind: "review_not_found", id: `revert-${key}` });
    }
    tally.move("pending", "rejected", rejected);
    return ok({
      slug: record?.slug ?? null,
      sequence: null,
      message: `${field.field} stays as it is.`,
    });
  },
};

const itemOf = (key: string, found: readonly QueuedSubmission[]): ReviewItem => ({
  id: `revert-${key}`,
  kind: "revert",
  slug: found[0]?.slug ?? null,
  name: found[0]?.name ?? null,
  summary:
    "Agents contradict a value that agents made live. Approve to empty the field, so that it counts anew; reject, with a reason, to keep the value.",
  detail: {
    field: found[0]?.field,
    values: found.map(({ value, agent_id, agent_name, source_url, confidence }) => ({
      value,
      agent_id,
      agent_name,
      source_url,
      confidence,
      flags: agentFlags(agent_id),
    })),
  },
  created_at: isoTime(found[0]?.created_at ?? 0),
});
