import type { Row } from "@libsql/client";
import type { PendingVoice } from "./consensus.ts";
import type { EnrichableField, FieldType, SubmissionStatus } from "#content/contract/enrichment.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { jsonOf, packed, unpacked } from "#content/store/packed.ts";
import { inConsensus } from "#content/nonprofit/pending-fields.ts";

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
