import type { Row } from "@libsql/client";
import { and, eq, isNull, sql } from "drizzle-orm";
import {
  type EnrichableField,
  isStructured,
  type StructuredField,
} from "#content/contract/enrichment.ts";
import { countUpTo } from "#content/store/query.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { inConsensus } from "#content/nonprofit/pending-store.ts";
import { pendingFields, submissions } from "#content/store/tables/enrichment.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { decideWaiting } from "./proposal-store.ts";
import type { StoredSubmission } from "./submission-store.ts";

/** A submission with the nonprofit it is for. */
export type QueuedSubmission = StoredSubmission & { slug: string; name: string };

const columns = "s.*, n.slug, n.name";

const queued = (rows: readonly Row[]): QueuedSubmission[] =>
  rows.map((row) => ({ ...row }) as unknown as QueuedSubmission);

const waitingProse = `s.field_type = 'prose' AND s.status = 'pending' AND s.audit_only = 0`;

/** Prose that waits for a person, oldest first, after a submission's id. Index: submissions_for_review. */
export async function proseQueue(
  store: Queryable,
  { after, limit }: { after: number; limit: number },
): Promise<QueuedSubmission[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT ${columns}
          FROM submissions AS s INDEXED BY submissions_for_review
          JOIN nonprofits AS n ON n.id = s.nonprofit_id
          WHERE ${waitingProse} AND s.id > ? AND n.status <> 'withdrawn'
          ORDER BY s.id
          LIMIT ?`,
    args: [after, limit],
  });
  return queued(rows);
}

/** How many texts wait; stops counting at `max`. */
export const proseWaiting = (store: Queryable, max: number): Promise<number> =>
  countUpTo(
    store,
    max,
    `SELECT 1
     FROM submissions AS s INDEXED BY submissions_for_review
     JOIN nonprofits AS n ON n.id = s.nonprofit_id
     WHERE ${waitingProse} AND n.status <> 'withdrawn'`,
  );

export type FieldOf = { nonprofit_id: number; field: StructuredField };
export type WaitingField = FieldOf & { slug: string; name: string; votes: StoredSubmission[] };

/** An operator sees at most this many of the values on one field. */
const votesMax = 20;

/** Fields on which agents disagree: two or more pending values; after a field. Index: pending_fields_contested. */
export async function contestedFields(
  store: Queryable,
  { after, limit }: { after: FieldOf | null; limit: number },
): Promise<WaitingField[]> {
  const { nonprofit_id, field } = pendingFields;
  const isAfter = sql`(${nonprofit_id}, ${field}) > (${after?.nonprofit_id ?? 0}, ${after?.field ?? ""})`;
  const fields = await store.db
    .select({ nonprofit_id, field, slug: nonprofits.slug, name: nonprofits.name })
    .from(pendingFields)
    .innerJoin(nonprofits, eq(nonprofits.id, nonprofit_id))
    .where(and(sql`${pendingFields.pending} > 1`, isAfter))
    .orderBy(nonprofit_id, field)
    .limit(limit);
  const found: WaitingField[] = [];
  for (const { field: name, ...row } of fields) {
    if (!isStructured(name)) continue;
    const one = { ...row, field: name };
    found.push({ ...one, votes: await fieldVotes(store, one) });
  }
  return found;
}

/** On how many fields agents disagree; stops counting at `max`. */
export const contestedWaiting = (store: Queryable, max: number): Promise<number> =>
  countUpTo(store, max, "SELECT 1 FROM pending_fields WHERE pending > 1");

/** The pending submissions of one field that take part in consensus, oldest first. */
export const fieldVotes = (store: Queryable, one: FieldOf): Promise<StoredSubmission[]> =>
  store.db
    .select()
    .from(submissions)
    .where(and(ofField(one), sql.raw(inConsensus)))
    .orderBy(submissions.id)
    .limit(votesMax)
    .execute();

const ofField = ({ nonprofit_id, field }: { nonprofit_id: number; field: EnrichableField }) =>
  and(eq(submissions.nonprofit_id, nonprofit_id), eq(submissions.field, field));

const disputing = (s: string) => `${s}.status = 'pending' AND ${s}.audit_only = 1
  AND ${s}.field_type = 'structured' AND ${s}.confidence > 1 AND ${s}.reason IS NULL`;

/** The first submission of each field on which two or more agents contradict a value that agents made live. */
const disputedFields = `FROM submissions AS s INDEXED BY submissions_disputing
  JOIN nonprofits AS n ON n.id = s.nonprofit_id
  JOIN provenance AS p ON p.nonprofit_id = s.nonprofit_id AND p.field = s.field
  WHERE ${disputing("s")} AND p.set_by = 'consensus' AND n.status <> 'withdrawn' AND NOT EXISTS (
    SELECT 1 FROM submissions AS e
    WHERE e.nonprofit_id = s.nonprofit_id AND e.field = s.field AND e.id < s.id AND ${disputing("e")}
  )`;

/**
 * Fields whose live value agents contradict, by the first submission that does, after a submission's id. Index:
 * submissions_disputing.
 */
export async function disputes(
  store: Queryable,
  { after, limit }: { after: number; limit: number },
): Promise<WaitingField[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT ${columns} ${disputedFields} AND s.id > ? ORDER BY s.id LIMIT ?`,
    args: [after, limit],
  });
  const found: WaitingField[] = [];
  for (const one of queued(rows)) {
    const { nonprofit_id, field, slug, name } = one as QueuedSubmission & FieldOf;
    const votes = await disputingVotes(store, { nonprofit_id, field });
    found.push({ nonprofit_id, field, slug, name, votes });
  }
  return found;
}

/** On how many fields agents contradict what agents made live; stops counting at `max`. */
export const disputesWaiting = (store: Queryable, max: number): Promise<number> =>
  countUpTo(store, max, `SELECT 1 ${disputedFields}`);

/** The submissions that contradict the live value of one field, oldest first. */
export async function disputingVotes(store: Queryable, one: FieldOf): Promise<StoredSubmission[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT s.*
          FROM submissions AS s
          JOIN provenance AS p ON p.nonprofit_id = s.nonprofit_id AND p.field = s.field
          WHERE s.nonprofit_id = ? AND s.field = ? AND ${disputing("s")} AND p.set_by = 'consensus'
          ORDER BY s.id
          LIMIT ${votesMax}`,
    args: [one.nonprofit_id, one.field],
  });
  return rows.map((row) => ({ ...row }) as unknown as StoredSubmission);
}

type FieldRejection = FieldOf & { reason: string; at: number };

/** Rejects what contradicts a live value that an operator confirmed. Answers how many submissions that were. */
export const rejectDisputes = (
  tx: WriteTransaction,
  { reason, at, ...field }: FieldRejection,
): Promise<number> => {
  const which = and(ofField(field), eq(submissions.audit_only, 1), isNull(submissions.reason));
  return decideWaiting(tx, submissions, which, { status: "rejected", reason, at });
};

/** Rejects all that is pending for a field. Answers how many submissions that were. */
export const rejectPending = (
  tx: WriteTransaction,
  { reason, at, ...field }: FieldRejection,
): Promise<number> => {
  const which = and(ofField(field), sql.raw(inConsensus));
  return decideWaiting(tx, submissions, which, { status: "rejected", reason, at });
};

/** Marks a queued prose submission as live. `edited` is what the operator made of it, null when it was left as it is. */
export async function applyProse(
  tx: WriteTransaction,
  { id, edited, at }: { id: number; edited: string | null; at: number },
): Promise<void> {
  const applied = { status: "applied", reason: null, at } as const;
  const also = { applied_at: at, winning_value: edited };
  await decideWaiting(tx, submissions, eq(submissions.id, id), applied, also);
}

/** Rejects the other texts that wait for a field which now has one. Answers how many. */
export const rejectOtherProse = (
  tx: WriteTransaction,
  {
    reason,
    at,
    winning_value,
    ...field
  }: {
    nonprofit_id: number;
    field: EnrichableField;
    winning_value: string;
    reason: string;
    at: number;
  },
): Promise<number> => {
  const which = and(ofField(field), eq(submissions.audit_only, 0));
  return decideWaiting(
    tx,
    submissions,
    which,
    { status: "rejected", reason, at },
    { winning_value },
  );
};
