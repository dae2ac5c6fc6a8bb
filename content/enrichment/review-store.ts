import {
  and,
  type Column,
  eq,
  getTableColumns,
  gt,
  lt,
  ne,
  notExists,
  sql,
  isNull,
} from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { FoundHistory } from "#content/contract/enrichment-answers.ts";
import { isStructured, type StructuredField } from "#content/contract/enrichment.ts";
import { publicName } from "#content/nonprofit/public-name.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { publicValue, tracedValues } from "#content/nonprofit/wire.ts";
import type { Expiry } from "#content/requests/kind.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { type Statement, countUpTo, doAll, inValues } from "#content/store/query.ts";
import { pendingFields, submissions } from "#content/store/tables/enrichment.ts";
import { nonprofits, provenance } from "#content/store/tables/nonprofits.ts";
import { rejectionReasons } from "./consensus.ts";
import {
  type Field,
  type StoredSubmission,
  decideWaiting,
  ofField,
  setConfidence,
  votesOn,
} from "./submission-store.ts";

const columns = getTableColumns(submissions);
const ofNonprofit = eq(nonprofits.id, submissions.nonprofit_id);
const isListed = ne(nonprofits.status, "withdrawn");

/** Literally the condition of the partial index submissions_for_review, so that SQLite uses it. */
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

/** Prose that waits for a person, oldest first, after the submission id `after`. Index: submissions_for_review. */
export const proseQueue = (
  store: Queryable,
  { after, limit }: { after: number; limit: number },
): Promise<StoredSubmission[]> => prose(store, after, limit).execute();

export const proseWaiting = (store: Queryable, max: number): Promise<number> =>
  store.db.$count(prose(store, 0, max).as("waiting"));

export type FieldOf = { nonprofit_id: number; field: StructuredField };
export type VotedField = FieldOf & { votes: StoredSubmission[] };

const votesMax = 20;

/** Fields with two or more pending values, after the field `after`. Index: pending_fields_contested. */
export async function contestedFields(
  store: Queryable,
  { after, limit }: { after: FieldOf | null; limit: number },
): Promise<VotedField[]> {
  const { nonprofit_id, field } = pendingFields;
  const isAfter = sql`(${nonprofit_id}, ${field}) > (${after?.nonprofit_id ?? 0}, ${after?.field ?? ""})`;
  const fields = await store.db
    .select({ nonprofit_id, field })
    .from(pendingFields)
    .where(and(sql`${pendingFields.pending} > 1`, isAfter))
    .orderBy(nonprofit_id, field)
    .limit(limit);
  return withVotes(store, fields, fieldVotes);
}

/** The number of fields on which agents disagree; counting stops at `max`. */
export const contestedWaiting = (store: Queryable, max: number): Promise<number> =>
  countUpTo(store, max, "SELECT 1 FROM pending_fields WHERE pending > 1");

/** The pending submissions of one field that count for consensus, oldest first. */
export const fieldVotes = (store: Queryable, field: Field): Promise<StoredSubmission[]> =>
  store.db
    .select()
    .from(submissions)
    .where(votesOn(field))
    .orderBy(submissions.id)
    .limit(votesMax)
    .execute();

/** The literal condition of the partial index submissions_disputing, so that SQLite uses it, without test data. */
const disputing = (
  s: Record<"status" | "audit_only" | "field_type" | "confidence" | "reason" | "test_data", Column>,
) => sql`${s.status} = 'pending' AND ${s.audit_only} = 1
  AND ${s.field_type} = 'structured' AND ${s.confidence} > 1 AND ${s.reason} IS NULL
  AND ${s.test_data} = 0`;

/** Whether agents made the field of a submission live. */
const madeByAgents = and(
  eq(provenance.nonprofit_id, submissions.nonprofit_id),
  eq(provenance.field, submissions.field),
  eq(provenance.set_by, "consensus"),
);

/** The first submission of each field in which two or more agents contradict a value that agents made live. */
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
 * Fields whose live value agents contradict, in order of the first contradicting submission, after the submission id
 * `after`. Index: submissions_disputing.
 */
export const disputes = async (
  store: Queryable,
  { after, limit }: { after: number; limit: number },
): Promise<VotedField[]> => withVotes(store, await disputed(store, after, limit), disputingVotes);

/** The number of fields in which agents contradict what agents made live; counting stops at `max`. */
export const disputesWaiting = (store: Queryable, max: number): Promise<number> =>
  store.db.$count(disputed(store, 0, max).as("waiting"));

/** The submissions that contradict the live value of one field, oldest first. */
export const disputingVotes = (store: Queryable, field: Field): Promise<StoredSubmission[]> =>
  store.db
    .select(columns)
    .from(submissions)
    .innerJoin(provenance, madeByAgents)
    .where(and(ofField(field), disputing(submissions)))
    .orderBy(submissions.id)
    .limit(votesMax)
    .execute();

async function withVotes(
  store: Queryable,
  fields: readonly Field[],
  votesOf: typeof fieldVotes,
): Promise<VotedField[]> {
  const votedFields: VotedField[] = [];
  for (const { nonprofit_id, field } of fields) {
    if (!isStructured(field)) continue;
    const place = { nonprofit_id, field };
    votedFields.push({ ...place, votes: await votesOf(store, place) });
  }
  return votedFields;
}

/**
 * Rejects the values and texts that have waited longest, and lowers the confidence of pending ones with the same value.
 * Returns how many were rejected. Index: submissions_waiting.
 */
export async function expireSubmissions(tx: WriteTransaction, { before, at, limit }: Expiry) {
  const { id, created_at, confidence, nonprofit_id, field, normalised_value } = submissions;
  const waits = sql`${submissions.status} = 'pending' AND ${submissions.audit_only} = 0`;
  const old = await tx.db
    .select({ id, confidence, nonprofit_id, field, normalised_value })
    .from(submissions)
    .where(and(waits, lt(created_at, before)))
    .orderBy(created_at)
    .limit(limit);
  const ids = old.map((submission) => submission.id);
  const reason = rejectionReasons.expired;
  const decision = { status: "rejected", reason, at } as const;
  const { rowsAffected } = await tx.raw.execute(
    decideWaiting(submissions, inValues(id, ids), decision),
  );
  for (const submission of old) {
    if (submission.confidence === 1) continue;
    const same = and(votesOn(submission), eq(normalised_value, submission.normalised_value));
    const remaining = await tx.db.$count(submissions, same);
    await doAll(tx, [setConfidence({ ...submission, confidence: Math.max(1, remaining) })]);
  }
  return rowsAffected;
}

/** Marks a queued prose submission as live. `edited` is the operator's version, null when the operator changed nothing. */
export const applyProse = (id: number, edited: string | null, at: number): Statement =>
  decideWaiting(
    submissions,
    eq(submissions.id, id),
    { status: "applied", reason: null, at },
    { applied_at: at, winning_value: edited },
  );

const contestedVotesMax = 100;

/**
 * The fields of a nonprofit on which agents disagree with each other, or at least two agents with the live value: all sides,
 * the live one first. This is as public as second opinions are. Index: submissions_by_field.
 */
export async function contestedOf(
  store: Queryable,
  record: NonprofitRecord,
): Promise<FoundHistory["contested"]> {
  const s = submissions;
  const votes = await store.db
    .select()
    .from(s)
    .where(
      and(
        eq(s.nonprofit_id, record.id),
        eq(s.status, "pending"),
        eq(s.field_type, "structured"),
        eq(s.test_data, 0),
        isNull(s.reason),
      ),
    )
    .orderBy(s.id)
    .limit(contestedVotesMax);
  return [...Map.groupBy(votes, ({ field }) => field)].flatMap(([field, votesOfField]) => {
    const live = tracedValues({ ...record }, [field])?.[field] ?? null;
    // A single agent does not contradict a live value.
    const sides = [
      ...Map.groupBy(votesOfField, ({ normalised_value }) => normalised_value).values(),
    ]
      .filter((side) => side.some((vote) => vote.audit_only === 0 || vote.confidence > 1))
      .map((side) => ({
        value: publicValue(field, side[0]?.value ?? ""),
        agents: [...new Set(side.map(publicName))],
      }))
      .filter(({ value }) => value !== live);
    const values = live === null ? sides : [{ value: live, agents: [] }, ...sides];
    return values.length < 2 ? [] : { field, values };
  });
}
