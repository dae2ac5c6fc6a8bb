import { agentWindows, requestsPerMinute } from "#api/http/rate-limit.ts";
import { openWindows, type Window } from "#api/http/sliding-window.ts";
import { isStructured, type StructuredField } from "#content/contract/enrichment.ts";
import { type ConsensusMode, decide, type PendingVote } from "#content/enrichment/consensus.ts";
import { readEnrichment, type ReadItem } from "#content/enrichment/read.ts";
import { comparedValue } from "#content/enrichment/value.ts";
import { publicValue } from "#content/nonprofit/wire.ts";
import type { PlantedProfile } from "./world.ts";

/** A value that went live, and whose agreement made it so. Times in milliseconds of the simulation. */
export type Promotion = {
  profile: PlantedProfile;
  field: StructuredField;
  value: string;
  agents: string[];
  /** When each value for this field, in its comparison form, was sent first. */
  firstSentAtMs: ReadonlyMap<string, number>;
  liveAtMs: number;
};

/** A request that passed the limits. */
export type Sent = { profile: PlantedProfile; body: unknown; network: string; atMs: number };

/**
 * The directory in memory: the service's rules read, clean, compare and decide; only where the outcome is kept is
 * replaced. test/scripts/consensus-simulation.test.ts holds it against the service's own verb and store.
 */
export type SimulatedDirectory = {
  /** Fields of the profile that hold no value now. */
  emptyFields: (profile: PlantedProfile) => readonly StructuredField[];
  /** Waiting values of one agent each, as the queue shows them. */
  opinions: (profile: PlantedProfile) => Opinion[];
  isWaiting: (profile: PlantedProfile) => boolean;
  /** Takes a body as POST /api/enrich/{slug} does; throws when the service would refuse it. */
  submit: (sent: Sent) => void;
  promotions: readonly Promotion[];
};

type ProfileState = {
  fields: ReadonlyMap<StructuredField, FieldState>;
  // Both are asked for whole queues at a time, so they are kept and not counted.
  empty: readonly StructuredField[];
  isWaiting: boolean;
};

/** `thisYear` bounds founding years, as the verb's clock does. */
export function simulateDirectory(
  world: readonly PlantedProfile[],
  { mode, thisYear }: { mode: ConsensusMode; thisYear: number },
): SimulatedDirectory {
  const promotions: Promotion[] = [];
  let ids = 0;
  const states = world.map(({ missing }): ProfileState => {
    const fields = new Map(missing.map((field) => [field, emptyField()]));
    return { fields, empty: missing, isWaiting: false };
  });
  const stateOf = ({ index }: PlantedProfile): ProfileState => {
    const state = states[index];
    if (state === undefined) throw new Error(`no profile ${index} in this world`);
    return state;
  };

  const submit = ({ profile, body, network, atMs }: Sent) => {
    const read = readEnrichment(body, { thisYear });
    if (!read.ok) throw new Error(`the service refuses ${JSON.stringify(read.failure)}`);
    const state = stateOf(profile);
    const { agent_id, items } = read.value;
    for (const item of items) {
      if (!isStructured(item.field)) throw new Error(`${item.field} is not simulated`);
      const field = state.fields.get(item.field);
      // It held a value from the start: only audited.
      if (field === undefined) continue;
      const agents = submitTo(field, { id: (ids += 1), item, agent_id, network, atMs }, mode);
      if (agents === null || field.live === null) continue;
      state.empty = state.empty.filter((one) => one !== item.field);
      const { live: value, firstSentAtMs } = field;
      promotions.push({ profile, field: item.field, value, agents, firstSentAtMs, liveAtMs: atMs });
    }
    state.isWaiting = [...state.fields.values()].some(({ pending }) => pending.length > 0);
  };

  return {
    promotions,
    submit,
    emptyFields: (profile) => stateOf(profile).empty,
    isWaiting: (profile) => stateOf(profile).isWaiting,
    opinions: (profile) => {
      const { fields, isWaiting } = stateOf(profile);
      return isWaiting ? [...fields].flatMap(([field, state]) => opinionsOf(field, state)) : [];
    },
  };
}

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

const enrichWindow: Window = {
  policy: "enrich",
  limit: requestsPerMinute.enrich,
  windowMs: 60_000,
  grainMs: 1,
};

/** The service's own limits, run on the simulation's clock. */
export type SimulatedLimits = {
  /** Counts a request with this many submissions; 0 when it may pass, else how long to wait. */
  take(address: string, agentId: string, submissions: number): number;
  close(): void;
};

export function simulateLimits(nowMs: () => number): SimulatedLimits {
  const windows = openWindows(":memory:", nowMs);
  return {
    take: (address, agentId, submissions) => {
      const request = windows.take([enrichWindow], [address]);
      if (!request.allowed) return Math.max(1, request.resetMs);
      const agent = windows.take(agentWindows, [agentId], submissions);
      return agent.allowed ? 0 : Math.max(1, agent.resetMs);
    },
    close: () => windows.close(),
  };
}
