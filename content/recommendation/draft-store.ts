import {
  and,
  asc,
  countDistinct,
  desc,
  eq,
  getTableColumns,
  gt,
  inArray,
  like,
  lt,
  ne,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import { rejectionReasons } from "#content/enrichment/consensus.ts";
import { decisionColumns, decideWaiting } from "#content/enrichment/submission-store.ts";
import type { DraftStatus } from "#content/contract/recommendation.ts";
import type { Expiry } from "#content/requests/kind.ts";
import type { Queryable, WriteTransaction } from "#content/store/open.ts";
import { type Statement, builder, nextId, statement, valuesOf } from "#content/store/query.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { auditLog } from "#content/store/tables/operations.ts";
import { recommendationDrafts as drafts } from "#content/store/tables/recommendations.ts";

/** An agent's proposal to recommend a nonprofit. Instants are in milliseconds since 1970. */
export type StoredDraft = typeof drafts.$inferSelect;
export type QueuedDraft = StoredDraft & { slug: string; name: string };
export type SameIntents = Pick<StoredDraft, "nonprofit_id" | "normalised">;

const waitingMax = 500;
const ownMax = 20;

const sameIntents = ({ nonprofit_id, normalised }: SameIntents) =>
  and(eq(drafts.nonprofit_id, nonprofit_id), eq(drafts.normalised, normalised));
const agreedCondition = and(eq(drafts.status, "applied"), eq(drafts.decided_by, "consensus"));
const byOperator = like(drafts.decided_by, "operator:%");

const selectDrafts = (store: Queryable, which: SQL | undefined, order: SQL, limit: number) =>
  store.db.select().from(drafts).where(which).orderBy(order).limit(limit).execute();

/**
 * The waiting drafts of one nonprofit with the same donor intents, oldest first, at most 500. However many others wait,
 * these are found. Index: drafts_by_nonprofit.
 */
export const waitingDrafts = (store: Queryable, intents: SameIntents): Promise<StoredDraft[]> =>
  selectDrafts(
    store,
    and(sameIntents(intents), eq(drafts.status, "pending")),
    asc(drafts.id),
    waitingMax,
  );

/** How many of a nonprofit's waiting drafts came from one network. Index: drafts_by_nonprofit. */
export const waitingFrom = (
  store: Queryable,
  { nonprofit_id, network }: { nonprofit_id: number; network: string },
): Promise<number> => {
  const isFrom = and(eq(drafts.nonprofit_id, nonprofit_id), eq(drafts.network, network));
  return store.db.$count(drafts, and(isFrom, eq(drafts.status, "pending")));
};

/** An agent's drafts for a nonprofit that were not rejected, newest first. Index: drafts_by_nonprofit. */
export const ownDrafts = (
  store: Queryable,
  { nonprofit_id, agent_id }: Pick<StoredDraft, "nonprofit_id" | "agent_id">,
): Promise<StoredDraft[]> => {
  const isOwn = and(eq(drafts.nonprofit_id, nonprofit_id), eq(drafts.agent_id, agent_id));
  return selectDrafts(store, and(isOwn, ne(drafts.status, "rejected")), desc(drafts.id), ownMax);
};

/** Whether an operator rejected a draft of this nonprofit, or removed its recommendation. */
export async function operatorRefused(
  store: Queryable,
  { nonprofit_id, slug }: Pick<QueuedDraft, "nonprofit_id" | "slug">,
): Promise<boolean> {
  const isOf = eq(drafts.nonprofit_id, nonprofit_id);
  const isRejection = and(isOf, eq(drafts.status, "rejected"), byOperator);
  const isRemoval = and(eq(auditLog.subject, slug), eq(auditLog.action, "pick.removed"));
  const rejections = await valuesOf(store, drafts.id, isRejection, { limit: 1 });
  const removals = await valuesOf(store, auditLog.id, isRemoval, { limit: 1 });
  return rejections.length + removals.length > 0;
}

export type RefusedDraft = Awaited<ReturnType<typeof refusedDrafts>>[number];

const refusedMax = 5;

/** Drafts for a nonprofit that operators rejected or revoked, newest first, at most 5. Index: drafts_by_nonprofit. */
export async function refusedDrafts(store: Queryable, nonprofit_id: number) {
  const { agent_id, agent_name, recommended_for, reason, decided_at } = drafts;
  const rows = await store.db
    .select({ agent_id, agent_name, recommended_for, reason, decided_at })
    .from(drafts)
    .where(
      and(
        eq(drafts.nonprofit_id, nonprofit_id),
        eq(drafts.status, "rejected"),
        or(byOperator, like(drafts.decided_by, "revert:%")),
      ),
    )
    .orderBy(desc(decided_at), desc(drafts.id))
    .limit(refusedMax);
  return rows.map((row) => ({ ...row, decided_at: row.decided_at ?? 0 }));
}

/** How many other agents' drafts have the same donor intents: those that wait and those that agreed. */
export const agentsBehindDraft = (
  store: Queryable,
  intents: SameIntents,
  { besides = "" } = {},
): Promise<number> =>
  agentsOf(
    store,
    and(sameIntents(intents), ne(drafts.status, "rejected"), ne(drafts.agent_id, besides)),
  );

/** How many agents, without one draft's, agreed on a recommendation. Index: drafts_by_nonprofit. */
export const agentsAgreed = (
  store: Queryable,
  intents: SameIntents,
  { besides }: { besides: number },
): Promise<number> =>
  agentsOf(store, and(sameIntents(intents), agreedCondition, ne(drafts.id, besides)));

async function agentsOf(store: Queryable, which: SQL | undefined): Promise<number> {
  const [row] = await store.db
    .select({ agents: countDistinct(drafts.agent_id) })
    .from(drafts)
    .where(which);
  return row?.agents ?? 0;
}

export async function draftById(store: Queryable, id: number): Promise<StoredDraft | null> {
  const [draft] = await store.db.select().from(drafts).where(eq(drafts.id, id));
  return draft ?? null;
}

const withNonprofit = { ...getTableColumns(drafts), slug: nonprofits.slug, name: nonprofits.name };

const selectQueue = (store: Queryable, which: SQL | undefined, limit: number) =>
  store.db
    .select(withNonprofit)
    .from(drafts)
    .innerJoin(nonprofits, eq(nonprofits.id, drafts.nonprofit_id))
    .where(which)
    .orderBy(drafts.id)
    .limit(limit);

/** Literally the condition of the partial index drafts_for_review, so that SQLite uses it. */
const forReview = and(sql`${drafts.status} = 'pending'`, sql`${nonprofits.status} <> 'withdrawn'`);

/** Drafts that wait for an operator, oldest first, after the draft with this id. Index: drafts_for_review. */
export const draftQueue = (
  store: Queryable,
  { after, limit }: { after: number; limit: number },
): Promise<QueuedDraft[]> =>
  selectQueue(store, and(forReview, gt(drafts.id, after)), limit).execute();

/** How many wait for an operator; counting stops at `max`. Index: drafts_for_review. */
export const waitingDraftCount = (store: Queryable, max: number): Promise<number> =>
  store.db.$count(selectQueue(store, forReview, max).as("waiting"));

/** An agent's drafts that went live by agreement, by id. Scans the table: for an operator's command. */
export const agreedDraftsOf = (
  store: Queryable,
  agentId: string,
  limit: number,
): Promise<QueuedDraft[]> =>
  selectQueue(store, and(eq(drafts.agent_id, agentId), agreedCondition), limit).execute();

/** The id of the next draft, valid until another is stored. */
export const nextDraftId = (store: Queryable): Promise<number> => nextId(store, drafts);

export function insertDraft(draft: Omit<StoredDraft, "reason" | "decided_at">): Statement {
  const decided_at = draft.status === "pending" ? null : draft.created_at;
  return statement(builder.insert(drafts).values({ ...draft, decided_at }));
}

export type DraftClosing = {
  status: Exclude<DraftStatus, "pending">;
  reason: string | null;
  /** "operator:<name>", "consensus", or "agent" if the agent itself replaced it. */
  decided_by: string;
  at: number;
};

/** Decides a waiting draft; an earlier decision stays. */
export const closeDraft = (id: number, { decided_by, ...decision }: DraftClosing): Statement =>
  decideWaiting(drafts, eq(drafts.id, id), decision, { decided_by });

/** Rejects the drafts that have waited longest. Returns how many. Index: drafts_for_review. */
export async function expireDrafts(
  tx: WriteTransaction,
  { before, at, limit }: Expiry,
): Promise<number> {
  const old = builder
    .select({ id: drafts.id })
    .from(drafts)
    .where(and(sql`${drafts.status} = 'pending'`, lt(drafts.created_at, before)))
    .orderBy(drafts.id)
    .limit(limit);
  const decision = { status: "rejected", reason: rejectionReasons.expired, at } as const;
  const { rowsAffected } = await tx.raw.execute(
    decideWaiting(drafts, inArray(drafts.id, old), decision, { decided_by: "expiry" }),
  );
  return rowsAffected;
}

/** Closes all waiting drafts with the same donor intents as one that an operator approved. */
export function applyAgreeing(
  intents: SameIntents,
  { decided_by, at }: Pick<DraftClosing, "decided_by" | "at">,
): Statement {
  const decision = { status: "applied", reason: null, at } as const;
  return decideWaiting(drafts, sameIntents(intents), decision, { decided_by });
}

/** Revokes the agreement behind a nonprofit's recommendation, when that is removed. */
export const rejectApplied = (
  nonprofit_id: number,
  decision: Omit<DraftClosing, "status">,
): Statement =>
  takeBack(and(eq(drafts.nonprofit_id, nonprofit_id), eq(drafts.status, "applied")), decision);

/** Revokes agreement on these donor intents: one draft's, or everyone's if id is null. */
export const rejectAgreed = (
  { id, ...intents }: SameIntents & { id: number | null },
  decision: Omit<DraftClosing, "status">,
): Statement =>
  takeBack(
    and(sameIntents(intents), agreedCondition, id === null ? undefined : eq(drafts.id, id)),
    decision,
  );

function takeBack(
  which: SQL | undefined,
  { decided_by, ...decision }: Omit<DraftClosing, "status">,
): Statement {
  const rejectedColumns = { ...decisionColumns({ status: "rejected", ...decision }), decided_by };
  return statement(builder.update(drafts).set(rejectedColumns).where(which));
}
