import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import {
  type EnrichableField,
  enrichableFields,
  type FieldType,
  fieldTypeOf,
  isRowField,
  isStructured,
} from "#content/contract/enrichment.ts";
import { yieldsToAgents } from "#content/nonprofit/provenance.ts";
import { inConsensus } from "#content/nonprofit/pending-submissions-store.ts";
import type { Queryable } from "#content/store/open.ts";
import { builder, statement, type Statement } from "#content/store/statement.ts";
import {
  columnNames,
  jsonOf,
  jsonText,
  lastIdSql,
  query,
  rowShape,
  rowShapeWith,
} from "#content/store/query.ts";
import { agentKeys, submissions } from "#content/store/tables/enrichment.ts";
import { nonprofits, provenance } from "#content/store/tables/nonprofits.ts";
import { changes } from "#content/store/tables/publishing.ts";
import { type Agent, foldAgentId } from "./agent.ts";
import { automaticReasons } from "./consensus.ts";
import { decideWaiting } from "./proposal-store.ts";

// What every submission asks and writes is in SQL: through drizzle it takes three times as long.

/** A submission as it is stored. Instants are milliseconds since 1970. */
export type StoredSubmission = typeof submissions.$inferSelect;
export type NewSubmission = Omit<StoredSubmission, "id">;
const columns = columnNames(submissions);
const submissionRow = rowShape(submissions, columns);

const targetColumns = ["id", "slug", "name", "status"] as const;
const keyColumns = ["secret_digest", "revoked_at", "approved_name"] as const;
const targetRow = rowShapeWith(nonprofits, targetColumns, {
  /** What is known of who owns the agent's id; null for one that is free. */
  agent_key: jsonText(rowShape(agentKeys, keyColumns)).nullable(),
  /** 1 when it calls itself by an id that another owns, or did. */
  names_another: z.number(),
  /** The highest numbers given so far: of a submission, and of a change. */
  last_submission: z.number(),
  last_change: z.number(),
});

// One statement: a submission asks for no more than before.
const targetSql = `SELECT ${targetColumns.join(", ")},
    (SELECT ${jsonOf(keyColumns)} FROM agent_keys WHERE agent_id = ?2) AS agent_key,
    EXISTS (SELECT 1 FROM agent_keys WHERE agent_id = ?3 AND agent_id <> ?2) AS names_another,
    ${lastIdSql(submissions)} AS last_submission, ${lastIdSql(changes)} AS last_change
  FROM nonprofits WHERE slug = ?1`;

/** What enrichment needs to know of a nonprofit. */
export type EnrichTarget = z.infer<typeof targetRow>;

/** The nonprofit with this slug, a withdrawn one too, and what is known of the agent. Indexes: nonprofits_slug, the key of agent_keys. */
export async function enrichTarget(
  store: Queryable,
  slug: string,
  { agent_id, agent_name }: Agent,
): Promise<EnrichTarget | null> {
  const named = agent_name === agent_id ? agent_id : foldAgentId(agent_name);
  const args = [slug, agent_id, named];
  const [found] = await query(store, targetSql, args, targetRow);
  return found ?? null;
}

/** What the rules need to know of a pending submission, and the value that would go live. */
const voteColumns = [
  "id",
  "agent_id",
  "network",
  "normalised_value",
  "value",
  "test_data",
  "confidence",
  "created_at",
] as const;

const FieldState = z.object({
  /** What the profile holds; null for nothing, and for what agents that agree replace. */
  live: z.string().nullable(),
  /** The newest submission of this value that the agent has already, unless it was rejected. */
  own: submissionRow.nullable(),
  /** The pending submissions of an open field: at least this agent's and those of the value. */
  votes: z.array(rowShape(submissions, voteColumns)),
  /**
   * How many distinct agents sent this value where nothing is to be decided (audit, prose): the newest such submission
   * carries the number, so that none are counted.
   */
  agent_count: z.number(),
  /** This text, which a person refused; null for none, and for structured fields. */
  refused: submissionRow.nullable(),
  /** 1 when something of the field was rejected, from any agent. */
  any_rejected: z.number(),
});
export type FieldState = z.infer<typeof FieldState>;

/** What tells whether the value yields. */
const originColumns = ["rule", "source", "applied_at"] as const;
const FieldStateRow = z.object({
  state: jsonText(FieldState.extend({ origin: rowShape(provenance, originColumns).nullable() })),
});

/** One agent's value for a field, at an instant. */
type Value = Pick<
  NewSubmission,
  "nonprofit_id" | "field" | "agent_id" | "normalised_value" | "created_at"
>;

/** Of more pending submissions of one field those of this agent and of this value are read first. */
const votesMax = 50;

const agentCountSql = (status: "pending" | "applied") => `SELECT confidence FROM submissions
    WHERE nonprofit_id = ?1 AND field = ?2 AND status = '${status}' AND normalised_value = ?3
    ORDER BY id DESC
    LIMIT 1`;

/** Says literally what the partial index one_pending_text_per_agent says, so that SQLite uses it. */
const waitingText = "status = 'pending' AND audit_only = 0 AND field_type = 'prose'";

const votesSql = (index: string, waiting: string, shown: readonly string[]) =>
  `SELECT ${shown.join(", ")} FROM submissions INDEXED BY ${index}
      WHERE nonprofit_id = ?1 AND field = ?2 AND ${waiting}
      ORDER BY agent_id = ?4 DESC, normalised_value = ?3 DESC, id
      LIMIT ${votesMax}`;

const fieldStateSql = (
  field: EnrichableField,
  { votes, refused }: { votes: string; refused: string },
) => `SELECT json_object(
  'live', ${isRowField(field) ? "NULL" : `(SELECT nullif(CAST(${field} AS TEXT), '') FROM nonprofits WHERE id = ?1)`},
  'origin', (SELECT ${jsonOf(originColumns)} FROM provenance WHERE nonprofit_id = ?1 AND field = ?2),
  'own', (
    SELECT ${jsonOf(columns)} FROM submissions
    WHERE agent_id = ?4 AND nonprofit_id = ?1 AND field = ?2 AND normalised_value = ?3 AND status <> 'rejected'
    ORDER BY id DESC
    LIMIT 1
  ),
  'votes', (
    SELECT json_group_array(${jsonOf(voteColumns)}) FROM (
      ${votes}
    )
  ),
  'refused', (${refused}),
  'any_rejected', EXISTS (SELECT 1 FROM submissions WHERE nonprofit_id = ?1 AND field = ?2 AND status = 'rejected'),
  'agent_count', coalesce((${agentCountSql("pending")}), (${agentCountSql("applied")}), 0)
) AS state`;

const typeSql: Readonly<Record<FieldType, { votes: string; refused: string }>> = {
  structured: {
    votes: votesSql("one_pending_per_agent_and_field", inConsensus, voteColumns),
    refused: "NULL",
  },
  prose: {
    // Their texts are long, and nothing is decided by them.
    votes: votesSql(
      "one_pending_text_per_agent",
      waitingText,
      voteColumns.map((column) => (column === "value" ? "'' AS value" : column)),
    ),
    refused: `SELECT ${jsonOf(columns)} FROM submissions
    WHERE nonprofit_id = ?1 AND field = ?2 AND status = 'rejected' AND normalised_value = ?3
      AND reason NOT IN (${automaticReasons.map((reason) => `'${reason}'`).join(", ")})
    ORDER BY id DESC
    LIMIT 1`,
  },
};
const stateSql = new Map(
  enrichableFields.map((field) => [field, fieldStateSql(field, typeSql[fieldTypeOf(field)])]),
);

/** What is known of a field when a value for it comes in. Indexes: submissions_by_agent, submissions_by_field. */
export async function fieldState(store: Queryable, one: Value): Promise<FieldState> {
  const { nonprofit_id, field, normalised_value, agent_id, created_at } = one;
  const args = [nonprofit_id, field, normalised_value, agent_id];
  const [found] = await query(store, stateSql.get(field) ?? "", args, FieldStateRow);
  if (found === undefined) throw new Error(`nothing is known of ${field}`);
  const { origin, ...state } = found.state;
  const yields = isStructured(field) && yieldsToAgents(origin ?? undefined, created_at);
  return yields ? { ...state, live: null } : state;
}

export type Field = Pick<StoredSubmission, "nonprofit_id" | "field">;

/** The submissions of a field, as a condition of drizzle. */
export const ofField = ({ nonprofit_id, field }: Field): SQL | undefined =>
  and(eq(submissions.nonprofit_id, nonprofit_id), eq(submissions.field, field));

/** Those of them that take part in consensus. */
export const votesOn = (field: Field): SQL | undefined => and(ofField(field), sql.raw(inConsensus));

const rejectionColumns = [
  "agent_id",
  "agent_name",
  "value",
  "reason",
  "winning_value",
  "decided_at",
] as const;
const rejectionRow = rowShape(submissions, rejectionColumns);
export type Rejection = z.infer<typeof rejectionRow>;

/** Source: spec, "Limits", rejections listed. */
const rejectionsMax = 5;
/** What went live and was taken back keeps the value in which it did: no other won. */
const winningValue = "iif(applied_at IS NULL, winning_value, NULL) AS winning_value";
const rejectionsSql = `SELECT ${rejectionColumns.map((column) => (column === "winning_value" ? winningValue : column)).join(", ")} FROM submissions
  WHERE nonprofit_id = ? AND field = ? AND status = 'rejected' AND decided_at <= ?
  ORDER BY decided_at DESC, id DESC
  LIMIT ${rejectionsMax}`;

/** The submissions of a field that were rejected last at an instant, newest first. Index: submissions_rejected. */
export const priorRejections = (
  store: Queryable,
  { nonprofit_id, field, at }: Field & { at: number },
): Promise<Rejection[]> => query(store, rejectionsSql, [nonprofit_id, field, at], rejectionRow);

const insertSql = `INSERT INTO submissions (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;

/** Stores a submission that waits. All counters follow by triggers, see migration 0020. */
export const insertSubmission = (one: StoredSubmission): Statement => ({
  sql: insertSql,
  args: columns.map((column) => one[column]),
});

/** `reason` is public; `at` is an instant in milliseconds since 1970. */
export type SubmissionRejection = Pick<StoredSubmission, "id" | "winning_value"> & {
  reason: string;
  at: number;
};

/** Rejects one submission that waits. */
export const rejectSubmission = ({
  id,
  reason,
  winning_value,
  at,
}: SubmissionRejection): Statement =>
  decideWaiting(
    submissions,
    eq(submissions.id, id),
    { status: "rejected", reason, at },
    { winning_value },
  );

/** What of a field can be rejected: the votes on it, what contradicts its live value, or the texts for it. */
const groups = {
  votes: votesOn,
  disputes: (field: Field) =>
    and(ofField(field), eq(submissions.audit_only, 1), isNull(submissions.reason)),
  texts: (field: Field) => and(ofField(field), eq(submissions.audit_only, 0)),
} as const satisfies Record<string, (field: Field) => SQL | undefined>;

/** How many of a group wait for a field. */
export const waitingIn = (
  store: Queryable,
  group: keyof typeof groups,
  field: Field,
): Promise<number> =>
  store.db.$count(submissions, and(sql`${submissions.status} = 'pending'`, groups[group](field)));

/** Rejects all of a group that waits for a field. */
export const rejectAll = (
  group: keyof typeof groups,
  {
    reason,
    at,
    winning_value = null,
    normalised_value,
    ...field
  }: Field & {
    reason: string;
    at: number;
    winning_value?: string | null;
    /** Only those of this value. */
    normalised_value?: string;
  },
): Statement =>
  decideWaiting(
    submissions,
    and(
      groups[group](field),
      normalised_value === undefined
        ? undefined
        : eq(submissions.normalised_value, normalised_value),
    ),
    { status: "rejected", reason, at },
    { winning_value },
  );

/** How many agents agree on one value of a field. */
export type ValueConfidence = Field & Pick<NewSubmission, "normalised_value" | "confidence">;

/** Sets the number of agreeing agents on all pending submissions of one value. Index: submissions_by_field. */
export function setConfidence(one: ValueConfidence): Statement {
  const sameValue = eq(submissions.normalised_value, one.normalised_value);
  return statement(
    builder
      .update(submissions)
      .set({ confidence: one.confidence })
      .where(and(votesOn(one), sameValue)),
  );
}

/** Says from which network a stored submission came. */
export const setNetwork = ({ id, network }: { id: number; network: string }): Statement =>
  statement(builder.update(submissions).set({ network }).where(eq(submissions.id, id)));

/** One submission by its id. */
export async function submissionById(
  store: Queryable,
  id: number,
): Promise<StoredSubmission | null> {
  const [found] = await store.db.select().from(submissions).where(eq(submissions.id, id));
  return found ?? null;
}
