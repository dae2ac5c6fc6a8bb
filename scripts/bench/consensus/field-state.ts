import { type ConsensusMode, decide, type PendingVote } from "#content/enrichment/consensus.ts";
import { publicValue } from "#content/nonprofit/wire.ts";
import { comparedValue } from "#content/enrichment/value.ts";
import type { ReadItem } from "#content/enrichment/read.ts";
import type { StructuredField } from "#content/contract/enrichment.ts";

type Waiting = PendingVote & { value: string };

/** One field of one profile: what is live, what waits, and when each value was sent first, by comparison form. */
export type FieldState = {
  live: string | null;
  pending: Waiting[];
  firstSentAtMs: Map<string, number>;
};

export const emptyField = (): FieldState => ({
  live: null,
  pending: [],
  firstSentAtMs: new Map(),
});

/** A submission to one field, read and cleaned. Greater ids are later. */
export type Submitted = {
  id: number;
  item: ReadItem;
  agent_id: string;
  network: string;
  atMs: number;
};

/**
 * Does with a field what api/enrichment/store-enrichment.ts does: the rules decide, and their decision is carried out.
 * Answers the ids of the agents whose agreement made a value live, null when none did.
 */
export function submitTo(
  state: FieldState,
  { id, item, agent_id, network, atMs }: Submitted,
  mode: ConsensusMode,
): string[] | null {
  const { normalised_value } = item;
  const isAgreeing = (one: Waiting) => one.normalised_value === normalised_value;
  if (state.pending.some((one) => one.agent_id === agent_id && isAgreeing(one))) return null;
  const mine = { agent_id, network: mode === "networks" ? network : null, normalised_value };
  const decision = decide({
    field_type: item.field_type,
    live: state.live === null ? null : comparedValue(item.field, state.live),
    pending: state.pending,
    mine,
    mode,
  });
  if (decision.kind === "audit" || decision.kind === "queued") return null;
  if (!state.firstSentAtMs.has(normalised_value)) state.firstSentAtMs.set(normalised_value, atMs);
  const kept = state.pending.filter((one) => one.id !== decision.replaces);
  state.pending = [...kept, { ...mine, id, value: item.value }];
  if (decision.kind === "pending") return null;
  const agreeing = state.pending.filter(isAgreeing);
  state.live = agreeing.find((one) => one.id === decision.winner)?.value ?? item.value;
  state.pending = [];
  return agreeing.map((one) => one.agent_id);
}

/** A waiting value as GET /api/needs-enrichment shows it: e-mail addresses masked. */
export type Opinion = { field: StructuredField; value: string; masked: boolean };

/** Source: content/enrichment/needs-store.ts. */
const opinionsPerFieldMax = 3;

/** The values that want one more agent, each as it was sent first, the earliest first. */
export function opinionsOf(field: StructuredField, { pending }: FieldState): Opinion[] {
  const firsts = pending.filter(
    (one, at) =>
      pending.findIndex(({ normalised_value }) => normalised_value === one.normalised_value) === at,
  );
  return firsts.slice(0, opinionsPerFieldMax).map(({ value }) => {
    const shown = publicValue(field, value);
    return { field, value: shown, masked: shown !== value };
  });
}
