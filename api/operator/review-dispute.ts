import { agentFlags } from "#content/enrichment/agent.ts";
import { isoTime } from "#content/contract/time.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { FoundReview } from "#content/contract/review.ts";
import { fail, ok } from "#content/contract/result.ts";
import { recordsById } from "#content/nonprofit/records.ts";
import {
  disputes,
  disputesWaiting,
  disputingVoices,
  rejectDisputes,
  type WaitingField,
} from "#content/enrichment/review-store.ts";
import { revertField } from "#content/enrichment/revert.ts";
import { checksOf } from "./review-checks.ts";
import { distinct, fieldFrom, voiceOf } from "./review-contested.ts";
import type { ReviewDesk } from "./review-desk.ts";

/** Live values that agents agreed on and other agents, two or more, contradict: an operator may empty the field. */
export const disputeDesk: ReviewDesk = {
  list: async (asked, { after, limit, now }) => {
    const place = /^\d{1,15}$/.test(after ?? "") ? Number(after) : 0;
    const found = await disputes(asked, { after: place, limit });
    const ids = distinct(found.map(({ nonprofit_id }) => String(nonprofit_id))).map(Number);
    const records = await recordsById(asked, ids);
    const recordOf = new Map(records.map((record) => [record.id, record]));
    return found.map((one) => itemOf(one, recordOf.get(one.nonprofit_id), now));
  },

  find: async (asked, key, now) => {
    const field = fieldFrom(key);
    const [record] = field === null ? [] : await recordsById(asked, [field.nonprofit_id]);
    if (field === null || record === undefined || record.status === "withdrawn") return null;
    const voices = await disputingVoices(asked, field);
    if (voices.length === 0) return null;
    return itemOf({ ...field, slug: record.slug, name: record.name, voices }, record, now);
  },

  count: disputesWaiting,

  approve: async (tx, tally, { key, reason, now }) => {
    const field = fieldFrom(key);
    const [record] = field === null ? [] : await recordsById(tx, [field.nonprofit_id]);
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
    const [record] = field === null ? [] : await recordsById(tx, [field.nonprofit_id]);
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

const itemOf = (
  { nonprofit_id, field, slug, name, voices }: WaitingField,
  record: NonprofitRecord | undefined,
  now: Date,
): FoundReview => {
  const live = record?.[field] ?? null;
  const origin = record?.provenance[field];
  return {
    id: `revert-${nonprofit_id}-${field}`,
    kind: "revert",
    slug,
    name,
    summary:
      "Agents contradict a value that agents made live. Approve to empty the field, so that it counts anew; reject, with a reason, to keep the value.",
    detail: {
      field,
      live: { value: live, agents: origin?.agents ?? [], source_url: origin?.source_url ?? null },
      values: voices.map(voiceOf),
    },
    comparison: [{ field, before: live === null ? null : String(live), after: null }],
    checks: voices.flatMap((voice) =>
      checksOf(field, voice, now).map((check) => ({
        ...check,
        name: `${check.name}: ${voice.value}`,
      })),
    ),
    sources: distinct(
      [origin?.source_url ?? [], ...voices.map((voice) => voice.source_url ?? [])].flat(),
    ),
    flags: distinct(voices.flatMap(({ agent_id }) => agentFlags(agent_id))),
    cursor: String(voices[0]?.id ?? 0),
    created_at: isoTime(voices[0]?.created_at ?? 0),
  };
};
