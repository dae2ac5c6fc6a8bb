import type { Row } from "@libsql/client";
import type { EnrichableField, StructuredField } from "#content/contract/enrichment.ts";
import { countUpTo } from "#content/store/query.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { inConsensus } from "#content/nonprofit/pending-store.ts";
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

/** An operator sees at most so many of the values on one field. */
const votesMax = 20;

/** Fields on which agents disagree: two or more pending values; after a field. Index: pending_fields_contested. */
export async function contestedFields(
  store: Queryable,
  { after, limit }: { after: FieldOf | null; limit: number },
): Promise<WaitingField[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT p.nonprofit_id, p.field, n.slug, n.name
          FROM pending_fields AS p
          JOIN nonprofits AS n ON n.id = p.nonprofit_id
          WHERE p.pending > 1 AND (p.nonprofit_id, p.field) > (?, ?)
          ORDER BY p.nonprofit_id, p.field
          LIMIT ?`,
    args: [after?.nonprofit_id ?? 0, after?.field ?? "", limit],
  });
  const fields = rows.map((row) => ({ ...row }) as unknown as Omit<WaitingField, "votes">);
  const found: WaitingField[] = [];
  for (const one of fields) found.push({ ...one, votes: await fieldVotes(store, one) });
  return found;
}

/** On how many fields agents disagree; stops counting at `max`. */
export const contestedWaiting = (store: Queryable, max: number): Promise<number> =>
  countUpTo(store, max, "SELECT 1 FROM pending_fields WHERE pending > 1");

/** The pending submissions of one field that take part in consensus, oldest first. */
export async function fieldVotes(store: Queryable, one: FieldOf): Promise<StoredSubmission[]> {
  const { rows } = await store.raw.execute({
    sql: `SELECT * FROM submissions
          WHERE nonprofit_id = ? AND field = ? AND ${inConsensus}
          ORDER BY id
          LIMIT ${votesMax}`,
    args: [one.nonprofit_id, one.field],
  });
  return rows.map((row) => ({ ...row }) as unknown as StoredSubmission);
}

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

/** Rejects what contradicts a live value that an operator confirmed. Answers how many submissions that were. */
export async function rejectDisputes(
  tx: WriteTransaction,
  { nonprofit_id, field, reason, at }: FieldOf & { reason: string; at: number },
): Promise<number> {
  const { rowsAffected } = await tx.raw.execute({
    sql: `UPDATE submissions AS s SET status = 'rejected', reason = ?, decided_at = ?
          WHERE nonprofit_id = ? AND field = ? AND s.status = 'pending' AND s.audit_only = 1 AND s.reason IS NULL`,
    args: [reason, at, nonprofit_id, field],
  });
  return rowsAffected;
}

/** Rejects all that is pending for a field. Answers how many submissions that were. */
export async function rejectPending(
  tx: WriteTransaction,
  { nonprofit_id, field, reason, at }: FieldOf & { reason: string; at: number },
): Promise<number> {
  const { rowsAffected } = await tx.raw.execute({
    sql: `UPDATE submissions SET status = 'rejected', reason = ?, decided_at = ?, network = NULL
          WHERE nonprofit_id = ? AND field = ? AND ${inConsensus}`,
    args: [reason, at, nonprofit_id, field],
  });
  return rowsAffected;
}

/** Marks a queued prose submission as live. `edited` is what the operator made of it, null when it was left as it is. */
export async function applyProse(
  tx: WriteTransaction,
  { id, edited, at }: { id: number; edited: string | null; at: number },
): Promise<void> {
  await tx.raw.execute({
    sql: `UPDATE submissions SET status = 'applied', applied_at = ?, decided_at = ?, winning_value = ?
          WHERE id = ? AND status = 'pending'`,
    args: [at, at, edited, id],
  });
}

/** Rejects the other texts that wait for a field which now has one. Answers how many. */
export async function rejectOtherProse(
  tx: WriteTransaction,
  one: {
    nonprofit_id: number;
    field: EnrichableField;
    winning_value: string;
    reason: string;
    at: number;
  },
): Promise<number> {
  const { rowsAffected } = await tx.raw.execute({
    sql: `UPDATE submissions SET status = 'rejected', reason = ?, winning_value = ?, decided_at = ?
          WHERE nonprofit_id = ? AND field = ? AND status = 'pending' AND audit_only = 0`,
    args: [one.reason, one.winning_value, one.at, one.nonprofit_id, one.field],
  });
  return rowsAffected;
}
