import {
  and,
  type Column,
  eq,
  getTableColumns,
  gt,
  isNull,
  lt,
  ne,
  notExists,
  sql,
} from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import {
  type EnrichableField,
  isStructured,
  type StructuredField,
} from "#content/contract/enrichment.ts";
import { countUpTo } from "#content/store/query.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { inConsensus } from "#content/nonprofit/pending-store.ts";
import { pendingFields, submissions } from "#content/store/tables/enrichment.ts";
import { nonprofits, provenance } from "#content/store/tables/nonprofits.ts";
import { decideWaiting } from "./proposal-store.ts";
import type { StoredSubmission } from "./submission-store.ts";

/** A submission with the nonprofit it is for. */
export type QueuedSubmission = StoredSubmission & { slug: string; name: string };

const columns = {
  ...getTableColumns(submissions),
  slug: nonprofits.slug,
  name: nonprofits.name,
};
const ofNonprofit = eq(nonprofits.id, submissions.nonprofit_id);
const isListed = ne(nonprofits.status, "withdrawn");

/** Says literally what the partial index submissions_for_review says, so that SQLite uses it. */
const waitingProse = sql`${submissions.field_type} = 'prose' AND ${submissions.status} = 'pending'
  AND ${submissions.audit_only} = 0`;

const prose = (store: Queryable, after: number, limit: number) =>
  store.db
    .select(columns)
    .from(submissions)
    .innerJoin(nonprofits, ofNonprofit)
    .where(and(waitingProse, isListed, gt(submissions.id, after)))
    .orderBy(submissions.id)
    .limit(limit);

/** Prose that waits for a person, oldest first, after a submission's id. Index: submissions_for_review. */
export const proseQueue = (
  store: Queryable,
  { after, limit }: { after: number; limit: number },
): Promise<QueuedSubmission[]> => prose(store, after, limit).execute();

/** How many texts wait; stops counting at `max`. */
export const proseWaiting = (store: Queryable, max: number): Promise<number> =>
  store.db.$count(prose(store, 0, max).as("waiting"));

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

/** Says literally what the partial index submissions_disputing says, so that SQLite uses it. */
const disputing = (
  s: Record<"status" | "audit_only" | "field_type" | "confidence" | "reason", Column>,
) => sql`${s.status} = 'pending' AND ${s.audit_only} = 1
  AND ${s.field_type} = 'structured' AND ${s.confidence} > 1 AND ${s.reason} IS NULL`;

/** Whether agents made the field of a submission live. */
const madeByAgents = and(
  eq(provenance.nonprofit_id, submissions.nonprofit_id),
  eq(provenance.field, submissions.field),
  eq(provenance.set_by, "consensus"),
);

/** The first submission of each field on which two or more agents contradict a value that agents made live. */
const disputed = (store: Queryable, after: number, limit: number) => {
  const earlier = alias(submissions, "earlier");
  const isEarlier = and(
    eq(earlier.nonprofit_id, submissions.nonprofit_id),
    eq(earlier.field, submissions.field),
    lt(earlier.id, submissions.id),
    disputing(earlier),
  );
  return store.db
    .select(columns)
    .from(submissions)
    .innerJoin(nonprofits, ofNonprofit)
    .innerJoin(provenance, madeByAgents)
    .where(
      and(
        disputing(submissions),
        isListed,
        gt(submissions.id, after),
        notExists(store.db.select({ id: earlier.id }).from(earlier).where(isEarlier)),
      ),
    )
    .orderBy(submissions.id)
    .limit(limit);
};

/**
 * Fields whose live value agents contradict, by the first submission that does, after a submission's id. Index:
 * submissions_disputing.
 */
export async function disputes(
  store: Queryable,
  { after, limit }: { after: number; limit: number },
): Promise<WaitingField[]> {
  const found: WaitingField[] = [];
  for (const { nonprofit_id, field, slug, name } of await disputed(store, after, limit)) {
    if (!isStructured(field)) continue;
    const votes = await disputingVotes(store, { nonprofit_id, field });
    found.push({ nonprofit_id, field, slug, name, votes });
  }
  return found;
}

/** On how many fields agents contradict what agents made live; stops counting at `max`. */
export const disputesWaiting = (store: Queryable, max: number): Promise<number> =>
  store.db.$count(disputed(store, 0, max).as("waiting"));

/** The submissions that contradict the live value of one field, oldest first. */
export const disputingVotes = (store: Queryable, one: FieldOf): Promise<StoredSubmission[]> =>
  store.db
    .select(getTableColumns(submissions))
    .from(submissions)
    .innerJoin(provenance, madeByAgents)
    .where(and(ofField(one), disputing(submissions)))
    .orderBy(submissions.id)
    .limit(votesMax)
    .execute();

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
