import type { ConsensusMode } from "#content/enrichment/consensus.ts";
import { readEnrichment } from "#content/enrichment/read.ts";
import { isStructured, type StructuredField } from "#content/contract/enrichment.ts";
import { emptyField, type FieldState, type Opinion, opinionsOf, submitTo } from "./field-state.ts";
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
