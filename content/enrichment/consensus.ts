import type { FieldType } from "#content/contract/enrichment.ts";

/** Distinct agents whose agreement makes a value live. Source: spec, "Limits", consensus threshold. */
export const agentsNeeded = 2;

/** `agents`: as the contract says. `networks`: they must come from different networks as well. */
export type ConsensusMode = "agents" | "networks";

/** What one agent says of a field. `network` is a keyed hash, null when it is not known. */
export type Voice = {
  agent_id: string;
  network: string | null;
  normalised_value: string;
};

/** A stored, pending submission that takes part in consensus. Smaller ids are earlier. */
export type PendingVoice = Voice & { id: number };

export type Decision =
  /** The field holds a value: logged for audit. `corroborates`: it is the same value. */
  | { kind: "audit"; corroborates: boolean }
  /** Prose: queued for a person. */
  | { kind: "queued" }
  /** Waits for a second agent. `replaces` is this agent's own earlier submission with another value. */
  | { kind: "pending"; confidence: number; replaces: number | null }
  /** Goes live now, with the value of `winner` (null: this submission's own). All other pending ones are rejected. */
  | { kind: "applied"; confidence: number; replaces: number | null; winner: number | null };

/**
 * What becomes of a new submission: every row of the contract's table and both rules under it. `live` is the
 * normalised live value, null when the field is empty; `pending` are the field's pending submissions, at least those
 * of this agent and those of the same value. Source: spec, "Enrichment submission status".
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
  pending: readonly PendingVoice[];
  mine: Voice;
  mode: ConsensusMode;
}): Decision {
  if (live !== null && live !== "") {
    return { kind: "audit", corroborates: live === mine.normalised_value };
  }
  if (field_type === "prose") return { kind: "queued" };
  const replaced = pending.find(
    (one) => one.agent_id === mine.agent_id && one.normalised_value !== mine.normalised_value,
  );
  const replaces = replaced?.id ?? null;
  const agreeing = pending.filter((one) => one.normalised_value === mine.normalised_value);
  const voices: readonly Voice[] = [...agreeing, mine];
  const confidence = distinct(voices.map(({ agent_id }) => agent_id));
  if (!isConsensus(voices, mode)) return { kind: "pending", confidence, replaces };
  const earliest = agreeing.toSorted((a, b) => a.id - b.id)[0];
  return { kind: "applied", confidence, replaces, winner: earliest?.id ?? null };
}

/** Only distinct agents count; in the strict mode also only distinct, known networks. */
export function isConsensus(agreeing: readonly Voice[], mode: ConsensusMode): boolean {
  if (distinct(agreeing.map(({ agent_id }) => agent_id)) < agentsNeeded) return false;
  if (mode === "agents") return true;
  return distinct(agreeing.flatMap(({ network }) => network ?? [])) >= agentsNeeded;
}

const distinct = (values: readonly string[]): number => new Set(values).size;
