import { and, eq, ne, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import {
  EnrichableField,
  enrichableFields,
  FieldType,
  isStructured,
  SubmissionStatus,
} from "#content/contract/enrichment.ts";
import { NonprofitStatus } from "#content/contract/nonprofit.ts";
import { inConsensus } from "#content/nonprofit/pending-store.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { jsonOf, packed, query } from "#content/store/query.ts";
import { submissions } from "#content/store/tables/enrichment.ts";
import { decideWaiting } from "./proposal-store.ts";

/** A submission as it is stored. Instants are milliseconds since 1970. */
export type StoredSubmission = typeof submissions.$inferSelect;
export type NewSubmission = Omit<StoredSubmission, "id">;

/** A row of columns packed into one; see `packed`. */
const packedRow = <Row>(shape: z.ZodType<Row>) =>
  z
    .object({ packed: z.string().transform((text): unknown => JSON.parse(text)) })
    .pipe(z.object({ packed: shape }).transform((row) => row.packed));

/** A nonprofit has any number of programmes and metrics: there is always room for one more. */
const rowFields: readonly EnrichableField[] = ["programme", "impact_metric"];
const liveFields = enrichableFields.filter((field) => !rowFields.includes(field));

const TargetRow = z.looseObject({
  id: z.number(),
  slug: z.string(),
  name: z.string(),
  status: NonprofitStatus,
});

const targetRow = packedRow(TargetRow);

/** What enrichment needs to know of a nonprofit. */
export type EnrichTarget = Pick<z.infer<typeof TargetRow>, "id" | "slug" | "name" | "status"> & {
  /** What the profile holds in a field, null for nothing. */
  live: (field: EnrichableField) => string | null;
};

/** The nonprofit with this slug, a withdrawn one too. In SQL, because every submission asks. Index: nonprofits_slug. */
export async function enrichTarget(store: Queryable, slug: string): Promise<EnrichTarget | null> {
  const [row] = await query(store, targetSql, [slug], targetRow);
  if (row === undefined) return null;
  const live = (field: EnrichableField) => {
    const value = row[field];
    return value === undefined || value === null || value === "" ? null : String(value);
  };
  return { id: row.id, slug: row.slug, name: row.name, status: row.status, live };
}

const targetSql = `SELECT ${packed(["id", "slug", "name", "status", ...liveFields])}
  FROM nonprofits
  WHERE slug = ?`;

const OwnSubmission = z.object({
  id: z.number(),
  nonprofit_id: z.number(),
  field: EnrichableField,
  field_type: FieldType,
  value: z.string(),
  normalised_value: z.string(),
  agent_id: z.string(),
  network: z.string().nullable(),
  status: SubmissionStatus,
  audit_only: z.number(),
  test_data: z.number(),
  confidence: z.number(),
  reason: z.string().nullable(),
  winning_value: z.string().nullable(),
});
/** What an answer and a decision need to know of an earlier submission. */
export type OwnSubmission = z.infer<typeof OwnSubmission>;

const Rejection = z.object({
  agent_name: z.string(),
  value: z.string(),
  reason: z.string().nullable(),
  winning_value: z.string().nullable(),
  decided_at: z.number(),
});
export type Rejection = z.infer<typeof Rejection>;

const StoredVote = z.object({
  id: z.number(),
  agent_id: z.string(),
  network: z.string().nullable(),
  normalised_value: z.string(),
  value: z.string(),
});
/** A pending submission of a field, as the rules see it, with the value that would go live. */
export type StoredVote = z.infer<typeof StoredVote>;

const FieldState = z.object({
  /** The newest submission of this value that the agent has already, unless it was rejected. */
  own: OwnSubmission.nullable(),
  /** The pending submissions of an open field that take part in consensus: at least this agent's and those of the value. */
  votes: z.array(StoredVote),
  /** What was rejected on the field, newest first. */
  rejections: z.array(Rejection),
  /**
   * How many distinct agents sent this value where nothing is to be decided (audit, prose), 0 elsewhere: the newest
   * such submission carries the number, so that none are counted.
   */
  agent_count: z.number(),
});
const fieldStateRow = packedRow(FieldState);
export type FieldState = z.infer<typeof FieldState> & {
  /** Whether another agent's other value is among the pending ones. */
  rivals: boolean;
};

/** One agent's value for a field. */
type Value = Pick<NewSubmission, "nonprofit_id" | "field" | "agent_id" | "normalised_value">;

/** This many pending submissions of one field are read at once; of a field with more, those that matter. */
const votesMax = 50;
/** Source: spec, "Limits", rejections listed. */
const rejectionsMax = 5;
const columnsOf = (shape: z.ZodObject) => Object.keys(shape.shape);

const rejectionsSql = `SELECT json_group_array(${jsonOf(columnsOf(Rejection))}) FROM (
    SELECT ${columnsOf(Rejection).join(", ")} FROM submissions
    WHERE nonprofit_id = ?1 AND field = ?2 AND status = 'rejected'
    ORDER BY decided_at DESC, id DESC
    LIMIT ${rejectionsMax}
  )`;

const agentCountSql = (status: "pending" | "applied") => `SELECT confidence FROM submissions
    WHERE nonprofit_id = ?1 AND field = ?2 AND status = '${status}' AND normalised_value = ?3
    ORDER BY id DESC
    LIMIT 1`;

const ownSql = `SELECT ${jsonOf(columnsOf(OwnSubmission))} FROM submissions
    WHERE agent_id = ?4 AND nonprofit_id = ?1 AND field = ?2 AND normalised_value = ?3 AND status <> 'rejected'
    ORDER BY id DESC
    LIMIT 1`;

const votesSql = `SELECT json_group_array(${jsonOf(columnsOf(StoredVote))}) FROM (
    SELECT ${columnsOf(StoredVote).join(", ")} FROM submissions INDEXED BY one_pending_per_agent_and_field
    WHERE nonprofit_id = ?1 AND field = ?2 AND ${inConsensus}
    LIMIT ${votesMax}
  )`;

const openFieldSql = `SELECT json_object(
  'own', (${ownSql}), 'votes', (${votesSql}), 'rejections', (${rejectionsSql}), 'agent_count', 0
) AS packed`;

const closedFieldSql = `SELECT json_object(
  'own', (${ownSql}), 'votes', json('[]'), 'rejections', (${rejectionsSql}),
  'agent_count', coalesce((${agentCountSql("pending")}), (${agentCountSql("applied")}), 0)
) AS packed`;

/**
 * What is known of a field when a value for it comes in. An open field is one that two agents
 * could fill. In SQL, because every submission asks. Indexes: submissions_by_agent, one_pending_per_agent_and_field, submissions_rejected,
 * submissions_by_field.
 */
export async function fieldState(
  store: Queryable,
  one: Value,
  { live }: { live: string | null },
): Promise<FieldState> {
  const { nonprofit_id, field, normalised_value, agent_id } = one;
  const statement = live === null && isStructured(field) ? openFieldSql : closedFieldSql;
  const args = [nonprofit_id, field, normalised_value, agent_id];
  const [state] = await query(store, statement, args, fieldStateRow);
  if (state === undefined) throw new Error(`nothing is known of ${field}`);
  // Among so many there is another value: the same one from two agents would have gone live.
  const isCrowded = state.votes.length >= votesMax;
  const votes = isCrowded ? await votesThatMatter(store, one) : state.votes;
  const isRival = (vote: StoredVote) =>
    vote.agent_id !== agent_id && vote.normalised_value !== normalised_value;
  return { ...state, votes, rivals: isCrowded || votes.some(isRival) };
}

/** This agent's own vote, and the first ones of others for the same value. Index: submissions_by_field. */
async function votesThatMatter(store: Queryable, one: Value): Promise<StoredVote[]> {
  const { id, nonprofit_id, field, agent_id, network, normalised_value, value } = submissions;
  const votes = (which: SQL | undefined) =>
    store.db
      .select({ id, agent_id, network, normalised_value, value })
      .from(submissions)
      .where(
        and(eq(nonprofit_id, one.nonprofit_id), eq(field, one.field), sql.raw(inConsensus), which),
      )
      .orderBy(id)
      .limit(votesMax);
  const own = await votes(eq(agent_id, one.agent_id));
  const isOther = ne(agent_id, one.agent_id);
  return [...own, ...(await votes(and(eq(normalised_value, one.normalised_value), isOther)))];
}

/** The most recently rejected submissions of a field, newest first. Index: submissions_rejected. */
export async function priorRejections(
  store: Queryable,
  { nonprofit_id, field }: Pick<NewSubmission, "nonprofit_id" | "field">,
): Promise<Rejection[]> {
  const args = [nonprofit_id, field];
  const [found] = await query(
    store,
    `SELECT (${rejectionsSql}) AS packed`,
    args,
    packedRow(z.array(Rejection)),
  );
  return found ?? [];
}

const newColumns = [
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
] as const;
const insertSql = `INSERT INTO submissions (${newColumns.join(", ")}) VALUES (${newColumns.map(() => "?").join(", ")})`;

/**
 * Stores a submission that waits; answers it with its id. In SQL: through drizzle it took three times as long. All
 * counters follow by triggers, see migration 0020.
 */
export async function insertSubmission(
  tx: WriteTransaction,
  one: NewSubmission,
): Promise<StoredSubmission> {
  const args = newColumns.map((column) => one[column]);
  const { lastInsertRowid } = await tx.raw.execute({ sql: insertSql, args });
  return { ...one, id: Number(lastInsertRowid) };
}

/** Rejects one submission that waits. `reason` is public. Answers false when it was decided before. */
export async function rejectSubmission(
  tx: WriteTransaction,
  {
    id,
    reason,
    winning_value,
    at,
  }: { id: number; reason: string; winning_value: string | null; at: number },
): Promise<boolean> {
  const decision = { status: "rejected", reason, at } as const;
  const which = eq(submissions.id, id);
  return (await decideWaiting(tx, submissions, which, decision, { winning_value })) === 1;
}

/** Sets the number of agreeing agents on all pending submissions of one value. Index: submissions_by_field. */
export async function setConfidence(
  tx: WriteTransaction,
  one: Pick<NewSubmission, "nonprofit_id" | "field" | "normalised_value" | "confidence">,
): Promise<void> {
  await tx.db
    .update(submissions)
    .set({ confidence: one.confidence })
    .where(
      and(
        eq(submissions.nonprofit_id, one.nonprofit_id),
        eq(submissions.field, one.field),
        eq(submissions.normalised_value, one.normalised_value),
        sql.raw(inConsensus),
      ),
    );
}

/** Says from which network a stored submission came. */
export async function setNetwork(
  tx: WriteTransaction,
  { id, network }: { id: number; network: string },
): Promise<void> {
  await tx.db.update(submissions).set({ network }).where(eq(submissions.id, id));
}

/** One submission by its id. */
export async function submissionById(
  store: Queryable,
  id: number,
): Promise<StoredSubmission | null> {
  const [found] = await store.db.select().from(submissions).where(eq(submissions.id, id));
  return found ?? null;
}
