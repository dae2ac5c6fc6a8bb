import type { PendingVoice } from "./consensus.ts";
import {
  type EnrichableField,
  enrichableFields,
  structuredFields,
} from "#content/contract/enrichment.ts";
import type { NonprofitStatus } from "#content/contract/nonprofit.ts";
import { jsonOf, unpacked } from "#content/store/packed.ts";
import { inConsensus } from "#content/nonprofit/pending-fields.ts";
import type { Queryable } from "#content/store/open.ts";
import {
  type Rejection,
  rejectionsOf,
  type StoredSubmission,
  voiceColumns,
  type Voiced,
  voicesMax,
  voicesThatMatter,
} from "./submissions.ts";

/** What is asked about: a nonprofit, and what stands on these fields before an agent sends these values. */
export type Wanted = {
  slug: string;
  agent_id: string;
  items: readonly { field: EnrichableField; normalised_value: string }[];
};

/** What enrichment needs to know of a nonprofit, as of one look. */
export type EnrichTarget = {
  id: number;
  slug: string;
  name: string;
  status: NonprofitStatus;
  /** Whether the agent sent something about this nonprofit before that is no test data. */
  touched: boolean;
  /** In the order in which the items were asked about. */
  standings: readonly Standing[];
};

/** What stands on a field when a value comes in. */
export type Standing = {
  /** What the profile holds, null for nothing. */
  live: string | null;
  /** The newest submission of this value that the agent has already, unless it was rejected. */
  own: OwnSubmission | null;
  /** The pending submissions of an open field that take part in consensus: at least this agent's and those of the value. */
  voices: readonly PendingVoice[];
  /** Whether another agent's other value is among the pending ones. */
  rivals: boolean;
  rejections: readonly Rejection[];
  /**
   * How many distinct agents sent this value where nothing is to be decided (audit, prose), 0 elsewhere: the newest
   * such submission carries the running number, so that no count is needed.
   */
  running: number;
};

const ownColumns = [
  "id",
  "nonprofit_id",
  "field",
  "field_type",
  "value",
  "normalised_value",
  "agent_id",
  "network",
  "status",
  "audit_only",
  "test_data",
  "confidence",
  "reason",
  "winning_value",
] as const;

/** What an answer and a decision need to know of an earlier submission. */
export type OwnSubmission = Pick<StoredSubmission, (typeof ownColumns)[number]>;

/** A nonprofit has any number of programmes and metrics: there is always room for one more. */
const rowFields: readonly EnrichableField[] = ["programme", "impact_metric"];
const liveValue = enrichableFields
  .filter((field) => !rowFields.includes(field))
  .map((field) => `WHEN '${field}' THEN nullif(n.${field}, '')`)
  .join(" ");

const running = (status: string): string =>
  `(SELECT confidence FROM submissions
    WHERE nonprofit_id = n.id AND field = i.field AND status = '${status}' AND normalised_value = i.value
    ORDER BY id DESC LIMIT 1)`;

/** Voices count where the field is open; a running number is kept where it is not. */
const isOpen = `i.live IS NULL AND i.field IN (${structuredFields.map((field) => `'${field}'`).join(", ")})`;
const standing = `json_object(
  'live', i.live,
  'own', (
    SELECT ${jsonOf(ownColumns)} FROM submissions
    WHERE agent_id = w.value ->> 1 AND nonprofit_id = n.id AND field = i.field AND normalised_value = i.value
      AND status <> 'rejected'
    ORDER BY id DESC
    LIMIT 1
  ),
  'voices', CASE WHEN ${isOpen} THEN (
    SELECT json_group_array(${jsonOf(voiceColumns)}) FROM (
      SELECT ${voiceColumns.join(", ")} FROM submissions INDEXED BY one_pending_per_agent_and_field
      WHERE nonprofit_id = n.id AND field = i.field AND ${inConsensus}
      LIMIT ${voicesMax}
    )
  ) ELSE json('[]') END,
  'rejections', (${rejectionsOf("n.id", "i.field")}),
  'running', CASE WHEN ${isOpen} THEN 0 ELSE coalesce(${running("pending")}, ${running("applied")}, 0) END
)`;

const targetsSql = `SELECT json_object(
    'at', w.key, 'id', n.id, 'slug', n.slug, 'name', n.name, 'status', n.status,
    'touched', EXISTS (
      SELECT 1 FROM submissions WHERE agent_id = w.value ->> 1 AND nonprofit_id = n.id AND test_data = 0
    ),
    'standings', (
      SELECT json_group_array(${standing}) FROM (
        SELECT value ->> 0 AS field, value ->> 1 AS value, CASE value ->> 0 ${liveValue} END AS live
        FROM json_each(w.value, '$[2]')
        ORDER BY key
      ) AS i
    )
  ) AS packed
  FROM json_each(?) AS w
  CROSS JOIN nonprofits AS n ON n.slug = w.value ->> 0`;

/**
 * The nonprofits with these slugs, withdrawn ones too, with all that decisions about these submissions need, in one
 * statement however many there are; null for an unknown slug. In the order of `wanted`. Indexes: nonprofits_slug,
 * submissions_by_agent, one_pending_per_agent_and_field, submissions_rejected, submissions_by_field.
 */
export async function enrichTargets(
  store: Queryable,
  wanted: readonly Wanted[],
): Promise<(EnrichTarget | null)[]> {
  const { rows } = await store.raw.execute({
    sql: targetsSql,
    args: [JSON.stringify(wanted.map(wantedRow))],
  });
  const targets: (EnrichTarget | null)[] = wanted.map(() => null);
  for (const { at, standings, touched, ...target } of unpacked<Found>(rows)) {
    const { agent_id, items = [] } = wanted[at] ?? { agent_id: "" };
    const known: Standing[] = [];
    for (const [which, { field, normalised_value }] of items.entries()) {
      const one = { nonprofit_id: target.id, field, normalised_value, agent_id };
      known.push(await standingOf(store, standings[which], one));
    }
    targets[at] = { ...target, touched: touched === 1, standings: known };
  }
  return targets;
}

type FoundStanding = Omit<Standing, "rivals" | "live"> & { live: string | number | null };
type Found = Omit<EnrichTarget, "standings" | "touched"> & {
  at: number;
  touched: number;
  standings: FoundStanding[];
};

const wantedRow = ({ slug, agent_id, items }: Wanted) => [
  slug,
  agent_id,
  items.map(({ field, normalised_value }) => [field, normalised_value]),
];

async function standingOf(
  store: Queryable,
  found: FoundStanding | undefined,
  one: Voiced,
): Promise<Standing> {
  if (found === undefined) throw new Error(`nothing was found out about ${one.field}`);
  // Among so many there is another value: the same one from two agents would have gone live.
  const crowded = found.voices.length >= voicesMax;
  const voices = crowded ? await voicesThatMatter(store, one) : found.voices;
  const isRival = ({ agent_id, normalised_value }: PendingVoice) =>
    agent_id !== one.agent_id && normalised_value !== one.normalised_value;
  const live = found.live === null ? null : String(found.live);
  return { ...found, live, voices, rivals: crowded || voices.some(isRival) };
}
