import type { ResultSet } from "@libsql/client";
import { type SQL, and, eq, isNull, sql } from "drizzle-orm";
import { z } from "zod";
import {
  type FieldType,
  type SubmissionStatus,
  enrichableFields,
  fieldTypeOf,
  isRowField,
  isStructured,
} from "#content/contract/enrichment.ts";
import { yieldsToAgents } from "#content/nonprofit/provenance.ts";
import { inConsensus } from "#content/nonprofit/record-store.ts";
import type { Queryable } from "#content/store/open.ts";
import {
  type Statement,
  builder,
  columnNames,
  jsonOf,
  jsonText,
  queryEach,
  rowShape,
  rowShapeWith,
  statement,
} from "#content/store/query.ts";
import { agentKeys, submissions } from "#content/store/tables/enrichment.ts";
import { nonprofits, provenance } from "#content/store/tables/nonprofits.ts";
import { type Agent, foldAgentId, nameKey } from "./agent.ts";
import { automaticReasons } from "./consensus.ts";
import type { recommendationDrafts } from "#content/store/tables/recommendations.ts";

// Queries that run for every submission are plain SQL: through drizzle they take three times as long.

/** A submission as it is stored. Instants are milliseconds since 1970. */
export type StoredSubmission = typeof submissions.$inferSelect;
export type NewSubmission = Omit<StoredSubmission, "id">;
const columns = columnNames(submissions);
const submissionRow = rowShape(submissions, columns);

/** What the rules need of a pending submission, and the value that would go live. */
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
  /** The live value; null when the field is empty or its value yields to agents. */
  live: z.string().nullable(),
  /** This agent's newest submission of this value that was not rejected. */
  own: submissionRow.nullable(),
  /** The pending submissions of an open field: at least those of this agent and those of this value. */
  votes: z.array(rowShape(submissions, voteColumns)),
  /**
   * How many distinct agents sent this value where agreement decides nothing (audit, prose). The newest such submission
   * stores the number, so nothing is counted.
   */
  agent_count: z.number(),
  /** The stored refusal of this text by a person; null if there is none, and for structured fields. */
  refused: submissionRow.nullable(),
  /** 1 when any agent's submission for the field was rejected. */
  any_rejected: z.number(),
});
export type FieldState = z.infer<typeof FieldState>;

const targetColumns = ["id", "slug", "name", "status"] as const;
const keyColumns = ["secret_digest", "revoked_at", "approved_name"] as const;
const targetParts = {
  /** Who owns the agent's id, or an approved name that reads like it; null when the id is free. */
  agent_key: jsonText(rowShape(agentKeys, keyColumns)).nullable(),
  /** 1 when the agent's name is an id that another agent owns or owned, or reads like its approved name. */
  names_another: z.number(),
};
const targetRow = rowShapeWith(nonprofits, targetColumns, targetParts);
/** What enrichment needs to know of a nonprofit and of the agent. */
export type EnrichTarget = z.infer<typeof targetRow>;

/** The columns from which `yieldsToAgents` decides whether agents may replace the value. */
const originColumns = ["rule", "source", "applied_at"] as const;
const fieldStateRow = rowShapeWith(nonprofits, targetColumns, {
  ...targetParts,
  state: jsonText(FieldState.extend({ origin: rowShape(provenance, originColumns).nullable() })),
});

/** An agent's value for a field of the nonprofit with this slug; `created_at` is the instant of the request. */
type Value = Agent &
  Pick<NewSubmission, "field" | "normalised_value" | "created_at"> & { slug: string };

/** The most pending submissions read for one field, those of this agent and of this value first. */
const votesMax = 50;

const agentCountSql = (status: "pending" | "applied") => `SELECT confidence FROM submissions
    WHERE nonprofit_id = n.id AND field = call.field AND status = '${status}' AND normalised_value = call.normalised_value
    ORDER BY id DESC
    LIMIT 1`;

/** Literally the condition of the partial index one_pending_text_per_agent, so that SQLite uses it. */
const waitingText = "status = 'pending' AND audit_only = 0 AND field_type = 'prose'";

// ORDER BY cannot refer to the outer query, so the two flags are selected as columns.
const votesSql = (index: string, waitingSql: string, selection: readonly string[]) =>
  `SELECT ${selection.join(", ")}, agent_id = call.agent_id AS is_own, normalised_value = call.normalised_value AS is_same
      FROM submissions INDEXED BY ${index}
      WHERE nonprofit_id = n.id AND field = call.field AND ${waitingSql}
      ORDER BY is_own DESC, is_same DESC, id
      LIMIT ${votesMax}`;

const callColumns = [
  "slug",
  "field",
  "normalised_value",
  "agent_id",
  "named",
  "id_key",
  "named_key",
] as const;
// Prose fields too: a new text is audit-only if the profile has a text.
const liveSql = enrichableFields
  .filter((field) => !isRowField(field))
  .map((field) => `WHEN '${field}' THEN CAST(n.${field} AS TEXT)`)
  .join(" ");

const fieldStateSql = ({ votes, refusedSql }: { votes: string; refusedSql: string }) => `
  WITH calls AS MATERIALIZED (SELECT key AS call_index, ${callColumns.map((name, at) => `value ->> ${at} AS ${name}`).join(", ")} FROM json_each(?1))
  SELECT call.call_index, ${targetColumns.map((column) => `n.${column}`).join(", ")},
    coalesce(
      (SELECT ${jsonOf(keyColumns)} FROM agent_keys WHERE agent_id = call.agent_id),
      (SELECT ${jsonOf(keyColumns)} FROM agent_keys WHERE agent_id = call.id_key)
    ) AS agent_key,
    EXISTS (SELECT 1 FROM agent_keys WHERE agent_id IN (call.named, call.named_key) AND agent_id <> call.agent_id) AS names_another, json_object(
  'live', nullif(CASE call.field ${liveSql} END, ''),
  'origin', (SELECT ${jsonOf(originColumns)} FROM provenance WHERE nonprofit_id = n.id AND field = call.field),
  'own', (
    SELECT ${jsonOf(columns)} FROM submissions
    WHERE agent_id = call.agent_id AND nonprofit_id = n.id AND field = call.field AND normalised_value = call.normalised_value AND status <> 'rejected'
    ORDER BY id DESC
    LIMIT 1
  ),
  'votes', (
    SELECT json_group_array(${jsonOf(voteColumns)}) FROM (
      ${votes}
    )
  ),
  'refused', (${refusedSql}),
  'any_rejected', EXISTS (SELECT 1 FROM submissions WHERE nonprofit_id = n.id AND field = call.field AND status = 'rejected'),
  'agent_count', coalesce((${agentCountSql("pending")}), (${agentCountSql("applied")}), 0)
) AS state
FROM calls AS call CROSS JOIN nonprofits AS n ON n.slug = call.slug`;

const stateSql: Readonly<Record<FieldType, string>> = {
  structured: fieldStateSql({
    votes: votesSql("one_pending_per_agent_and_field", inConsensus, voteColumns),
    refusedSql: "NULL",
  }),
  prose: fieldStateSql({
    // Leave out the values of texts: they are long, and no rule looks at them.
    votes: votesSql(
      "one_pending_text_per_agent",
      waitingText,
      voteColumns.map((column) => (column === "value" ? "'' AS value" : column)),
    ),
    refusedSql: `SELECT ${jsonOf(columns)} FROM submissions
    WHERE nonprofit_id = n.id AND field = call.field AND status = 'rejected' AND normalised_value = call.normalised_value
      AND reason NOT IN (${automaticReasons.map((reason) => `'${reason}'`).join(", ")})
    ORDER BY id DESC
    LIMIT 1`,
  }),
};

/**
 * The nonprofit with a slug, even a withdrawn one, with the state of the agent and of the field for which a value came in;
 * null for an unknown slug. It is one statement because for a server each round trip costs more than the query. Indexes:
 * nonprofits_slug, submissions_by_agent, submissions_by_field, the key of agent_keys.
 */
export async function fieldState(
  store: Queryable,
  submission: Value,
): Promise<{ target: EnrichTarget; state: FieldState } | null> {
  const { slug, field, normalised_value, agent_id, agent_name, created_at } = submission;
  const namedAgent = agent_name === agent_id ? agent_id : foldAgentId(agent_name);
  const keys = [nameKey(agent_id), nameKey(namedAgent)];
  const args = [slug, field, normalised_value, agent_id, namedAgent, ...keys];
  const row = await queryEach(store, stateSql[fieldTypeOf(field)], args, fieldStateRow);
  if (row === undefined) return null;
  const { state: storedState, ...target } = row;
  const { origin, ...state } = storedState;
  const yields = isStructured(field) && yieldsToAgents(origin ?? undefined, created_at);
  return { target, state: yields ? { ...state, live: null } : state };
}

export type Field = Pick<StoredSubmission, "nonprofit_id" | "field">;

/** The submissions of a field, as a condition of drizzle. */
export const ofField = ({ nonprofit_id, field }: Field): SQL | undefined =>
  and(eq(submissions.nonprofit_id, nonprofit_id), eq(submissions.field, field));

/** The submissions of a field that count for consensus. */
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

const rejectionsMax = 5;
/** A value that went live and was reverted lost to no other, so its own live value is not shown as the winner. */
const winningValue = "iif(applied_at IS NULL, winning_value, NULL) AS winning_value";
const rejectionsSql = `SELECT ${rejectionColumns.map((column) => (column === "winning_value" ? winningValue : column)).join(", ")} FROM submissions
  WHERE nonprofit_id = ? AND field = ? AND status = 'rejected' AND test_data = 0 AND decided_at <= ?
  ORDER BY decided_at DESC, id DESC
  LIMIT ${rejectionsMax}`;

/**
 * A query for the latest rejected submissions of a field at an instant, newest first, without test data and messages. Index:
 * submissions_rejected.
 */
export const priorRejections = ({
  nonprofit_id,
  field,
  at,
}: Field & { at: number }): Statement => ({
  sql: rejectionsSql,
  args: [nonprofit_id, field, at],
});

/** Reads the rows of `priorRejections`. */
export const rejectionsOf = (result: Pick<ResultSet, "rows"> | undefined): Rejection[] =>
  (result?.rows ?? []).map((row) => rejectionRow.parse(row));

const newColumns = columns.filter((column) => column !== "id");
const insertSql = `INSERT INTO submissions (${newColumns.join(", ")}) VALUES (${newColumns.map(() => "?").join(", ")})`;

/** Stores a submission. Triggers update all counters. */
export const insertSubmission = (submission: NewSubmission): Statement => ({
  sql: insertSql,
  args: newColumns.map((column) => submission[column]),
});

/** `reason` is public; `at` is an instant in milliseconds since 1970. */
export type SubmissionRejection = Pick<StoredSubmission, "id" | "winning_value"> & {
  reason: string;
  at: number;
};

/** Rejects one pending submission. */
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

/** The groups that can be rejected for a field: the votes, what contradicts the live value, or the texts. */
const groups = {
  votes: votesOn,
  disputes: (field: Field) =>
    and(ofField(field), eq(submissions.audit_only, 1), isNull(submissions.reason)),
  texts: (field: Field) => and(ofField(field), eq(submissions.audit_only, 0)),
} as const satisfies Record<string, (field: Field) => SQL | undefined>;

/** The number of pending submissions of a group for a field. */
export const waitingIn = (
  store: Queryable,
  group: keyof typeof groups,
  field: Field,
): Promise<number> =>
  store.db.$count(submissions, and(sql`${submissions.status} = 'pending'`, groups[group](field)));

/** Rejects all pending submissions of a group for a field. */
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
    /** Reject only submissions of this value. */
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

export type ValueConfidence = Field & Pick<NewSubmission, "normalised_value" | "confidence">;

/** Sets the number of agreeing agents on all pending submissions of one value. Index: submissions_by_field. */
export function setConfidence(valueConfidence: ValueConfidence): Statement {
  const sameValue = eq(submissions.normalised_value, valueConfidence.normalised_value);
  return statement(
    builder
      .update(submissions)
      .set({ confidence: valueConfidence.confidence })
      .where(and(votesOn(valueConfidence), sameValue)),
  );
}

/** Records from which network a stored submission came. */
export const setNetwork = ({ id, network }: { id: number; network: string }): Statement =>
  statement(builder.update(submissions).set({ network }).where(eq(submissions.id, id)));

export async function submissionById(
  store: Queryable,
  id: number,
): Promise<StoredSubmission | null> {
  const [row] = await store.db.select().from(submissions).where(eq(submissions.id, id));
  return row ?? null;
}

/** Proposals are stored in two tables with the same states: values of fields, and drafts of recommendations. */
type Proposals = typeof submissions | typeof recommendationDrafts;

type ProposalDecision = {
  status: Exclude<SubmissionStatus, "pending">;
  /** The reason of a rejection is public. */
  reason: string | null;
  at: number;
};

/** The columns that a decision sets. An agent's network is kept only while its proposal waits. */
export const decisionColumns = ({ status, reason, at }: ProposalDecision) => ({
  status,
  reason,
  decided_at: at,
  network: null,
});

/** Decides pending proposals; an earlier decision is never overwritten. `also` sets columns that only this table has. */
export const decideWaiting = <Table extends Proposals>(
  table: Table,
  which: SQL | undefined,
  decision: ProposalDecision,
  also: Partial<Table["$inferInsert"]> = {},
): Statement =>
  statement(
    builder
      .update<Proposals>(table)
      .set({ ...also, ...decisionColumns(decision) })
      // A literal: partial indexes depend on it, and with a parameter SQLite plans the statement again each time.
      .where(and(sql`${table.status} = 'pending'`, which)),
  );

/** Positions of the statements whose inserted row ids belong in the outcome. `changeStatement` null: the sequence is known. */
export type StoreIds = { ids: { item: number; at: number }[]; changeStatement: number | null };

/** The stored answer of an Idempotency-Key, with the ids of the inserted rows: SQL knows that they are the highest. */
export function storeIdsSql(json: string, { ids, changeStatement }: StoreIds): SQL {
  const numbers = ids.map(
    ({ item }, nth) =>
      sql`, ${`$.items[${item}].id`}, (SELECT max(id) FROM submissions) - ${ids.length - 1 - nth}`,
  );
  if (changeStatement !== null)
    numbers.push(sql`, '$.sequence', (SELECT max(sequence) FROM changes)`);
  return sql`json_set(${json}${sql.join(numbers)})`;
}
