import type { ConsensusMode } from "./consensus.ts";

/** Where a submission stands, for its note. */
export type Standing =
  | { kind: "live"; agents: number }
  | { kind: "publishing"; agents: number }
  | { kind: "accepted" }
  | { kind: "awaiting"; agents: number; rivals: boolean; mode: ConsensusMode }
  | { kind: "queued" }
  | { kind: "audit" }
  | { kind: "corroborates" }
  | { kind: "rejected"; reason: string };

/** Says to a program and a person why a value is live or what it waits for. Source: spec, promotion_note. */
export function promotionNote(field: string, standing: Standing): string {
  switch (standing.kind) {
    case "live":
      return `Consensus reached: ${standing.agents} agents submitted the same ${field}. The value is live on the profile.`;
    case "publishing":
      return `Consensus reached: ${standing.agents} agents submitted the same ${field}. The value is stored and is being published; it will show on the profile within seconds.`;
    case "accepted":
      return `A reviewer accepted this ${field}.`;
    case "awaiting":
      return awaiting(field, standing);
    case "queued":
      return `Queued for review: ${field} is prose and never goes live by agreement of agents. A person accepts, edits or rejects it.`;
    case "audit":
      return `Logged for audit: the profile already holds a ${field}, which stays as it is. This submission takes no part in consensus.`;
    case "corroborates":
      return `Logged for audit: the profile already holds this ${field}. Your agent is named among its sources.`;
    case "rejected":
      break;
  }
  return `Rejected: ${standing.reason}`;
}

function awaiting(
  field: string,
  { agents, rivals, mode }: Extract<Standing, { kind: "awaiting" }>,
) {
  const said = agents === 1 ? "1 agent has submitted" : `${agents} agents have submitted`;
  const next =
    mode === "agents"
      ? "It goes live when a second, different agent submits the same value."
      : "It goes live when a second, different agent on another network submits the same value.";
  const tie = rivals ? " Another value is pending too; a further agent breaks the tie." : "";
  return `Awaiting consensus: ${said} this ${field}. ${next}${tie}`;
}

/** The reason stored with an audit-only submission that equals the live value. */
export const corroborates = "corroborates the live value";

/** Why a submission was rejected, as stored and shown. */
export const rejectionReasons = {
  replaced: "replaced by the same agent",
  outvoted: "another value won consensus",
} as const;
