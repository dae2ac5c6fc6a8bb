import { isStructured } from "#content/contract/enrichment.ts";
import { ok } from "#content/contract/base/result.ts";
import { isoTime } from "#content/contract/base/time.ts";
import { agentFlags } from "./agent.ts";
import { agreeingVotes, planAgreed, planRevert } from "./agreed-field-store.ts";
import {
  contestedFields,
  contestedWaiting,
  disputes,
  disputesWaiting,
  disputingVotes,
  type FieldOf,
  fieldVotes,
  type VotedField,
} from "./review-store.ts";
import { rejectAll, waitingIn } from "./submission-store.ts";
import { checkValue } from "./value.ts";
import { operatorProvenance, takenFrom } from "#content/nonprofit/provenance.ts";
import type { Queryable } from "#content/store/open.ts";
import { planned } from "#content/operation/plan.ts";
import {
  isListed,
  notWaiting,
  numberAt,
  requestKind,
  unusable,
  type WaitingRequest,
} from "#content/requests/kind.ts";
import { checksOf, flagsOf } from "./request-checks.ts";

const fieldKey = /^(\d{1,15})-([a-z_]{1,40})$/;

/**
 * Fields on which agents disagree, or agree without making the value live (from one network, in the strict mode). An
 * operator may pick a value or reject all of them.
 */
export const contestedRequests = requestKind<VotedField>({
  kind: "contested",
  key: fieldKey,
  count: contestedWaiting,
  page: (store, { after, limit }) =>
    contestedFields(store, { after: fieldFrom(after ?? ""), limit }),
  byKey: (store, key) => votedField(store, key, fieldVotes),
  isWaiting: hasVotes,

  item: (_, { row }, now) => {
    const { field, votes } = row;
    const view = votesShown(row, now);
    const choices = distinct(votes.map(({ value }) => value));
    const values = distinct(votes.map(({ normalised_value }) => normalised_value));
    const state =
      values.length > 1
        ? `Agents disagree on ${field}.`
        : `Agents agree on ${field}, but none on a second network does.`;
    return {
      ...view,
      summary: `${state} Approve with the value that is right, or reject all of them with a reason.`,
      comparison: choices.map((after) => ({ field, before: null, after })),
      editing: { field, required: true, current: null, choices },
    };
  },

  approve: async (store, { row, record }, { value, now }) => {
    const { field, votes } = row;
    if (value === null) return unusable("Send value: the correct value of the field.");
    const checked = checkValue(field, value, { thisYear: now.getUTCFullYear() });
    if (!checked.ok) return unusable(checked.failure);
    const { normalised_value } = checked.value;
    const source = takenFrom("consensus", now.getTime());
    const sources = votes.map((vote) => ({ value: vote.value, source }));
    const agreeing = votes.filter((vote) => vote.normalised_value === normalised_value);
    const agreed = {
      ...row,
      value: checked.value.value,
      normalised_value,
      confidence: Math.max(1, agreeing.length),
      decision: operatorProvenance(field, checked.value.value, sources, now.getTime()),
      now,
    };
    const state = { before: record, votes: await agreeingVotes(store, agreed) };
    const { statements } = await planAgreed(store, agreed, state);
    const message = `The ${field} is set; other values are rejected.`;
    return planned(ok({ message }), ...statements);
  },

  reject: async (store, { row: { nonprofit_id, field } }, { reason, now }) => {
    const contested = { nonprofit_id, field, reason, at: now.getTime() };
    const count = await waitingIn(store, "votes", contested);
    return planned(ok({ message: `${count} values are rejected.` }), rejectAll("votes", contested));
  },
});

/**
 * Live values that agents agreed on and at least two other agents contradict. An operator may empty the field. Operators may
 * also act before anyone contradicts: approval only requires that agents made the value live, rejection that someone
 * contradicts it.
 */
export const disputeRequests = requestKind<VotedField>({
  kind: "revert",
  key: fieldKey,
  count: disputesWaiting,
  page: (store, { after, limit }) => disputes(store, { after: numberAt(after), limit }),
  byKey: (store, key) => votedField(store, key, disputingVotes),
  isWaiting: hasVotes,
  isDecidable: () => true,

  item: (_, { row, record }, now) => {
    const { field } = row;
    const { detail, sources, ...view } = votesShown(row, now);
    const value = record[field];
    const { agents = [], source_url = null } = record.provenance[field] ?? {};
    return {
      ...view,
      place: String(row.votes[0]?.id ?? 0),
      summary:
        "Agents contradict a value that agents made live. Approve to empty the field, so that agents can agree on it again; reject, with a reason, to keep the value.",
      detail: { field, live: { value, agents, source_url }, values: detail.values },
      comparison: [{ field, before: value === null ? null : String(value), after: null }],
      sources: distinct([...(source_url === null ? [] : [source_url]), ...sources]),
    };
  },

  approve: async (store, disputed, { key, reason, now }) => {
    const { nonprofit_id, field } = disputed.row;
    if (!isListed(disputed)) return notWaiting("revert", key);
    const why = reason === "" ? "reverted by a reviewer" : `reverted: ${reason}`;
    const revert = await planRevert(store, { nonprofit_id, field, reason: why, now });
    if (!revert.empties) return planned(notWaiting("revert", key), ...revert.statements);
    const message = `${field} is empty, and agents can agree on it again.`;
    return planned(ok({ message }), ...revert.statements);
  },

  reject: async (store, { row: { nonprofit_id, field } }, { key, reason, now }) => {
    const disputed = { nonprofit_id, field, reason, at: now.getTime() };
    if ((await waitingIn(store, "disputes", disputed)) === 0) return notWaiting("revert", key);
    return planned(ok({ message: `${field} stays as it is.` }), rejectAll("disputes", disputed));
  },
});

/** Parses a key such as "12-website"; null when it does not name a structured field. */
function fieldFrom(key: string): FieldOf | null {
  const [, id = "", field = ""] = fieldKey.exec(key) ?? [];
  return isStructured(field) ? { nonprofit_id: Number(id), field } : null;
}

/** The field that a key names, with its votes, which may be none; null for a key that names no field. */
async function votedField(
  store: Queryable,
  key: string,
  votesOn: typeof fieldVotes,
): Promise<VotedField | null> {
  const field = fieldFrom(key);
  return field === null ? null : { ...field, votes: await votesOn(store, field) };
}

function hasVotes(request: WaitingRequest<VotedField>): boolean {
  return request.row.votes.length > 0 && isListed(request);
}

const votesShown = ({ nonprofit_id, field, votes }: VotedField, now: Date) => ({
  key: `${nonprofit_id}-${field}`,
  detail: {
    field,
    values: votes.map((vote) => ({
      value: vote.value,
      agent_id: vote.agent_id,
      agent_name: vote.agent_name,
      source_url: vote.source_url,
      confidence: vote.confidence,
      sent_at: isoTime(vote.created_at),
      flags: flagsOf(vote),
    })),
  },
  checks: votes.flatMap((vote) =>
    checksOf(field, vote, now).map((check) => ({ ...check, name: `${check.name}: ${vote.value}` })),
  ),
  sources: distinct(votes.flatMap(({ source_url }) => source_url ?? [])),
  flags: distinct(votes.flatMap(({ agent_id }) => agentFlags(agent_id))),
  created_at: votes[0]?.created_at ?? 0,
});

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)];
