import { isQueueFull, rowBytes, sizeOf } from "#content/requests/quota.ts";
import { isRowField, isStructured } from "#content/contract/enrichment.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { type AgentKey, vouchedName } from "./agent.ts";
import type { AgreedValue, Corroboration } from "./agreed-field-store.ts";
import {
  corroborates,
  decide,
  type ConsensusDecision,
  idToReplace,
  rejectionReasons,
} from "./consensus.ts";
import { type Admission, isOfAnotherNetwork } from "./proposal.ts";
import type {
  FieldState,
  NewSubmission,
  StoredSubmission,
  SubmissionRejection,
  ValueConfidence,
} from "./submission-store.ts";
import { agreedValue, comparedLive, comparedValue, testCause, type TestCause } from "./value.ts";

/** One submission of a job, with the state of its field. */
export type SubmissionCase = {
  job: Admission;
  agent_key: AgentKey | null;
  submission: NewSubmission;
  state: FieldState;
};

/** One write of a plan; the steps of a submission run in order. */
export type Step =
  | { kind: "reject"; rejection: SubmissionRejection }
  | { kind: "confidence"; of: ValueConfidence }
  | { kind: "network"; id: number; network: string }
  | { kind: "insert"; submission: NewSubmission }
  | { kind: "corroborate"; corroboration: Corroboration }
  | { kind: "apply"; agreement: AgreedValue };

/** The steps for one submission, and its answer. */
export type SubmissionPlan = {
  steps: Step[];
  /** Id of the stored submission that answers this one; null when a step inserts a new one. */
  id: number | null;
  /** Whether a step makes the value live now, it was live before, or it is not live. */
  live: "now" | "before" | null;
  item: Omit<StoredItem, "id">;
};

/** The answer for one submission, also stored under an Idempotency-Key. */
export type StoredItem = Pick<
  StoredSubmission,
  "id" | "field" | "field_type" | "status" | "audit_only" | "confidence" | "reason"
> & {
  corroborates: boolean;
  rivals: boolean;
  /** Whose value is test data: a cause for the agent's own, "others" if other agents that sent the same are tests. */
  tests: TestCause | "others" | null;
  /** Whether any submission for the field was rejected. */
  any_rejected: boolean;
};

export type PlanFailure =
  | { kind: "pending_from_another_network"; path: string }
  | { kind: "field_queue_full"; fields: string[] };

/**
 * Plans what the submissions of one request, each for another field, change in the store, and how many bytes they take. All
 * are judged before anything is written, so that a refused batch leaves nothing behind (docs/consensus.md).
 */
export function planOf(
  cases: readonly SubmissionCase[],
): Result<{ items: SubmissionPlan[]; bytes: number }, PlanFailure> {
  const entries = cases.map(judge);
  const foreignCase = entries.find(replacesOtherNetwork);
  if (foreignCase !== undefined) {
    return fail({ kind: "pending_from_another_network", path: foreignCase.submission.field });
  }
  const overflow = entries.filter((entry) => lacksRoom(entry) && roomMadeBy(entry) === null);
  if (overflow.length > 0) {
    return fail({
      kind: "field_queue_full",
      fields: overflow.map(({ submission }) => submission.field),
    });
  }
  const newCases = entries.filter(({ earlier }) => earlier === null);
  const bytes = newCases.reduce((total, { submission }) => total + submissionBytes(submission), 0);
  return ok({ items: entries.map(planOfCase), bytes });
}

/** A submission and its verdict: an earlier one answers it, or the rules decide. */
type JudgedCase = SubmissionCase &
  ({ earlier: StoredSubmission } | { earlier: null; decision: ConsensusDecision });

function judge(entry: SubmissionCase): JudgedCase {
  const { job, submission, state } = entry;
  const { live } = state;
  const refusedSubmission = live === null ? state.refused : null;
  const earlier = earlierOf(entry) ?? refusedSubmission;
  if (earlier !== null) return { ...entry, earlier };
  // An agent may propose any number of programmes and metrics.
  const votes = isRowField(submission.field) ? [] : state.votes;
  const decision = decide({
    field_type: submission.field_type,
    live: live === null ? null : comparedLive(submission.field, live),
    pending: votes.map(voteOf),
    mine: voteOf(submission),
    mode: job.mode,
  });
  return { ...entry, earlier: null, decision };
}

/**
 * Whether it would replace a submission under the same agent id that came from another network. For a secret field, any such
 * submission counts, also one with the same value, so that the refusal gives nothing away.
 */
function replacesOtherNetwork(entry: JudgedCase): boolean {
  const { job, state } = entry;
  const { field, agent_id } = entry.submission;
  if (isSecret(field) && state.live === null) {
    return state.votes.some((vote) => vote.agent_id === agent_id && isOfAnotherNetwork(vote, job));
  }
  if (entry.earlier !== null || entry.decision.kind === "audit") return false;
  const { replaces } = entry.decision;
  const replacedVote = state.votes.find(({ id }) => id === replaces);
  return replacedVote !== undefined && isOfAnotherNetwork(replacedVote, job);
}

/**
 * Id of the waiting submission to remove to make room for this one; null if there is room or none can be made. Prose never
 * removes another submission.
 */
function roomMadeBy(entry: JudgedCase): number | null {
  const { submission, state, job } = entry;
  if (submission.field_type === "prose" || !lacksRoom(entry)) return null;
  const otherVotes = state.votes.filter(
    (vote) => vote.normalised_value !== submission.normalised_value,
  );
  return idToReplace(otherVotes, job.network, job.now.getTime());
}

/** Whether the queue is full and this submission would wait in it without replacing the agent's own. */
function lacksRoom(entry: JudgedCase): boolean {
  if (entry.earlier !== null || !isQueueFull(entry.state.votes, entry.job.network)) return false;
  const { decision } = entry;
  const waits = decision.kind === "pending" || decision.kind === "queued";
  return waits && decision.replaces === null;
}

/** The agent's own submission of this value; null if there is none or it no longer counts. */
const earlierOf = ({ state: { own, live } }: SubmissionCase): StoredSubmission | null =>
  own !== null && stillCounts(own, live) ? own : null;

function stillCounts(submission: StoredSubmission, live: string | null): boolean {
  const { field, status, audit_only } = submission;
  if (isRowField(field)) return true;
  if (live !== null && isSecret(field)) return audit_only === 1;
  const liveForm = live === null ? null : comparedLive(field, live);
  // An earlier submission no longer counts when the field has changed since: its value was emptied or replaced, or it was
  // logged when another value was live.
  if (status === "applied")
    return liveForm === comparedValue(field, submission.winning_value ?? submission.value);
  if (audit_only === 0) return true;
  const isLive = liveForm === submission.normalised_value;
  return liveForm !== null && isLive === (submission.reason === corroborates);
}

/** Test data never counts in a decision. */
const voteOf = <Submission extends Pick<StoredSubmission, "test_data">>(
  submission: Submission,
) => ({ ...submission, counts: submission.test_data === 0 });

/**
 * No one may find out whether a guess is the stored address, so every submission gets the same answer and no credit. While
 * an address waits for a second agent this cannot be hidden: a right guess makes it live.
 */
const isSecret = (field: string): boolean => field === "contact_email";

/** The bytes of a stored submission. Two indexes repeat the agent's id and the comparison form, hence the factor 3. */
const submissionBytes = (submission: NewSubmission): number =>
  rowBytes +
  3 * sizeOf(submission.agent_id) +
  sizeOf(submission.agent_name) +
  sizeOf(submission.source_url) +
  sizeOf(submission.value) +
  3 * sizeOf(submission.normalised_value);

type Outcome = Omit<StoredSubmission, "id">;

/** Plans one submission; one that is stored already is not stored again. */
function planOfCase(entry: JudgedCase): SubmissionPlan {
  if (entry.earlier !== null) return repeatPlan(entry, entry.earlier);
  const { submission, state, decision } = entry;
  switch (decision.kind) {
    case "audit":
      return auditPlan(entry, decision.corroborates);
    case "queued": {
      const queuedRow = { ...submission, confidence: agentCount(state) };
      const steps = [...replacementSteps(entry, decision.replaces), insertStep(queuedRow)];
      return { steps, id: null, live: null, item: itemOf(entry, queuedRow) };
    }
    case "pending": {
      const confidence = isSecret(submission.field) ? 1 : decision.confidence;
      const waitingRow = { ...submission, confidence };
      const steps = [
        ...replacementSteps(entry, decision.replaces),
        ...withdrawalSteps(entry, roomMadeBy(entry), rejectionReasons.expired, null),
        // If no other agent sent this value, no stored confidence needs updating.
        ...(confidence > 1 ? [{ kind: "confidence", of: waitingRow } as const] : []),
        insertStep(waitingRow),
      ];
      return { steps, id: null, live: null, item: itemOf(entry, waitingRow, hasRivals(entry)) };
    }
    case "applied":
      break;
  }
  const appliedRow = { ...submission, confidence: decision.confidence };
  const steps = [
    ...replacementSteps(entry, decision.replaces, submission.value),
    insertStep(appliedRow),
    applyStep(entry, appliedRow),
  ];
  return {
    steps,
    id: null,
    live: "now",
    item: itemOf(entry, { ...appliedRow, status: "applied" }),
  };
}

const insertStep = (submission: NewSubmission): Step => ({ kind: "insert", submission });

/**
 * An agent has one pending value per field, so its earlier one, if any, is rejected. The later one has won nothing before it
 * is live: other agents are told to send a winner.
 */
const replacementSteps = (
  entry: SubmissionCase,
  id: number | null,
  winning_value: string | null = null,
): Step[] => withdrawalSteps(entry, id, rejectionReasons.replaced, winning_value);

/** Rejects the waiting submission with this id (null: none) and lowers the confidence of the others with its value. */
function withdrawalSteps(
  { submission, state }: SubmissionCase,
  id: number | null,
  reason: string,
  winning_value: string | null,
): Step[] {
  const vote = state.votes.find((other) => other.id === id);
  if (vote === undefined) return [];
  const { nonprofit_id, field, created_at: at } = submission;
  const { normalised_value } = vote;
  const confidence = vote.confidence - 1;
  return [
    { kind: "reject", rejection: { id: vote.id, reason, winning_value, at } },
    ...(confidence > 0
      ? [
          {
            kind: "confidence",
            of: { nonprofit_id, field, normalised_value, confidence },
          } as const,
        ]
      : []),
  ];
}

/** Makes live what the submission and all that agree with it have in common. */
function applyStep(
  { job, submission: { nonprofit_id }, state }: SubmissionCase,
  outcome: Outcome,
): Step {
  const { field, normalised_value, confidence } = outcome;
  if (!isStructured(field)) throw new Error(`${field} never goes live by agreement`);
  const agreeingVotes = state.votes.filter(
    (vote) => vote.normalised_value === normalised_value && vote.test_data === 0,
  );
  const value = agreedValue(field, [outcome.value, ...agreeingVotes.map((vote) => vote.value)]);
  const agreement = { nonprofit_id, field, value, normalised_value, confidence, now: job.now };
  return { kind: "apply", agreement };
}

/** How many agents sent this value, this one counted once, where no agreement is needed. */
const agentCount = ({ own, agent_count }: FieldState): number =>
  own === null ? agent_count + 1 : Math.max(1, agent_count);

/** Whether other agents' different values, which are no test data, also wait. */
const hasRivals = ({ submission, state }: SubmissionCase): boolean =>
  !isSecret(submission.field) &&
  state.votes.some(
    ({ agent_id, normalised_value, test_data }) =>
      test_data === 0 &&
      agent_id !== submission.agent_id &&
      normalised_value !== submission.normalised_value,
  );

/** The field already has a value: logs the submission, and counts the agent as a source if it sent the same value. */
function auditPlan(entry: SubmissionCase, corroborating: boolean): SubmissionPlan {
  const { job, agent_key, submission, state } = entry;
  const auditRow = { ...submission, network: null, audit_only: 1 };
  const plan = (row: NewSubmission, ...more: Step[]): SubmissionPlan => ({
    steps: [insertStep(row), ...more],
    id: null,
    live: null,
    item: itemOf(entry, row),
  });
  if (isSecret(submission.field)) return plan(auditRow);
  const reason = corroborating ? corroborates : null;
  const countedRow = { ...auditRow, confidence: agentCount(state), reason };
  if (!corroborating || submission.test_data === 1) return plan(countedRow);
  const name = vouchedName(submission.agent_id, agent_key);
  const { nonprofit_id, field } = submission;
  const corroboration = { nonprofit_id, field, name, now: job.now };
  return plan(countedRow, { kind: "corroborate", corroboration });
}

/** Answers with a stored submission: the agent's own, or an equal text that a person refused. */
function repeatPlan(entry: SubmissionCase, earlier: StoredSubmission): SubmissionPlan {
  if (
    earlier.status === "pending" &&
    earlier.audit_only === 0 &&
    earlier.field_type === "structured"
  ) {
    return redecidedPlan(entry, earlier);
  }
  const noChange = { steps: [], id: earlier.id, live: null };
  if (earlier.audit_only === 1 && isSecret(earlier.field)) {
    return { ...noChange, item: itemOf(entry, { ...earlier, confidence: 1 }) };
  }
  if (earlier.status === "rejected") return { ...noChange, item: itemOf(entry, earlier) };
  const isLive = earlier.status === "applied";
  const confidence = Math.max(earlier.confidence, isLive ? 1 : entry.state.agent_count);
  const item = itemOf(entry, { ...earlier, confidence });
  return { ...noChange, live: isLive ? "before" : null, item };
}

/**
 * Decides a waiting submission again, because the mode may have changed. A submission stored without a network is counted in
 * this request's network, which is stored only if the agent proved its secret.
 */
function redecidedPlan(entry: SubmissionCase, earlier: StoredSubmission): SubmissionPlan {
  const { job, state } = entry;
  const ownVote = { ...earlier, network: earlier.network ?? job.network };
  const { id, network, field_type } = ownVote;
  const networkSteps: Step[] =
    network !== null && earlier.network === null && job.secret !== null
      ? [{ kind: "network", id, network }]
      : [];
  const decision = decide({
    field_type,
    live: null,
    pending: state.votes.map(voteOf),
    mine: voteOf(ownVote),
    mode: job.mode,
  });
  if (decision.kind !== "applied") {
    return { steps: networkSteps, id, live: null, item: itemOf(entry, ownVote, hasRivals(entry)) };
  }
  const appliedRow = { ...ownVote, confidence: decision.confidence };
  const item = itemOf(entry, { ...appliedRow, status: "applied" });
  return { steps: [...networkSteps, applyStep(entry, appliedRow)], id, live: "now", item };
}

/** The answer for one submission. */
function itemOf(
  { submission: fresh, state }: SubmissionCase,
  submission: Outcome,
  rivals = false,
): SubmissionPlan["item"] {
  const { field, field_type, status, audit_only, confidence, reason, test_data } = submission;
  const isSame = ({ normalised_value }: { normalised_value: string }) =>
    normalised_value === fresh.normalised_value;
  const isTested = state.votes.some((vote) => isSame(vote) && vote.test_data === 1);
  // Going live rejects other waiting values, and so does replacing the agent's own value.
  const rejects =
    status === "applied" || state.votes.some(({ agent_id }) => agent_id === fresh.agent_id);
  return {
    field,
    field_type,
    status,
    audit_only,
    confidence,
    reason,
    corroborates: reason === corroborates && !isSecret(field),
    rivals,
    tests:
      test_data === 1
        ? (testCause(fresh) ?? "filler")
        : isTested && !isSecret(field)
          ? "others"
          : null,
    any_rejected: rejects || state.any_rejected === 1,
  };
}
