import type { GovernancePhase } from "#content/contract/recommendation.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { rejectionReasons } from "#content/enrichment/consensus.ts";
import { waitingOfNetworkMax } from "#content/requests/quota.ts";
import { type Admission, isOfAnotherNetwork } from "#content/enrichment/proposal.ts";
import { decideDraft, type DraftDecision, type DraftRequest, type LivePick } from "./draft.ts";
import type { DraftClosing, insertDraft, StoredDraft } from "./draft-store.ts";

export type DraftJob = Admission & {
  request: DraftRequest;
  phase: Exclude<GovernancePhase, 1>;
};

/** One draft, with what is known of the profile and its other drafts. */
export type DraftCase = {
  job: DraftJob;
  nonprofit_id: number;
  /** Whether it calls itself by the id of another agent. */
  namesAnother: boolean;
  /** The agent's drafts for the profile that were not rejected, the newest first. */
  own: readonly StoredDraft[];
  /** All that wait and name the same donor intents, the oldest first. */
  waiting: readonly StoredDraft[];
  /** How many other agents stand behind these donor intents. */
  otherAgents: number;
  /** How many drafts for the profile wait that came from the same network. */
  ofNetwork: number;
  live: LivePick | null;
  /** Whether an operator refused or removed a recommendation of the profile. */
  refused: boolean;
};

/** What a draft does to the store, in this order, and what is answered of it. */
export type DraftPlan = {
  /** The agent's draft that waits: replaced by this one, or agreed on. */
  closed: { id: number; closing: DraftClosing } | null;
  /** The draft that is stored, or the number of the one that answers it. */
  draft: Omit<Parameters<typeof insertDraft>[0], "id"> | number;
  /** The draft in whose words the profile is recommended now, and all others that agree. */
  promotion: { winner: StoredDraft; agreeing: readonly StoredDraft[] } | null;
  outcome: DraftOutcome;
};

export type DraftOutcome = {
  status: "applied" | "pending";
  /** "applied": the same agent's same draft had been applied before. */
  decision: DraftDecision | { kind: "applied" };
  confidence: number;
};

type PlanFailure =
  | { kind: "pending_from_another_network"; path: string }
  | { kind: "draft_queue_full" };

/** What one draft does to the store; nothing of it is written before all is judged. Source: docs/decisions/29. */
export function planDraft(draft: DraftCase): Result<DraftPlan, PlanFailure> {
  const { job, own, waiting, otherAgents } = draft;
  const { request, network } = job;
  const mine = own.find(({ status }) => status === "pending");
  if (mine !== undefined && !isSame(mine, request) && isOfAnotherNetwork(mine, job)) {
    return fail({ kind: "pending_from_another_network", path: "draft" });
  }
  const confidence = otherAgents + 1;
  const before = own.find(
    ({ status, normalised }) => status === "applied" && normalised === request.normalised,
  );
  if (before !== undefined) {
    const outcome = { status: "applied", decision: { kind: "applied" }, confidence } as const;
    return ok({ closed: null, draft: before.id, promotion: null, outcome });
  }
  const others = waiting.filter(({ agent_id }) => agent_id !== request.agent_id);
  const decision = decideDraft({
    phase: job.phase,
    mode: job.mode,
    mine: { agent_id: request.agent_id, network, normalised_value: request.normalised },
    sensitive: request.sensitive_claims.length > 0,
    test_data: request.test_data,
    waiting: others.map(voteOf),
    live: draft.live,
    refused: draft.refused,
  });
  const applied = decision.kind === "promoted" || decision.kind === "corroborates";
  // However many others wait, agents can still agree: only a network's own drafts take its room.
  const isNew = !applied && mine === undefined;
  if (isNew && draft.ofNetwork >= waitingOfNetworkMax) return fail({ kind: "draft_queue_full" });
  const status = applied ? "applied" : "pending";
  const promotion = decision.kind === "promoted" ? promotionOf(others, decision.winner) : null;
  const outcome = { status, decision, confidence } as const;
  return ok({ ...storingOf(draft, mine, status), promotion, outcome });
}

/** An agent has one waiting draft per nonprofit: the same again is the one it has, another one replaces it. */
function storingOf(
  { job, nonprofit_id, namesAnother }: DraftCase,
  mine: StoredDraft | undefined,
  status: DraftOutcome["status"],
): Pick<DraftPlan, "closed" | "draft"> {
  const { request, network, phase, now } = job;
  const at = now.getTime();
  const agreed = { status: "applied", reason: null, decided_by: "consensus", at } as const;
  if (mine !== undefined && isSame(mine, request)) {
    const closed = status === "applied" ? { id: mine.id, closing: agreed } : null;
    return { closed, draft: mine.id };
  }
  const reason = rejectionReasons.replaced;
  const replaced = { status: "rejected", reason, decided_by: "agent", at } as const;
  return {
    closed: mine === undefined ? null : { id: mine.id, closing: replaced },
    draft: {
      ...request,
      // Another's id as a name would pass for its owner: the agent goes by its own.
      agent_name: namesAnother ? request.agent_id : request.agent_name,
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

/** The earliest agreeing draft becomes the recommendation, in its agent's words. */
function promotionOf(others: readonly StoredDraft[], winnerId: number): DraftPlan["promotion"] {
  const agreeing = others.filter(countsTowardAgreement);
  const winner = agreeing.find(({ id }) => id === winnerId);
  if (winner === undefined) throw new Error(`draft ${winnerId} is not among the agreeing`);
  return { winner, agreeing };
}

const isSame = (mine: StoredDraft, request: DraftRequest): boolean =>
  mine.normalised === request.normalised &&
  mine.why_recommended === request.why_recommended &&
  mine.source_url === request.source_url;

const voteOf = (draft: StoredDraft) => ({
  id: draft.id,
  agent_id: draft.agent_id,
  network: draft.network,
  normalised_value: draft.normalised,
  counts: countsTowardAgreement(draft),
});

const countsTowardAgreement = ({ sensitive_claims, test_data }: StoredDraft): boolean =>
  sensitive_claims.length === 0 && test_data === 0;
