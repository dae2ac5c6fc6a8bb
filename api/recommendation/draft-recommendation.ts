import type { ConsensusMode } from "#content/enrichment/consensus.ts";
import { type DraftDecision, draftNote } from "#content/recommendation/draft-decision.ts";
import type { PickFault } from "#content/recommendation/pick-text.ts";
import { readDraft } from "#content/recommendation/read-draft.ts";
import { type Clock, wireTime } from "#content/contract/time.ts";
import type { DraftAnswer } from "#content/contract/recommendation-draft.ts";
import type { GovernancePhase } from "#content/contract/recommendation.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type { Store } from "#content/store/open.ts";
import { type DraftFailure, type DraftOutcome, storeDraft } from "./draft-transaction.ts";

export type DraftParts = {
  store: Store;
  clock: Clock;
  /** Without a trailing slash. */
  baseUrl: string;
  phase: GovernancePhase;
  mode: ConsensusMode;
  /** Counts a submission of an agent; answers how long it must wait. */
  takeAgent: (
    agentId: string,
    submissions: number,
  ) => Promise<{ allowed: boolean; retryAfterMs: number }>;
  /** Told when a profile became a recommendation. */
  onRecommended: () => void;
};

export type DraftCall = {
  body: unknown;
  idempotencyKey: string | null;
  /** Keyed hash of the client's network; only asked for in the strict mode. */
  network: string | null;
};

export type DraftRefusal =
  | DraftFailure
  | { kind: "drafts_not_open" }
  | { kind: "invalid_draft"; errors: PickFault[] }
  | { kind: "wording_claims_too_much"; errors: PickFault[] }
  | { kind: "invalid_idempotency_key" }
  | { kind: "agent_rate_limited"; agent_id: string; retryAfterMs: number };

/**
 * Takes an agent's proposal to recommend a nonprofit. In phase 2 it waits for the operator; in phase 3 two agents that
 * agree make it a recommendation. Nothing is ever fetched. Source: spec, "Versioning" 3; docs/decisions/0061.
 */
export async function draftRecommendation(
  parts: DraftParts,
  call: DraftCall,
): Promise<Result<DraftAnswer, DraftRefusal>> {
  const { phase } = parts;
  if (phase === 1) return fail({ kind: "drafts_not_open" });
  const read = readDraft(call.body);
  if (!read.ok) {
    const kind = read.failure.every(({ claims }) => claims)
      ? "wording_claims_too_much"
      : "invalid_draft";
    return fail({ kind, errors: read.failure });
  }
  const key = call.idempotencyKey;
  if (key !== null && !/^[\x21-\x7e]{1,255}$/.test(key)) {
    return fail({ kind: "invalid_idempotency_key" });
  }
  const request = read.value;
  const { allowed, retryAfterMs } = await parts.takeAgent(request.agent_id, 1);
  if (!allowed) {
    return fail({ kind: "agent_rate_limited", agent_id: request.agent_id, retryAfterMs });
  }
  const network = parts.mode === "networks" ? call.network : null;
  const { mode } = parts;
  const stored = await parts.store.write((tx) =>
    storeDraft(tx, { request, idempotencyKey: key, network, phase, mode, now: parts.clock() }),
  );
  if (!stored.ok) return stored;
  if (stored.value.decision.kind === "promoted") parts.onRecommended();
  return ok(answerOf(stored.value, parts, phase));
}

function answerOf(
  { draft_id, slug, name, status, decision, confidence, sensitive_claims, refused }: DraftOutcome,
  { baseUrl, mode }: DraftParts,
  phase: GovernancePhase,
): DraftAnswer {
  return {
    message: `Thank you: the draft is ${status === "applied" ? "applied" : "stored and waits"}. promotion_note says what comes next.`,
    draft_id,
    slug,
    nonprofit: name,
    status,
    applied: status === "applied",
    confidence,
    consensus: confidence > 1,
    sensitive_claims,
    phase,
    promotion_note: noteOf(status, decision, mode),
    prior_rejections: refused.map(({ agent_name, recommended_for, reason, decided_at }) => ({
      agent: agent_name,
      recommended_for,
      reason: reason ?? "",
      rejected_at: wireTime(new Date(decided_at)),
    })),
    profile_url: `${baseUrl}/nonprofits/${slug}`,
  };
}

const noteOf = (
  status: DraftAnswer["status"],
  decision: DraftDecision | { kind: "applied" },
  mode: ConsensusMode,
): string =>
  decision.kind === "applied"
    ? "This draft was applied before: the profile is recommended."
    : status === "rejected"
      ? "This draft was rejected."
      : draftNote(decision, mode);
