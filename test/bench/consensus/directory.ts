import { agentWindows } from "#api/http/rate-limit.ts";
import { writeLimits } from "#content/contract/addresses.ts";
import { openWindows } from "#api/http/sliding-windows.ts";
import type { Window } from "#content/operation/limit-store.ts";
import {
  EnrichmentBody,
  isStructured,
  type StructuredField,
} from "#content/contract/enrichment.ts";
import { type ConsensusMode, decide, type PendingVote } from "#content/enrichment/consensus.ts";
import { readEnrichment, type ReadItem } from "#content/enrichment/wire.ts";
import { agreedValue, comparedValue } from "#content/enrichment/value.ts";
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

/** A waiting value as GET /api/needs-enrichment shows it: e-mail addresses masked. */
export type Opinion = { field: StructuredField; value: string; masked: boolean };

type Pending = PendingVote & { value: string };

/** One field of one profile: what is live, what waits, and when each value was sent first, by comparison form. */
type FieldState = { live: string | null; pending: Pending[]; firstSentAtMs: Map<string, number> };

const emptyField = (): FieldState => ({ live: null, pending: [], firstSentAtMs: new Map() });

/** Source: content/enrichment/needs-store.ts. */
const opinionsPerFieldMax = 3;

export type SimulatedDirectory = ReturnType<typeof simulateDirectory>;

/**
 * The directory in memory: the service's rules read, clean, compare and decide; only where the outcome is stored is
 * replaced. test/bench/consensus-simulation.test.ts holds it against the service's own verb and store. `thisYear` bounds
 * founding years, as the verb's clock does.
 */
export function simulateDirectory(
  world: readonly PlantedProfile[],
  { mode, thisYear }: { mode: ConsensusMode; thisYear: number },
) {
  const promotions: Promotion[] = [];
  let ids = 0;
  const states = world.map(({ missing }) => ({
    // Asked for whole queues at a time.
    empty: missing,
    fields: new Map(missing.map((field) => [field, emptyField()])),
  }));
  const stateOf = ({ index }: PlantedProfile) => {
    const state = states[index];
    if (state === undefined) throw new Error(`no profile ${index} in this world`);
    return state;
  };
  return {
    promotions: promotions as readonly Promotion[],
    /** Fields of the profile that hold no value now. */
    emptyFields: (profile: PlantedProfile): readonly StructuredField[] => stateOf(profile).empty,
    isWaiting: (profile: PlantedProfile): boolean =>
      stateOf(profile)
        .fields.values()
        .some(({ pending }) => pending.length > 0),
    /** The values that want one more agent, as the queue shows them. */
    opinions: (profile: PlantedProfile): Opinion[] =>
      [...stateOf(profile).fields].flatMap(opinionsOf),
    /** Takes a body as POST /api/enrich/{slug} does; throws when the service would refuse it. */
    submit: ({ profile, body, network, atMs }: Sent) => {
      const read = readEnrichment(EnrichmentBody.parse(body), { thisYear });
      if (!read.ok) throw new Error(`the service refuses ${JSON.stringify(read.failure)}`);
      const { agent_id, items } = read.value;
      for (const item of items) {
        const { field } = item;
        if (!isStructured(field)) throw new Error(`${field} is not simulated`);
        const known = stateOf(profile);
        const state = known.fields.get(field);
        // It held a value from the start: only audited.
        if (state === undefined) continue;
        const vote = { id: (ids += 1), item: { ...item, field }, agent_id, network, atMs };
        const agents = voteFor(state, vote, mode);
        if (agents === null || state.live === null) continue;
        known.empty = known.empty.filter((one) => one !== field);
        const { live: value, firstSentAtMs } = state;
        promotions.push({ profile, field, value, agents, firstSentAtMs, liveAtMs: atMs });
      }
    },
  };
}

/** A submission to one field, read and cleaned. Greater ids are later. */
type Submitted = {
  id: number;
  item: ReadItem & { field: StructuredField };
  agent_id: string;
  network: string;
  atMs: number;
};

/**
 * Does with a field what the service does with a submission: the rules decide, and their decision is carried out. Answers
 * the ids of the agents whose agreement made a value live, null when none did.
 */
function voteFor(
  state: FieldState,
  { id, item, agent_id, network, atMs }: Submitted,
  mode: ConsensusMode,
): string[] | null {
  const { field, normalised_value } = item;
  const isAgreeing = (one: Pending) => one.normalised_value === normalised_value;
  if (state.pending.some((one) => one.agent_id === agent_id && isAgreeing(one))) return null;
  const mine = { agent_id, network: mode === "networks" ? network : null, normalised_value };
  const decision = decide({
    field_type: item.field_type,
    live: state.live === null ? null : comparedValue(field, state.live),
    pending: state.pending,
    mine,
    mode,
  });
  if (decision.kind === "audit" || decision.kind === "queued") return null;
  if (!state.firstSentAtMs.has(normalised_value)) state.firstSentAtMs.set(normalised_value, atMs);
  const others = state.pending.filter((one) => one.id !== decision.replaces);
  state.pending = [...others, { ...mine, id, value: item.value }];
  if (decision.kind === "pending") return null;
  const agreeing = state.pending.filter(isAgreeing);
  state.live = agreedValue(field, [item.value, ...agreeing.map(({ value }) => value)]);
  state.pending = [];
  return agreeing.map((one) => one.agent_id);
}

/** Each value as it was sent first, the earliest first. */
function opinionsOf([field, { pending }]: [StructuredField, FieldState]): Opinion[] {
  if (pending.length === 0) return [];
  const firsts = new Map(pending.toReversed().map((one) => [one.normalised_value, one]));
  const shown = pending.filter((one) => firsts.get(one.normalised_value) === one);
  return shown.slice(0, opinionsPerFieldMax).map(({ value }) => {
    const masked = publicValue(field, value);
    return { field, value: masked, masked: masked !== value };
  });
}

const enrichWindow: Window = {
  policy: "enrich",
  limit: writeLimits.enrich.perMinute,
  windowMs: 60_000,
  grainMs: 1,
};

/** The service's own limits, on the simulation's clock. */
export function simulateLimits(nowMs: () => number) {
  const windows = openWindows(":memory:", nowMs);
  /** How long to wait before so many of this client fit into all of these windows; 0 for not at all. */
  const waitMs = (all: readonly Window[], client: string, count: number): number => {
    const counters = all.map((window) => ({ window, clients: [client] }));
    const [taken] = windows.takeAll([{ counters, count }]);
    return taken === undefined || taken.allowed ? 0 : Math.max(1, taken.resetMs);
  };
  return {
    /** Counts a request with this many submissions; 0 when it may pass, else how long to wait. */
    take: (address: string, agentId: string, submissions: number): number =>
      waitMs([enrichWindow], address, 1) ||
      waitMs(agentWindows, `${agentId} ${address}`, submissions),
    close: () => windows.close(),
  };
}
