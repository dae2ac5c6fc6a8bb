import type { GovernancePhase } from "#content/contract/recommendation.ts";
import {
  agentsNeeded,
  type ConsensusMode,
  isConsensus,
  type Voice,
} from "#content/enrichment/consensus.ts";

/** A stored draft of the same profile that waits. Smaller ids are earlier. */
export type WaitingDraft = Voice & {
  id: number;
  /** False where only a person decides: for sensitive claims and obvious test data. */
  counts: boolean;
};

/** What recommends the profile already: the operator's words, or those that agents agreed on. */
export type LivePick = { by_consensus: boolean; normalised_value: string };

/** Why a draft waits for the operator and for nobody else. */
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
  mine: Voice;
  sensitive: boolean;
  test_data: boolean;
  /** The waiting drafts of the same profile by other agents. */
  waiting: readonly WaitingDraft[];
  live: LivePick | null;
  /** Whether an operator refused or removed a recommendation of this profile. */
  refused: boolean;
  mode: ConsensusMode;
};

/**
 * What becomes of a new draft. In phase 3 two distinct agents with the same normalised donor intents promote a profile
 * that is not recommended yet and that no operator refused; what claims impact or effectiveness takes no part,
 * nor does obvious test data.
 * Source: spec, "Versioning" 3; docs/decisions/0061.
 */
export function decideDraft(deciding: Deciding): DraftDecision {
  const { mine, sensitive, test_data, waiting, live, mode } = deciding;
  const agreeing = waiting.filter((one) => one.normalised_value === mine.normalised_value);
  const confidence = new Set([...agreeing, mine].map(({ agent_id }) => agent_id)).size;
  const agreed = live?.by_consensus === true && live.normalised_value === mine.normalised_value;
  if (agreed && !sensitive && !test_data && deciding.phase === 3) return { kind: "corroborates" };
  const because = onlyForOperator(deciding);
  if (because !== null) return { kind: "operator", because, confidence };
  const counted = agreeing.filter(({ counts }) => counts).sort((a, b) => a.id - b.id);
  const [earliest] = counted;
  if (earliest === undefined || !isConsensus([...counted, mine], mode)) {
    return { kind: "awaiting", confidence };
  }
  return { kind: "promoted", confidence, winner: earliest.id };
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

/** What the sender of a draft is told of it. */
export function draftNote(decision: DraftDecision, mode: ConsensusMode): string {
  if (decision.kind === "operator") return operatorNotes[decision.because];
  if (decision.kind === "promoted") {
    return `${decision.confidence} distinct agents named the same donor intents, each with a source: the profile is recommended now.`;
  }
  if (decision.kind === "corroborates") {
    return "The profile is recommended for these donor intents already, by the agreement of agents.";
  }
  const networks = mode === "networks" ? ", from another network" : "";
  const agents = Math.min(decision.confidence, agentsNeeded);
  return `Waits for a second agent that names the same donor intents with a source${networks} (${agents} of ${agentsNeeded}), or for the operator.`;
}

const operatorNotes: Readonly<Record<OperatorOnly, string>> = {
  phase_2: "Waits for the operator: in phase 2 a person decides every draft.",
  sensitive_claim:
    "Waits for the operator: it speaks of impact or effectiveness, which a person decides however many agents agree.",
  test_data:
    "Waits for the operator: it looks like a test, by its agent, its words or the host of its source.",
  recommended_already:
    "Waits for the operator: the profile is recommended already, and agreement never replaces that.",
  refused_before:
    "Waits for the operator, who refused or removed a recommendation of this profile before.",
};
