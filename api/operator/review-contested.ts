import { isStructured } from "#content/contract/enrichment.ts";
import { ok } from "#content/contract/result.ts";
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
  rejectAll,
  type WaitingField,
} from "#content/enrichment/review-store.ts";
import { checkValue } from "#content/enrichment/value.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import type { Queryable } from "#content/store/open.ts";
import { checksOf, notWaiting, numberAt, openQueue, unusable } from "./open-queue.ts";

const fieldKey = /^(\d{1,15})-([a-z_]{1,40})$/;

/**
 * Fields on which agents disagree, or agree without making the value live (on one network, in the strict mode): an
 * operator may pick a value, or reject all of them.
 */
export const contestedReviews = openQueue<WaitingField>({
  kind: "contested",
  key: fieldKey,
  count: contestedWaiting,
  page: (store, { after, limit }) =>
    contestedFields(store, { after: fieldFrom(after ?? ""), limit }),
  find: (store, key) => waitingField(store, key, fieldVotes),

  item: (_, waiting, now) => {
    const { field, votes } = waiting;
    const shown = votesShown(waiting, now);
    const choices = distinct(votes.map(({ value }) => value));
    const values = distinct(votes.map(({ normalised_value }) => normalised_value));
    const state =
      values.length > 1
        ? `Agents disagree on ${field}.`
        : `Agents agree on ${field}, but none on a second network does.`;
    return {
      ...shown,
      place: shown.key,
      summary: `${state} Approve with the value that is right, or reject all of them with a reason.`,
      comparison: choices.map((after) => ({ field, before: null, after })),
      editing: { field, required: true, current: null, choices },
    };
  },

  approve: async (tx, waiting, { value, now }) => {
    const { field, slug, votes } = waiting;
    if (value === null) return unusable("Send value: the correct value of the field.");
    const checked = checkValue(field, value, { thisYear: now.getUTCFullYear() });
    if (!checked.ok) return unusable(checked.failure.message);
    const { normalised_value } = checked.value;
    const agreeing = votes.filter((vote) => vote.normalised_value === normalised_value);
    const sequence = await applyAgreed(tx, {
      ...waiting,
      value: agreeing[0]?.value ?? checked.value.value,
      normalised_value,
      confidence: Math.max(1, agreeing.length),
      decidedBy: "operator",
      now,
    });
    return ok({ slug, sequence, message: `The ${field} is set; other values are rejected.` });
  },

  reject: async (tx, { nonprofit_id, field, slug }, { reason, now }) => {
    const rejected = await rejectAll(tx, "votes", {
      nonprofit_id,
      field,
      reason,
      at: now.getTime(),
    });
    return ok({ slug, sequence: null, message: `${rejected} values are rejected.` });
  },
});

type Disputed = WaitingField & { record: NonprofitRecord };

/**
 * Live values that agents agreed on and other agents, two or more, contradict: an operator may empty the field. One who
 * knows better than all agents need not wait for them: approval asks only whether agents made the value live, rejection
 * whether anyone contradicts it.
 */
export const disputeReviews = openQueue<Disputed>({
  kind: "revert",
  key: fieldKey,
  count: disputesWaiting,
  page: async (store, { after, limit }) => {
    const found = await disputes(store, { after: numberAt(after), limit });
    const ids = [...new Set(found.map(({ nonprofit_id }) => nonprofit_id))];
    const records = new Map((await recordsById(store, ids)).map((record) => [record.id, record]));
    return found.flatMap((one) => {
      const record = records.get(one.nonprofit_id);
      return record === undefined ? [] : [{ ...one, record }];
    });
  },
  find: (store, key) => waitingField(store, key, disputingVotes),
  findToDecide: (store, key) => fieldWith(store, key, disputingVotes),

  item: (_, waiting, now) => {
    const { field, record } = waiting;
    const { detail, sources, ...shown } = votesShown(waiting, now);
    const value = record[field];
    const { agents = [], source_url = null } = record.provenance[field] ?? {};
    return {
      ...shown,
      summary:
        "Agents contradict a value that agents made live. Approve to empty the field, so that agents can agree on it again; reject, with a reason, to keep the value.",
      detail: { field, live: { value, agents, source_url }, values: detail.values },
      comparison: [{ field, before: value === null ? null : String(value), after: null }],
      sources: distinct([...(source_url === null ? [] : [source_url]), ...sources]),
    };
  },

  approve: async (tx, { nonprofit_id, field, slug, record }, { key, reason, now }) => {
    if (record.status === "withdrawn") return notWaiting("revert", key);
    const why = reason === "" ? "reverted by a reviewer" : `reverted: ${reason}`;
    const sequence = await revertField(tx, { nonprofit_id, field, reason: why, now });
    if (sequence === null) return notWaiting("revert", key);
    return ok({ slug, sequence, message: `${field} is empty, and agents can agree on it again.` });
  },

  reject: async (tx, { nonprofit_id, field, slug }, { key, reason, now }) => {
    const disputed = { nonprofit_id, field, reason, at: now.getTime() };
    if ((await rejectAll(tx, "disputes", disputed)) === 0) return notWaiting("revert", key);
    return ok({ slug, sequence: null, message: `${field} stays as it is.` });
  },
});

/** "12-website": the field of a nonprofit, when its parts make sense. */
function fieldFrom(key: string): FieldOf | null {
  const [, id = "", field = ""] = fieldKey.exec(key) ?? [];
  return isStructured(field) ? { nonprofit_id: Number(id), field } : null;
}

/** A field with the votes on it; null without any, or when the nonprofit is withdrawn. */
async function waitingField(store: Queryable, key: string, votesOn: typeof fieldVotes) {
  const found = await fieldWith(store, key, votesOn);
  const { votes = [], record } = found?.value ?? {};
  return votes.length === 0 || record?.status === "withdrawn" ? null : found;
}

/** A field with the votes on it, if any; null when no nonprofit has it. */
async function fieldWith(store: Queryable, key: string, votesOn: typeof fieldVotes) {
  const field = fieldFrom(key);
  const [record] = field === null ? [] : await recordsById(store, [field.nonprofit_id]);
  if (field === null || record === undefined) return null;
  const votes = await votesOn(store, field);
  return ok({ ...field, slug: record.slug, name: record.name, votes, record });
}

/** What is shown of a field that agents voted on. Its place is that of the first vote. */
const votesShown = ({ nonprofit_id, field, slug, name, votes }: WaitingField, now: Date) => ({
  key: `${nonprofit_id}-${field}`,
  place: String(votes[0]?.id ?? 0),
  slug,
  name,
  detail: {
    field,
    values: votes.map((vote) => ({
      value: vote.value,
      agent_id: vote.agent_id,
      agent_name: vote.agent_name,
      source_url: vote.source_url,
      confidence: vote.confidence,
      sent_at: isoTime(vote.created_at),
      flags: agentFlags(vote.agent_id),
    })),
  },
  checks: votes.flatMap((vote) =>
    checksOf(field, vote, now).map((check) => ({ ...check, name: `${check.name}: ${vote.value}` })),
  ),
  sources: distinct(votes.flatMap(({ source_url }) => source_url ?? [])),
  flags: distinct(votes.flatMap(({ agent_id }) => agentFlags(agent_id))),
  created_at: votes[0]?.created_at ?? 0,
});

/** Without repetitions, in the order in which they came. */
const distinct = (texts: readonly string[]): string[] => [...new Set(texts)];
