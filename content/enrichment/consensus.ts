import { waitingOfNetworkMax } from "#content/requests/quota.ts";
import testWords from "#content/editorial/test-data.json";
import type { TestCause } from "./value.ts";
import type { FieldType } from "#content/contract/enrichment.ts";

/** How many distinct agents must agree before a value goes live (docs/consensus.md). */
export const agentsNeeded = 2;

/** `agents`: distinct agents must agree. `networks`: they must also come from different networks. */
export type ConsensusMode = "agents" | "networks";

/** What one agent proposes. `network` is "4:" or "6:" and a keyed hash; null when the network is unknown. */
export type Vote = {
  agent_id: string;
  network: string | null;
  normalised_value: string;
  /** False for test data, and where only a person decides: the vote is in the confidence but not in the agreement. */
  counts?: boolean;
};

/** A stored proposal that waits. A smaller id is earlier. */
export type PendingVote = Vote & { id: number };

/** `confidence`: how many agents propose this value. `winner`: the earliest stored one once enough agree, else null. */
export type Agreement = { confidence: number; winner: number | null };

/** Counts the agents that agree with `mine`. Every kind of proposal (values, drafts) is decided by this function. */
export function agreementOf(
  mine: Vote,
  pending: readonly PendingVote[],
  mode: ConsensusMode,
): Agreement {
  const agreeing = pending
    .filter((vote) => vote.agent_id !== mine.agent_id)
    .filter((vote) => vote.normalised_value === mine.normalised_value)
    .toSorted((a, b) => a.id - b.id);
  const confidence = distinct([...agreeing, mine].map(({ agent_id }) => agent_id));
  const counted = agreeing.filter(isCounted);
  const agreed = isCounted(mine) && isConsensus([...counted, mine], mode);
  const winner = agreed ? (counted[0]?.id ?? null) : null;
  return { confidence, winner };
}

/** After this many days without agreement, a waiting value may be removed to make room for a new one. */
export const placeDays = 7;

/**
 * Id of the waiting value to remove for one more from this network: the oldest that has waited 7 days. If the network
 * already has its share, only its own values are considered. Null if none is old enough. Instants in milliseconds since
 * 1970.
 */
export function idToReplace(
  waiting: readonly { id: number; network: string | null; created_at: number }[],
  network: string | null,
  now: number,
): number | null {
  const ofNetwork = waiting.filter((vote) => network !== null && vote.network === network);
  const before = now - placeDays * 86_400_000;
  const [oldest] = (ofNetwork.length >= waitingOfNetworkMax ? ofNetwork : waiting)
    .filter(({ created_at }) => created_at <= before)
    .toSorted((a, b) => a.id - b.id);
  return oldest?.id ?? null;
}

export type ConsensusDecision =
  /** The field has a value: log for audit. `corroborates`: the submission has the same value. */
  | { kind: "audit"; corroborates: boolean }
  /** Prose: queue it for a person. `replaces` is this agent's own earlier text. */
  | { kind: "queued"; replaces: number | null }
  /** Waits for a second agent. `replaces` is this agent's own earlier submission with another value. */
  | { kind: "pending"; confidence: number; replaces: number | null }
  /** The value goes live now; `winner` is the earliest that agrees. All pending submissions of other values are rejected. */
  | { kind: "applied"; confidence: number; replaces: number | null; winner: number };

/**
 * Decides on a new submission (docs/consensus.md). `live` is the normalised live value, null when the field is empty.
 * `pending` are the pending submissions of the field: at least those of this agent and those of the same value.
 */
export function decide({
  field_type,
  live,
  pending,
  mine,
  mode,
}: {
  field_type: FieldType;
  live: string | null;
  pending: readonly PendingVote[];
  mine: Vote;
  mode: ConsensusMode;
}): ConsensusDecision {
  if (live !== null && live !== "") {
    return { kind: "audit", corroborates: live === mine.normalised_value };
  }
  const replaced = pending.find(
    (vote) => vote.agent_id === mine.agent_id && vote.normalised_value !== mine.normalised_value,
  );
  const replaces = replaced?.id ?? null;
  if (field_type === "prose") return { kind: "queued", replaces };
  const { confidence, winner } = agreementOf(mine, pending, mode);
  return winner === null
    ? { kind: "pending", confidence, replaces }
    : { kind: "applied", confidence, replaces, winner };
}

/**
 * Only distinct agents count, and in the strict mode only distinct, known networks. IPv4 and IPv6 networks are counted
 * apart: most hosts have an address of each kind, so one of each does not prove two hosts.
 */
export function isConsensus(agreeing: readonly Vote[], mode: ConsensusMode): boolean {
  if (distinct(agreeing.map(({ agent_id }) => agent_id)) < agentsNeeded) return false;
  if (mode === "agents") return true;
  const networks = agreeing.flatMap(({ network }) => network ?? []);
  const families = Map.groupBy(networks, (network) => network.slice(0, network.indexOf(":") + 1));
  return [...families.values()].some((family) => distinct(family) >= agentsNeeded);
}

const isCounted = ({ counts }: Vote): boolean => counts !== false;

const distinct = (values: readonly string[]): number => new Set(values).size;

/** The state of a submission, from which its note is written. */
export type SubmissionState =
  | { kind: "live"; agents: number }
  | { kind: "publishing"; agents: number; held: boolean }
  | { kind: "accepted" }
  | { kind: "awaiting"; agents: number; rivals: boolean; tests: boolean; mode: ConsensusMode }
  | { kind: "test"; cause: TestCause }
  | { kind: "queued" }
  | { kind: "audit" }
  | { kind: "corroborates" }
  | { kind: "rejected"; reason: string };

/** Tells programs and people why a value is live or what it waits for. */
export function promotionNote(field: string, state: SubmissionState): string {
  switch (state.kind) {
    case "live":
      return `Consensus reached: ${state.agents} agents submitted the same ${field}. The value is live on the profile.`;
    case "publishing":
      return `Consensus reached: ${state.agents} agents submitted the same ${field}. ${state.held ? "The value is stored. Publishing is paused by an operator; it will show on the profile once that ends." : "The value is stored and is being published; it will show on the profile within seconds."}`;
    case "accepted":
      return `A reviewer accepted this ${field}.`;
    case "awaiting":
      return awaiting(field, state);
    case "test":
      return `Stored as test data, which never decides: ${testWords[state.cause]}`;
    case "queued":
      return `Queued for review: ${field} is prose and never goes live by agreement of agents. A person accepts, edits or rejects it.`;
    case "audit":
      return `Logged for audit: the profile already holds a ${field}, which stays as it is. This submission takes no part in consensus. If the live value is wrong, say so: POST /api/corrections/{slug}`;
    case "corroborates":
      return `Logged for audit: the profile already holds this ${field}. Your agent is counted among its corroborations, and named there when its id is bound.`;
    case "rejected":
      break;
  }
  return `Rejected: ${state.reason}`;
}

function awaiting(
  field: string,
  { agents, rivals, tests, mode }: Extract<SubmissionState, { kind: "awaiting" }>,
) {
  const count = agents === 1 ? "1 agent has submitted" : `${agents} agents have submitted`;
  const next =
    mode === "agents"
      ? "It goes live when a second, different agent submits the same value."
      : "It goes live when a second, different agent in another network submits the same value.";
  const tie = rivals ? " Another value is pending too; a further agent breaks the tie." : "";
  const left = tests ? " Some of them sent test data, which never decides." : "";
  return `Awaiting consensus: ${count} this ${field}.${left} ${next}${tie}`;
}

/** The reason stored with an audit-only submission that equals the live value. */
export const corroborates = "corroborates the live value";

/** Why a submission was rejected, as stored and shown. */
export const rejectionReasons = {
  replaced: "replaced by the same agent",
  outvoted: "another value won consensus",
  overruled: "an operator decided for another value",
  superseded: "another text was accepted",
  expired: "expired",
  retired: "the agent gave up its id",
} as const;

/** Reasons that the software gives. Any other reason means that a person refused a text. */
export const automaticReasons: readonly string[] = Object.values(rejectionReasons);
