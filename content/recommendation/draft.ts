import messages from "#content/editorial/request-messages.json";
import type { DraftBody, GovernancePhase } from "#content/contract/recommendation.ts";
import { wrongsMax } from "#content/contract/problem.ts";
import { fill } from "#content/contract/base/fill.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import { readAgent } from "#content/enrichment/agent.ts";
import {
  agentsNeeded,
  agreementOf,
  type ConsensusMode,
  type PendingVote,
  type Vote,
} from "#content/enrichment/consensus.ts";
import { checkSourceUrl, isTestData } from "#content/enrichment/value.ts";
import { checkPickText, normaliseIntents, type PickFault, type PickText } from "./pick-text.ts";
import { sensitiveClaims } from "#content/nonprofit/text.ts";

/** A draft as it is stored: checked and cleaned. */
export type DraftRequest = PickText & {
  slug: string;
  normalised: string;
  source_url: string;
  agent_id: string;
  agent_name: string;
  /** What it says of impact and effectiveness, each phrase once. */
  sensitive_claims: string[];
  test_data: boolean;
};

/** Reads the body of POST /api/recommend/drafts; every fault is named by its path. */
export function readDraft(body: DraftBody): Result<DraftRequest, PickFault[]> {
  const { slug, source_url, agent_id, agent_name } = body;
  const { agent, wrongs } = readAgent({ agent_id, agent_name: agent_name?.trim() || null });
  const text = checkPickText(body, { byAgent: true });
  const source = checkSourceUrl(source_url);
  const faults: PickFault[] = [
    ...(text.ok ? [] : text.failure),
    ...(source.ok ? [] : [{ path: "source_url", message: source.failure.message, claims: false }]),
    ...wrongs.map((wrong) => ({ ...wrong, claims: false })),
  ];
  if (!text.ok || !source.ok || source.value === null || faults.length > 0) {
    return fail(faults.slice(0, wrongsMax));
  }
  const { recommended_for, why_recommended } = text.value;
  const claims = [...recommended_for, why_recommended].flatMap(sensitiveClaims);
  return ok({
    slug,
    recommended_for,
    why_recommended,
    normalised: normaliseIntents(recommended_for),
    source_url: source.value,
    ...agent,
    sensitive_claims: [...new Set(claims.map(({ phrase }) => phrase.toLowerCase()))],
    test_data:
      isTestData({ field: "recommendation", value: why_recommended, ...agent }) ||
      isTestData({ field: "website", value: source.value, ...agent }),
  });
}

/** What recommends the profile already: the operator's words, or those that agents agreed on. */
export type LivePick = { by_consensus: boolean; normalised_value: string };

/** Why a draft waits for the operator and for no one else. */
export type OperatorOnly =
  | "phase_2"
  | "sensitive_claim"
  | "test_data"
  | "recommended_already"
  | "refused_before";

export type DraftDecision =
  /** Agreement of agents cannot promote it. */
  | { kind: "operator"; because: OperatorOnly; confidence: number }
  /** Waits for a second agent, or for the operator. */
  | { kind: "awaiting"; confidence: number }
  /** Becomes a recommendation now, in the words of `winner`. */
  | { kind: "promoted"; confidence: number; winner: number }
  /** Names what other agents have agreed on already: one more agent says so. */
  | { kind: "corroborates" };

type Deciding = {
  phase: Exclude<GovernancePhase, 1>;
  mine: Vote;
  sensitive: boolean;
  test_data: boolean;
  /** The waiting drafts of the same profile by other agents. */
  waiting: readonly PendingVote[];
  live: LivePick | null;
  /** Whether an operator refused or removed a recommendation of this profile. */
  refused: boolean;
  mode: ConsensusMode;
};

/**
 * What becomes of a new draft. In phase 3 two distinct agents with the same normalised donor intents promote a profile
 * that is not recommended yet and that no operator refused; what claims impact or effectiveness takes no part,
 * nor does obvious test data.
 * Source: spec, "Versioning" 3; docs/decisions/29.
 */
export function decideDraft(deciding: Deciding): DraftDecision {
  const { mine, sensitive, test_data, waiting, live, mode } = deciding;
  const { confidence, winner } = agreementOf(mine, waiting, mode);
  const agreed = live?.by_consensus === true && live.normalised_value === mine.normalised_value;
  if (agreed && !sensitive && !test_data && deciding.phase === 3) return { kind: "corroborates" };
  const because = onlyForOperator(deciding);
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
  refused,
}: Deciding): OperatorOnly | null {
  if (phase === 2) return "phase_2";
  if (sensitive) return "sensitive_claim";
  if (test_data) return "test_data";
  if (live !== null) return "recommended_already";
  return refused ? "refused_before" : null;
}

/** Says to the sender of a draft what it waits for. */
export function draftNote(decision: DraftDecision, mode: ConsensusMode): string {
  if (decision.kind === "operator") return messages.draft[decision.because];
  if (decision.kind !== "awaiting") return fill(messages.draft[decision.kind], decision);
  const networks = mode === "networks" ? ", from another network" : "";
  const agents = Math.min(decision.confidence, agentsNeeded);
  return fill(messages.draft.awaiting, { networks, agents, needed: agentsNeeded });
}
