import { corroborates, decide, type Decision, givesWay, isQueueFull } from "./consensus.ts";
import type { AgentKey } from "./agent-key.ts";
import { isRowField } from "#content/contract/enrichment.ts";
import type { EnrichmentRequest } from "./read.ts";
import { type FieldState, type NewSubmission, type StoredSubmission } from "./submission-store.ts";
import { comparedLive, comparedValue } from "./value.ts";
import { type Admitted, isOfAnotherNetwork } from "./proposal.ts";

/** One request to enrich, read and checked, as it goes into a transaction. */
export type EnrichJob = Admitted & { request: EnrichmentRequest; slug: string };

/** One submission of a job, with what is known of its field. */
export type Known = {
  job: EnrichJob;
  agent_key: AgentKey | null;
  fresh: NewSubmission;
  state: FieldState;
};

/** The same with what becomes of it: it is answered with an earlier one, or the rules decide. */
export type Submitted = Known &
  ({ earlier: StoredSubmission } | { earlier: null; decision: Decision });

/** Judges a submission by what is known of its field; stores nothing. */
export function decidedOn(known: Known): Submitted {
  const { job, fresh, state } = known;
  const { live } = state;
  const refused = live === null ? state.refused : null;
  const earlier = earlierOf(known) ?? refused;
  if (earlier !== null) return { ...known, earlier };
  // An agent may propose any number of programmes and metrics.
  const pending = isRowField(fresh.field) ? [] : state.votes;
  const decision = decide({
    field_type: fresh.field_type,
    live: live === null ? null : comparedLive(fresh.field, live),
    pending: pending.map(voteOf),
    mine: voteOf(fresh),
    mode: job.mode,
  });
  return { ...known, earlier: null, decision };
}

/**
 * Whether it would replace what waits under the same id and came from another network. Of a secret value also whether it
 * would repeat that: the refusal must not tell a right guess from a wrong one.
 */
export function replacesAnothers(one: Submitted): boolean {
  const { job, state } = one;
  const { field, agent_id } = one.fresh;
  if (isSecret(field) && state.live === null) {
    return state.votes.some((vote) => vote.agent_id === agent_id && isOfAnotherNetwork(vote, job));
  }
  if (one.earlier !== null || one.decision.kind === "audit") return false;
  const { replaces } = one.decision;
  const replaced = state.votes.find(({ id }) => id === replaces);
  return replaced !== undefined && isOfAnotherNetwork(replaced, job);
}

/** Whether it would wait where enough others do, and none of them gives up its place. */
export const isOneTooMany = (one: Submitted): boolean => lacksRoom(one) && roomMadeBy(one) === null;

/**
 * The waiting submission that gives up its place to this one; null where there is room, or none to be made. Texts wait for
 * a person, and strangers take none of them from the queue.
 */
export function roomMadeBy(one: Submitted): number | null {
  const { fresh, state, job } = one;
  if (fresh.field_type === "prose" || !lacksRoom(one)) return null;
  const others = state.votes.filter((vote) => vote.normalised_value !== fresh.normalised_value);
  return givesWay(others, job.network, job.now.getTime());
}

/** Whether it would wait where enough others do, and not in the place of this agent's own. */
function lacksRoom(one: Submitted): boolean {
  if (one.earlier !== null || !isQueueFull(one.state.votes, one.job.network)) return false;
  const { decision } = one;
  const waits = decision.kind === "pending" || decision.kind === "queued";
  return waits && decision.replaces === null;
}

/** The submission with this value that the agent has already; null when it has none, or none that still counts. */
const earlierOf = ({ state: { own, live } }: Known): StoredSubmission | null =>
  own !== null && stillCounts(own, live) ? own : null;

function stillCounts(own: StoredSubmission, live: string | null): boolean {
  const { field, status, audit_only } = own;
  if (isRowField(field)) return true;
  if (live !== null && isSecret(field)) return audit_only === 1;
  const compared = live === null ? null : comparedLive(field, live);
  // What was live and has since been emptied or replaced, or was logged beside another value than this, counts again.
  if (status === "applied")
    return compared === comparedValue(field, own.winning_value ?? own.value);
  if (audit_only === 0) return true;
  const isLive = compared === own.normalised_value;
  return compared !== null && isLive === (own.reason === corroborates);
}

/** Test data never decides. */
export const voteOf = <One extends Pick<StoredSubmission, "test_data">>(one: One) => ({
  ...one,
  counts: one.test_data === 0,
});

/**
 * No one may learn whether a guess equals the stored address: each is stored and answered alike, without credit. Who cannot
 * see a value cannot contradict it either, so nothing is lost. Of an address that waits for a second agent consensus has to
 * tell: a right guess makes it live, a wrong one waits beside it and looks like the first.
 */
export const isSecret = (field: string): boolean => field === "contact_email";
