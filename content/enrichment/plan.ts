import { isQueueFull, rowBytes, sizeOf } from "#content/requests/quota.ts";
import { isRowField, isStructured } from "#content/contract/enrichment.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { type AgentKey, vouchedName } from "./agent.ts";
import type { AgreedValue, Corroboration } from "./agreed-field-store.ts";
import { corroborates, decide, type Decision, givesWay, rejectionReasons } from "./consensus.ts";
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
  fresh: NewSubmission;
  state: FieldState;
};

/** One write of a plan; the steps of a submission run in order. */
export type Step =
  | { kind: "reject"; rejection: SubmissionRejection }
  | { kind: "confidence"; of: ValueConfidence }
  | { kind: "network"; id: number; network: string }
  | { kind: "insert"; submission: NewSubmission }
  | { kind: "corroborate"; corroboration: Corroboration }
  | { kind: "apply"; agreed: AgreedValue };

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
  const judged = cases.map(judge);
  const anothers = judged.find(replacesAnothers);
  if (anothers !== undefined) {
    return fail({ kind: "pending_from_another_network", path: anothers.fresh.field });
  }
  const full = judged.filter((one) => lacksRoom(one) && roomMadeBy(one) === null);
  if (full.length > 0) {
    return fail({ kind: "field_queue_full", fields: full.map(({ fresh }) => fresh.field) });
  }
  const stored = judged.filter(({ earlier }) => earlier === null);
  const bytes = stored.reduce((total, { fresh }) => total + submissionBytes(fresh), 0);
  return ok({ items: judged.map(planOfOne), bytes });
}

/** A submission with its verdict: an earlier submission that answers it, or the decision of the rules. */
type JudgedCase = SubmissionCase &
  ({ earlier: StoredSubmission } | { earlier: null; decision: Decision });

function judge(submission: SubmissionCase): JudgedCase {
  const { job, fresh, state } = submission;
  const { live } = state;
  const refused = live === null ? state.refused : null;
  const earlier = earlierOf(submission) ?? refused;
  if (earlier !== null) return { ...submission, earlier };
  // An agent may propose any number of programmes and metrics.
  const pending = isRowField(fresh.field) ? [] : state.votes;
  const decision = decide({
    field_type: fresh.field_type,
    live: live === null ? null : comparedLive(fresh.field, live),
    pending: pending.map(voteOf),
    mine: voteOf(fresh),
    mode: job.mode,
  });
  return { ...submission, earlier: null, decision };
}

/**
 * Whether it would replace a submission under the same agent id that came from another network. For a secret field, any such
 * submission counts, also one with the same value, so that the refusal gives nothing away.
 */
function replacesAnothers(one: JudgedCase): boolean {
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

/**
 * Id of the waiting submission to remove to make room for this one; null if there is room or none can be made. Prose never
 * removes another submission.
 */
function roomMadeBy(one: JudgedCase): number | null {
  const { fresh, state, job } = one;
  if (fresh.field_type === "prose" || !lacksRoom(one)) return null;
  const others = state.votes.filter((vote) => vote.normalised_value !== fresh.normalised_value);
  return givesWay(others, job.network, job.now.getTime());
}

/** Whether the queue is full and this submission would wait in it without replacing the agent's own. */
function lacksRoom(one: JudgedCase): boolean {
  if (one.earlier !== null || !isQueueFull(one.state.votes, one.job.network)) return false;
  const { decision } = one;
  const waits = decision.kind === "pending" || decision.kind === "queued";
  return waits && decision.replaces === null;
}

/** The agent's own submission of this value; null if there is none or it no longer counts. */
const earlierOf = ({ state: { own, live } }: SubmissionCase): StoredSubmission | null =>
  own !== null && stillCounts(own, live) ? own : null;

function stillCounts(own: StoredSubmission, live: string | null): boolean {
  const { field, status, audit_only } = own;
  if (isRowField(field)) return true;
  if (live !== null && isSecret(field)) return audit_only === 1;
  const compared = live === null ? null : comparedLive(field, live);
  // An earlier submission no longer counts when the field has changed since: its value was emptied or replaced, or it was
  // logged when another value was live.
  if (status === "applied")
    return compared === comparedValue(field, own.winning_value ?? own.value);
  if (audit_only === 0) return true;
  const isLive = compared === own.normalised_value;
  return compared !== null && isLive === (own.reason === corroborates);
}

/** Test data never counts in a decision. */
const voteOf = <One extends Pick<StoredSubmission, "test_data">>(one: One) => ({
  ...one,
  counts: one.test_data === 0,
});

/**
 * No one may find out whether a guess is the stored address, so every submission gets the same answer and no credit. While
 * an address waits for a second agent this cannot be hidden: a right guess makes it live.
 */
const isSecret = (field: string): boolean => field === "contact_email";

/** The bytes of a stored submission. Two indexes repeat the agent's id and the comparison form, hence the factor 3. */
const submissionBytes = (one: NewSubmission): number =>
  rowBytes +
  3 * sizeOf(one.agent_id) +
  sizeOf(one.agent_name) +
  sizeOf(one.source_url) +
  sizeOf(one.value) +
  3 * sizeOf(one.normalised_value);

type Outcome = Omit<StoredSubmission, "id">;

/** Plans one submission; one that is stored already is not stored again. */
function planOfOne(one: JudgedCase): SubmissionPlan {
  if (one.earlier !== null) return repeated(one, one.earlier);
  const { fresh, state, decision } = one;
  switch (decision.kind) {
    case "audit":
      return audited(one, decision.corroborates);
    case "queued": {
      const queued = { ...fresh, confidence: agentCount(state) };
      const steps = [...replaced(one, decision.replaces), inserted(queued)];
      return { steps, id: null, live: null, item: itemOf(one, queued) };
    }
    case "pending": {
      const confidence = isSecret(fresh.field) ? 1 : decision.confidence;
      const mine = { ...fresh, confidence };
      const steps = [
        ...replaced(one, decision.replaces),
        ...takenBack(one, roomMadeBy(one), rejectionReasons.expired, null),
        // If no other agent sent this value, no stored confidence needs updating.
        ...(confidence > 1 ? [{ kind: "confidence", of: mine } as const] : []),
        inserted(mine),
      ];
      return { steps, id: null, live: null, item: itemOf(one, mine, hasRivals(one)) };
    }
    case "applied":
      break;
  }
  const mine = { ...fresh, confidence: decision.confidence };
  const steps = [...replaced(one, decision.replaces), inserted(mine), applied(one, mine)];
  return { steps, id: null, live: "now", item: itemOf(one, { ...mine, status: "applied" }) };
}

const inserted = (submission: NewSubmission): Step => ({ kind: "insert", submission });

/** An agent has one pending value per field, so its earlier one, if any, is rejected. */
const replaced = (one: SubmissionCase, id: number | null): Step[] =>
  takenBack(one, id, rejectionReasons.replaced, one.fresh.value);

/** Rejects the waiting submission with this id (null: none) and lowers the confidence of the others with its value. */
function takenBack(
  { fresh, state }: SubmissionCase,
  id: number | null,
  reason: string,
  winning_value: string | null,
): Step[] {
  const vote = state.votes.find((other) => other.id === id);
  if (vote === undefined) return [];
  const { nonprofit_id, field, created_at: at } = fresh;
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

/** Makes live what `mine` and all that agree with it have in common. */
function applied({ job, fresh: { nonprofit_id }, state }: SubmissionCase, mine: Outcome): Step {
  const { field, normalised_value, confidence } = mine;
  if (!isStructured(field)) throw new Error(`${field} never goes live by agreement`);
  const agreeing = state.votes.filter(
    (vote) => vote.normalised_value === normalised_value && vote.test_data === 0,
  );
  const value = agreedValue(field, [mine.value, ...agreeing.map((vote) => vote.value)]);
  const agreed = { nonprofit_id, field, value, normalised_value, confidence, now: job.now };
  return { kind: "apply", agreed };
}

/** How many agents sent this value where agreement decides nothing. An agent that sent it before is not counted again. */
const agentCount = ({ own, agent_count }: FieldState): number =>
  own === null ? agent_count + 1 : Math.max(1, agent_count);

/** Whether other agents' different values also wait. */
const hasRivals = ({ fresh, state }: SubmissionCase): boolean =>
  !isSecret(fresh.field) &&
  state.votes.some(
    ({ agent_id, normalised_value }) =>
      agent_id !== fresh.agent_id && normalised_value !== fresh.normalised_value,
  );

/** The field already has a value: logs the submission, and counts the agent as a source if it sent the same value. */
function audited(one: SubmissionCase, corroborating: boolean): SubmissionPlan {
  const { job, agent_key, fresh, state } = one;
  const logged = { ...fresh, network: null, audit_only: 1 };
  const plan = (submission: NewSubmission, ...more: Step[]): SubmissionPlan => ({
    steps: [inserted(submission), ...more],
    id: null,
    live: null,
    item: itemOf(one, submission),
  });
  if (isSecret(fresh.field)) return plan(logged);
  const reason = corroborating ? corroborates : null;
  const counted = { ...logged, confidence: agentCount(state), reason };
  if (!corroborating || fresh.test_data === 1) return plan(counted);
  const name = vouchedName(fresh.agent_id, agent_key);
  const { nonprofit_id, field } = fresh;
  const corroboration = { nonprofit_id, field, name, now: job.now };
  return plan(counted, { kind: "corroborate", corroboration });
}

/** Answers with a stored submission: the agent's own, or an equal text that a person refused. */
function repeated(one: SubmissionCase, own: StoredSubmission): SubmissionPlan {
  if (own.status === "pending" && own.audit_only === 0 && own.field_type === "structured") {
    return decidedAgain(one, own);
  }
  const unchanged = { steps: [], id: own.id, live: null };
  if (own.audit_only === 1 && isSecret(own.field)) {
    return { ...unchanged, item: itemOf(one, { ...own, confidence: 1 }) };
  }
  if (own.status === "rejected") return { ...unchanged, item: itemOf(one, own) };
  const isLive = own.status === "applied";
  const confidence = Math.max(own.confidence, isLive ? 1 : one.state.agent_count);
  const item = itemOf(one, { ...own, confidence });
  return { ...unchanged, live: isLive ? "before" : null, item };
}

/**
 * Decides a waiting submission again, because the mode may have changed. A submission stored without a network is counted in
 * this request's network, which is stored only if the agent proved its secret.
 */
function decidedAgain(one: SubmissionCase, own: StoredSubmission): SubmissionPlan {
  const { job, state } = one;
  const mine = { ...own, network: own.network ?? job.network };
  const { id, network, field_type } = mine;
  const named: Step[] =
    network !== null && own.network === null && job.secret !== null
      ? [{ kind: "network", id, network }]
      : [];
  const decision = decide({
    field_type,
    live: null,
    pending: state.votes.map(voteOf),
    mine: voteOf(mine),
    mode: job.mode,
  });
  if (decision.kind !== "applied") {
    return { steps: named, id, live: null, item: itemOf(one, mine, hasRivals(one)) };
  }
  const agreed = { ...mine, confidence: decision.confidence };
  const item = itemOf(one, { ...agreed, status: "applied" });
  return { steps: [...named, applied(one, agreed)], id, live: "now", item };
}

/** The answer for one submission. */
function itemOf(
  { fresh, state }: SubmissionCase,
  submission: Outcome,
  rivals = false,
): SubmissionPlan["item"] {
  const { field, field_type, status, audit_only, confidence, reason, test_data } = submission;
  const isSame = ({ normalised_value }: { normalised_value: string }) =>
    normalised_value === fresh.normalised_value;
  const tested = state.votes.some((vote) => isSame(vote) && vote.test_data === 1);
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
        : tested && !isSecret(field)
          ? "others"
          : null,
    any_rejected: rejects || state.any_rejected === 1,
  };
}
