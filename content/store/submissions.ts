import type { Row } from "@libsql/client";
import type { PendingVoice } from "#content/rules/consensus.ts";
import type { EnrichableField, FieldType, SubmissionStatus } from "#content/shapes/enrichment.ts";
import type { WriteTransaction } from "./open.ts";
import { jsonOf, packed, unpacked } from "./packed.ts";
import { inConsensus } from "./pending-fields.ts";
import type { Asked } from "./records.ts";

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
const voicesMax = 50;
const voiceColumns = ["id", "agent_id", "network", "normalised_value"];

/**
 * What stands on a field: the voices that a decision needs, whether another agent's value than this one is pending too,
 * and what was rejected before.
 */
export type FieldStanding = { voices: PendingVoice[]; rivals: boolean; rejections: Rejection[] };

type Voiced = Pick<NewSubmission, "nonprofit_id" | "field" | "agent_id" | "normalised_value">;

/** What stands on a field, in one look where few voices are, as nearly always. Index: one_pending_per_agent_and_field. */
export async function fieldStanding(asked: Asked, one: Voiced): Promise<FieldStanding> {
  const { rows } = await asked.execute({
    sql: `SELECT json_object(
            'voices', (
              SELECT json_group_array(${jsonOf(voiceColumns)}) FROM (
                SELECT * FROM submissions
                WHERE nonprofit_id = ?1 AND field = ?2 AND ${inConsensus}
                LIMIT ${voicesMax}
              )
            ),
            'rejections', (${rejectionsSql})
          ) AS packed`,
    args: [one.nonprofit_id, one.field],
  });
  const [found = { voices: [], rejections: [] }] = unpacked<Omit<FieldStanding, "rivals">>(rows);
  const many = found.voices.length === voicesMax;
  const voices = many ? await voicesThatMatter(asked, one) : found.voices;
  const isRival = ({ agent_id, normalised_value }: PendingVoice) =>
    agent_id !== one.agent_id && normalised_value !== one.normalised_value;
  // Among so many there is another value: the same one from two agents would have gone live.
  return { voices, rivals: many || voices.some(isRival), rejections: found.rejections };
}

/** This agent's own voice, and those for the same value. Index: submissions_by_field. */
async function voicesThatMatter(asked: Asked, one: Voiced): Promise<PendingVoice[]> {
  const { nonprofit_id, field, agent_id, normalised_value } = one;
  const { rows } = await asked.execute({
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

/**
 * How many distinct agents sent this value where nothing is to be decided (audit, prose): the newest such submission
 * carries the running number, so that no count is needed. Index: submissions_by_field.
 */
export async function runningConfidence(
  asked: Asked,
  one: Pick<NewSubmission, "nonprofit_id" | "field" | "normalised_value">,
): Promise<number> {
  const { rows } = await asked.execute({
    sql: `SELECT coalesce(
            (SELECT confidence FROM submissions
             WHERE nonprofit_id = ?1 AND field = ?2 AND status = 'pending' AND normalised_value = ?3
             ORDER BY id DESC LIMIT 1),
            (SELECT confidence FROM submissions
             WHERE nonprofit_id = ?1 AND field = ?2 AND status = 'applied' AND normalised_value = ?3
             ORDER BY id DESC LIMIT 1),
            0) AS confidence`,
    args: [one.nonprofit_id, one.field, one.normalised_value],
  });
  return Number(rows[0]?.["confidence"] ?? 0) + 1;
}

const columns = [
  "nonprofit_id", "field", "field_type", "value", "normalised_value", "source_url", "agent_id", "agent_name",
  "network", "status", "audit_only", "test_data", "confidence", "reason", "winning_value", "created_at", "applied_at", "decided_at",
] as const; // prettier-ignore

const insertSql = `INSERT INTO submissions (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;

/** Stores a submission; answers it with its id. */
export async function insertSubmission(
  tx: WriteTransaction,
  one: NewSubmission,
): Promise<StoredSubmission> {
  const { lastInsertRowid } = await tx.raw.execute({
    sql: insertSql,
    args: columns.map((column) => one[column]),
  });
  return { ...one, id: Number(lastInsertRowid) };
}

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
    sql: `UPDATE submissions SET status = 'rejected', reason = ?, winning_value = ?, decided_at = ?
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

/** One submission by its id. */
export async function submissionById(asked: Asked, id: number): Promise<StoredSubmission | null> {
  const { rows } = await asked.execute({
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

/** The most recently rejected submissions of a field, newest first, as one JSON array. Index: submissions_rejected. */
const rejectionsSql = `SELECT json_group_array(${jsonOf(rejectionColumns)}) FROM (
  SELECT * FROM submissions
  WHERE nonprofit_id = ?1 AND field = ?2 AND status = 'rejected'
  ORDER BY decided_at DESC, id DESC
  LIMIT ${recentRejectionsMax}
)`;

/** The most recently rejected submissions of a field, newest first. */
export async function priorRejections(
  asked: Asked,
  { nonprofit_id, field }: Pick<NewSubmission, "nonprofit_id" | "field">,
): Promise<Rejection[]> {
  const { rows } = await asked.execute({
    sql: `SELECT (${rejectionsSql}) AS packed`,
    args: [nonprofit_id, field],
  });
  return unpacked<Rejection[]>(rows)[0] ?? [];
}
