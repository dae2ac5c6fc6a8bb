import type { Row } from "@libsql/client";
import {
  type EnrichableField,
  enrichableFields,
  type FieldType,
  structuredFields,
  type SubmissionStatus,
} from "#content/contract/enrichment.ts";
import type { NonprofitStatus } from "#content/contract/nonprofit.ts";
import { inConsensus } from "#content/nonprofit/pending-store.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { jsonOf, packed, unpacked } from "#content/store/query.ts";
import type { PendingVoice } from "./consensus.ts";

/** A submission as it is stored. Instants are milliseconds since 1970. */
export type StoredSubmission = {
  id: number;
  nonprofit_id: number;
  field: EnrichableField;
  field_type: FieldType;
  value: string;
  normalised_value: string;
  source_url: string | null;
  agent_id: string;
  agent_name: string;
  /** Of what waits in the strict mode only: it is forgotten once that is decided. */
  network: string | null;
  status: SubmissionStatus;
  audit_only: number;
  test_data: number;
  confidence: number;
  reason: string | null;
  winning_value: string | null;
  created_at: number;
  applied_at: number | null;
  decided_at: number | null;
};

export type NewSubmission = Omit<StoredSubmission, "id">;

const stored = (row: Row | undefined): StoredSubmission | null =>
  row === undefined ? null : ({ ...row } as unknown as StoredSubmission);

/** So many pending submissions of one field are read at once; a field with more is asked about one by one. */
export const voicesMax = 50;
export const voiceColumns = ["id", "agent_id", "network", "normalised_value"] as const;

/** One agent's value for a field. */
export type Voiced = Pick<
  NewSubmission,
  "nonprofit_id" | "field" | "agent_id" | "normalised_value"
>;

/** This agent's own voice, and those for the same value. Index: submissions_by_field. */
export async function voicesThatMatter(store: Queryable, one: Voiced): Promise<PendingVoice[]> {
  const { nonprofit_id, field, agent_id, normalised_value } = one;
  const { rows } = await store.raw.execute({
    sql: `SELECT ${packed(voiceColumns)} FROM submissions
          WHERE nonprofit_id = ? AND field = ? AND agent_id = ? AND ${inConsensus}
          UNION
          SELECT * FROM (
            SELECT ${packed(voiceColumns)} FROM submissions
            WHERE nonprofit_id = ? AND field = ? AND status = 'pending' AND normalised_value = ? AND audit_only = 0
            ORDER BY id
            LIMIT ${voicesMax}
          )`,
    args: [nonprofit_id, field, agent_id, nonprofit_id, field, normalised_value],
  });
  return unpacked<PendingVoice>(rows);
}

/** The columns of a submission after its id. */
export const submissionColumns = [
  "nonprofit_id",
  "field",
  "field_type",
  "value",
  "normalised_value",
  "source_url",
  "agent_id",
  "agent_name",
  "network",
  "status",
  "audit_only",
  "test_data",
  "confidence",
  "reason",
  "winning_value",
  "created_at",
  "applied_at",
  "decided_at",
] as const;

/** Rejects one submission. `reason` is public. */
export async function rejectSubmission(
  tx: WriteTransaction,
  {
    id,
    reason,
    winning_value,
    at,
  }: { id: number; reason: string; winning_value: string | null; at: number },
): Promise<boolean> {
  const { rowsAffected } = await tx.raw.execute({
    sql: `UPDATE submissions SET status = 'rejected', reason = ?, winning_value = ?, decided_at = ?, network = NULL
          WHERE id = ? AND status = 'pending'`,
    args: [reason, winning_value, at, id],
  });
  return rowsAffected === 1;
}

/**
 * Sets the number of agreeing agents on all pending submissions of one value. Answers how many rose above one agent,
 * and how many fell back to one.
 */
export async function setConfidence(
  tx: WriteTransaction,
  one: Pick<NewSubmission, "nonprofit_id" | "field" | "normalised_value" | "confidence">,
): Promise<{ risen: number; fallen: number }> {
  const args = [one.nonprofit_id, one.field, one.normalised_value];
  const where = `nonprofit_id = ? AND field = ? AND normalised_value = ? AND ${inConsensus}`;
  const { rows } = await tx.raw.execute({
    sql: `SELECT count(*) FILTER (WHERE confidence = 1) AS single, count(*) FILTER (WHERE confidence > 1) AS several
          FROM submissions
          WHERE ${where}`,
    args,
  });
  await tx.raw.execute({
    sql: `UPDATE submissions SET confidence = ? WHERE ${where} AND confidence <> ?`,
    args: [one.confidence, ...args, one.confidence],
  });
  const [single, several] = [Number(rows[0]?.["single"]), Number(rows[0]?.["several"])];
  return one.confidence > 1 ? { risen: single, fallen: 0 } : { risen: 0, fallen: several };
}

/** Says from which network a stored submission came. */
export async function setNetwork(
  tx: WriteTransaction,
  { id, network }: { id: number; network: string },
): Promise<void> {
  await tx.raw.execute({
    sql: "UPDATE submissions SET network = ? WHERE id = ?",
    args: [network, id],
  });
}

/** One submission by its id. */
export async function submissionById(
  store: Queryable,
  id: number,
): Promise<StoredSubmission | null> {
  const { rows } = await store.raw.execute({
    sql: "SELECT * FROM submissions WHERE id = ?",
    args: [id],
  });
  return stored(rows[0]);
}

export type Rejection = {
  agent_name: string;
  value: string;
  reason: string | null;
  winning_value: string | null;
  decided_at: number;
};

/** Source: spec, "Limits", rejections listed. */
const recentRejectionsMax = 5;
const rejectionColumns = ["agent_name", "value", "reason", "winning_value", "decided_at"];

/** SQL: the most recently rejected submissions of a field, newest first, as one JSON array. Index: submissions_rejected. */
export const rejectionsOf = (nonprofitId: string, field: string): string =>
  `SELECT json_group_array(${jsonOf(rejectionColumns)}) FROM (
    SELECT ${rejectionColumns.join(", ")} FROM submissions
    WHERE nonprofit_id = ${nonprofitId} AND field = ${field} AND status = 'rejected'
    ORDER BY decided_at DESC, id DESC
    LIMIT ${recentRejectionsMax}
  )`;

const rejectionsSql = `SELECT (${rejectionsOf("?1", "?2")}) AS packed`;

/** The most recently rejected submissions of a field, newest first. */
export async function priorRejections(
  store: Queryable,
  { nonprofit_id, field }: Pick<NewSubmission, "nonprofit_id" | "field">,
): Promise<Rejection[]> {
  const { rows } = await store.raw.execute({ sql: rejectionsSql, args: [nonprofit_id, field] });
  return unpacked<Rejection[]>(rows)[0] ?? [];
}

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
