import { fill } from "#content/contract/base/fill.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { wrongsMax } from "#content/contract/problem.ts";
import type { DraftBody, GovernancePhase } from "#content/contract/recommendation.ts";
import messages from "#content/editorial/request-messages.json";
import { readAgent } from "#content/enrichment/agent.ts";
import {
  agentsNeeded,
  agreementOf,
  type ConsensusMode,
  type PendingVote,
  type Vote,
  rejectionReasons,
} from "#content/enrichment/consensus.ts";
import { type Admission, isOfAnotherNetwork } from "#content/enrichment/proposal.ts";
import { checkSourceUrl, isTestData } from "#content/enrichment/value.ts";
import { isHarmlessIntent } from "#content/nonprofit/public-name.ts";
import { sensitiveClaims, wordingFaults } from "#content/nonprofit/text.ts";
import { waitingOfNetworkMax } from "#content/requests/quota.ts";
import type { DraftClosing, insertDraft, StoredDraft } from "./draft-store.ts";
import {
  checkPickText,
  normaliseIntent,
  normaliseIntents,
  type PickFault,
  type PickText,
} from "./pick-text.ts";

/** A checked and cleaned draft, as it is stored. */
export type DraftRequest = PickText & {
  slug: string;
  normalised: string;
  source_url: string;
  agent_id: string;
  agent_name: string;
  /** Its claims of impact and effectiveness, and intents that read like a message, each phrase once. */
  sensitive_claims: string[];
  test_data: boolean;
};

/** Reads the body of POST /api/recommend/drafts; every error is named by its path. */
export function readDraft(body: DraftBody): Result<DraftRequest, PickFault[]> {
  const { slug, source_url, agent_id, agent_name } = body;
  const { agent, wrongs } = readAgent({ agent_id, agent_name: agent_name?.trim() || null });
  const text = checkPickText(body, { byAgent: true });
  const source = checkSourceUrl(source_url);
  const faults: PickFault[] = [
    ...(text.ok ? [] : text.failure),
    ...(source.ok ? [] : [{ path: "source_url", message: source.failure, claims: false }]),
    ...wrongs.map((wrong) => ({ ...wrong, claims: false })),
  ];
  if (!text.ok || !source.ok || source.value === null || faults.length > 0) {
    return fail(faults.slice(0, wrongsMax));
  }
  const { recommended_for, why_recommended } = text.value;
  const claims = [...recommended_for, why_recommended].flatMap(sensitiveClaims);
  const messageIntents = recommended_for.filter(
    (intent) => !isHarmlessIntent(intent) || wordingFaults(normaliseIntent(intent)).length > 0,
  );
  const sensitivePhrases = [...claims.map(({ phrase }) => phrase), ...messageIntents];
  return ok({
    slug,
    recommended_for,
    why_recommended,
    normalised: normaliseIntents(recommended_for),
    source_url: source.value,
    ...agent,
    sensitive_claims: [...new Set(sensitivePhrases.map((phrase) => phrase.toLowerCase()))],
    test_data:
      isTestData({ field: "recommendation", value: why_recommended, ...agent }) ||
      isTestData({ field: "source_url", value: source.value, ...agent }),
  });
}

/** The existing recommendation of the profile: the operator's, or one that agents agreed on. */
export type LivePick = { by_consensus: boolean; normalised_value: string };

/** Why only the operator can approve a draft. */
export type OperatorOnly =
  | "phase_2"
  | "sensitive_claim"
  | "test_data"
  | "recommended_already"
  | "refused_before";

export type DraftDecision =
  /** Agents' agreement cannot promote it. */
  | { kind: "operator"; because: OperatorOnly; confidence: number }
  /** It waits for a second agent, or for the operator. */
  | { kind: "awaiting"; confidence: number }
  /** It becomes a recommendation now; `winner` is the earliest draft that agrees. */
  | { kind: "promoted"; confidence: number; winner: number }
  /** It repeats what other agents have already agreed on. */
  | { kind: "corroborates" };

type DecisionCase = {
  phase: Exclude<GovernancePhase, 1>;
  vote: Vote;
  sensitive: boolean;
  test_data: boolean;
  /** Waiting drafts of the same profile by other agents. */
  pendingVotes: readonly PendingVote[];
  live: LivePick | null;
  /** Whether an operator refused or removed a recommendation of this profile. */
  isRefused: boolean;
  mode: ConsensusMode;
};

/**
 * Decides on a new draft. In phase 3 two distinct agents with the same normalised donor intents promote a profile that is
 * not recommended and that no operator refused. Drafts that claim impact or effectiveness, and obvious test data, do not
 * count (docs/decisions/29-recommendations.md).
 */
export function decideDraft(decisionCase: DecisionCase): DraftDecision {
  const { vote, sensitive, test_data, pendingVotes, live, mode } = decisionCase;
  const { confidence, winner } = agreementOf(vote, pendingVotes, mode);
  const agreesWithLive =
    live?.by_consensus === true && live.normalised_value === vote.normalised_value;
  if (agreesWithLive && !sensitive && !test_data && decisionCase.phase === 3)
    return { kind: "corroborates" };
  const because = onlyForOperator(decisionCase);
  if (because !== null) return { kind: "operator", because, confidence };
  return winner === null
    ? { kind: "awaiting", confidence }
    : { kind: "promoted", confidence, winner };
}

function onlyForOperator({
  phase,
  sensitive,
  test_data,
  live,
  isRefused,
}: DecisionCase): OperatorOnly | null {
  if (phase === 2) return "phase_2";
  if (sensitive) return "sensitive_claim";
  if (test_data) return "test_data";
  if (live !== null) return "recommended_already";
  return isRefused ? "refused_before" : null;
}

/** Tells the sender what a draft waits for. */
export function draftNote(decision: DraftDecision, mode: ConsensusMode): string {
  if (decision.kind === "operator") return messages.draft[decision.because];
  if (decision.kind !== "awaiting") return fill(messages.draft[decision.kind], decision);
  const networks = mode === "networks" ? ", from another network" : "";
  const agents = Math.min(decision.confidence, agentsNeeded);
  return fill(messages.draft.awaiting, { networks, agents, needed: agentsNeeded });
}

export type DraftJob = Admission & {
  request: DraftRequest;
  phase: Exclude<GovernancePhase, 1>;
};

/** One draft, with the state of the profile and its other drafts. */
export type DraftCase = {
  job: DraftJob;
  nonprofit_id: number;
  /** The name to store with it. */
  agent_name: string;
  /** The agent's drafts for the profile that were not rejected, newest first. */
  ownDrafts: readonly StoredDraft[];
  /** All waiting drafts with the same donor intents, oldest first. */
  waitingDrafts: readonly StoredDraft[];
  /** How many other agents named these donor intents. */
  otherAgents: number;
  /** How many waiting drafts for the profile came from the same network. */
  ofNetwork: number;
  live: LivePick | null;
  /** Whether an operator refused or removed a recommendation of the profile. */
  isRefused: boolean;
};

/** What a draft changes in the store, in this order, and its answer. */
export type DraftPlan = {
  /** The agent's waiting draft, which this one replaces or which is agreed on. */
  closed: { id: number; closing: DraftClosing } | null;
  /** The draft to store, or the id of the one that answers it. */
  draft: Omit<Parameters<typeof insertDraft>[0], "id"> | number;
  /** The words that now recommend the profile, the earliest draft that agrees, and all of them. */
  promotion: {
    text: PickText;
    winner: StoredDraft;
    agreeingDrafts: readonly StoredDraft[];
  } | null;
  outcome: DraftOutcome;
};

export type DraftOutcome = {
  status: "applied" | "pending";
  /** "applied": an equal draft of this agent had been applied before. */
  decision: DraftDecision | { kind: "applied" };
  confidence: number;
};

type PlanFailure =
  | { kind: "pending_from_another_network"; path: string }
  | { kind: "draft_queue_full" };

/** Plans one draft; nothing is written before everything is judged (docs/decisions/29-recommendations.md). */
export function planDraft(draft: DraftCase): Result<DraftPlan, PlanFailure> {
  const { job, ownDrafts, waitingDrafts, otherAgents } = draft;
  const { request, network } = job;
  const ownDraft = ownDrafts.find(({ status }) => status === "pending");
  if (ownDraft !== undefined && !isSame(ownDraft, request) && isOfAnotherNetwork(ownDraft, job)) {
    return fail({ kind: "pending_from_another_network", path: "draft" });
  }
  const confidence = otherAgents + 1;
  const before = ownDrafts.find(
    ({ status, normalised }) => status === "applied" && normalised === request.normalised,
  );
  if (before !== undefined) {
    const outcome = { status: "applied", decision: { kind: "applied" }, confidence } as const;
    return ok({ closed: null, draft: before.id, promotion: null, outcome });
  }
  const otherDrafts = waitingDrafts.filter(({ agent_id }) => agent_id !== request.agent_id);
  const decision = decideDraft({
    phase: job.phase,
    mode: job.mode,
    vote: { agent_id: request.agent_id, network, normalised_value: request.normalised },
    sensitive: request.sensitive_claims.length > 0,
    test_data: request.test_data,
    pendingVotes: otherDrafts.map(voteOf),
    live: draft.live,
    isRefused: draft.isRefused,
  });
  const isApplied = decision.kind === "promoted" || decision.kind === "corroborates";
  // However many others wait, agents can still agree: only a network's own drafts use up its share.
  const isNew = !isApplied && ownDraft === undefined;
  if (isNew && draft.ofNetwork >= waitingOfNetworkMax) return fail({ kind: "draft_queue_full" });
  const status = isApplied ? "applied" : "pending";
  const promotion =
    decision.kind === "promoted" ? promotionOf(request, otherDrafts, decision.winner) : null;
  const outcome = { status, decision, confidence } as const;
  return ok({ ...storingOf(draft, ownDraft, status), promotion, outcome });
}

/** An agent has one waiting draft per nonprofit: an equal one is the same draft, a different one replaces it. */
function storingOf(
  { job, nonprofit_id, agent_name }: DraftCase,
  ownDraft: StoredDraft | undefined,
  status: DraftOutcome["status"],
): Pick<DraftPlan, "closed" | "draft"> {
  const { request, network, phase, now } = job;
  const at = now.getTime();
  const agreement = { status: "applied", reason: null, decided_by: "consensus", at } as const;
  if (ownDraft !== undefined && isSame(ownDraft, request)) {
    const closed = status === "applied" ? { id: ownDraft.id, closing: agreement } : null;
    return { closed, draft: ownDraft.id };
  }
  const reason = rejectionReasons.replaced;
  const replacement = { status: "rejected", reason, decided_by: "agent", at } as const;
  return {
    closed: ownDraft === undefined ? null : { id: ownDraft.id, closing: replacement },
    draft: {
      ...request,
      agent_name,
      nonprofit_id,
      network,
      phase,
      test_data: request.test_data ? 1 : 0,
      status,
      decided_by: status === "applied" ? "consensus" : null,
      created_at: at,
    },
  };
}

/**
 * What all agreeing agents sent alike, in the letter case of the earliest: an intent that one of them wrote differently goes
 * live in its comparison form. Agents agree on intents only, so the prose of none goes live.
 */
function promotionOf(
  request: DraftRequest,
  drafts: readonly StoredDraft[],
  winnerId: number,
): DraftPlan["promotion"] {
  const agreeingDrafts = drafts.filter(countsTowardAgreement);
  const winner = agreeingDrafts.find(({ id }) => id === winnerId);
  if (winner === undefined) throw new Error(`draft ${winnerId} is not among the agreeing`);
  const others = [request, ...agreeingDrafts].map((draft) => draft.recommended_for.map(lowerCase));
  const recommended_for = winner.recommended_for.map((phrase) =>
    others.every((phrases) => phrases.includes(lowerCase(phrase)))
      ? phrase
      : normaliseIntent(phrase),
  );
  const text = { recommended_for, why_recommended: messages.draft.agreed };
  return { text, winner, agreeingDrafts };
}

const lowerCase = (phrase: string): string => phrase.normalize("NFC").trim().toLowerCase();

const isSame = (draft: StoredDraft, request: DraftRequest): boolean =>
  draft.normalised === request.normalised &&
  draft.why_recommended === request.why_recommended &&
  draft.source_url === request.source_url;

const voteOf = (draft: StoredDraft) => ({
  id: draft.id,
  agent_id: draft.agent_id,
  network: draft.network,
  normalised_value: draft.normalised,
  counts: countsTowardAgreement(draft),
});

const countsTowardAgreement = ({ sensitive_claims, test_data }: StoredDraft): boolean =>
  sensitive_claims.length === 0 && test_data === 0;
