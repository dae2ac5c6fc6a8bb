import { and, asc, eq, gt, isNull, lt, lte, ne, or, sql } from "drizzle-orm";
import { dayMs } from "#content/contract/base/time.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { type Statement, builder, countUpTo, statement, valuesOf } from "#content/store/query.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { onboardingSubmissions as onboarding } from "#content/store/tables/onboarding.ts";
import { mailOutbox as outbox } from "#content/store/tables/operations.ts";
import { requestStore } from "#content/requests/request-store.ts";
import { OnboardingRequest } from "./read.ts";

type Row = typeof onboarding.$inferSelect;

/** An organisation's request and its outcome. Instants in milliseconds since 1970. Private. */
export type Onboarding = Omit<Row, "request"> & { request: OnboardingRequest };

const fromRow = (row: Row): Onboarding => ({
  ...row,
  request: OnboardingRequest.parse(row.request),
});

/** Larger than any instant: the distance between two ranks of the queue. */
const rankMs = 100_000_000_000_000;

/**
 * The place of a request in the queue: lower numbers first, then lower ids. Claims with a proven host come before
 * registrations with one, whose sender names the host, and these before all others; within each, the oldest first.
 */
export const placeInQueue = ({ created_at, proven_host, nonprofit_id, id }: Onboarding) => {
  const rank = proven_host === null ? 2 : nonprofit_id === null ? 1 : 0;
  return { at: created_at + rank * rankMs, id };
};
const { request } = onboarding;
// The same as `placeInQueue`, in SQL.
const place = sql`${onboarding.created_at} + iif(${onboarding.proven_host} IS NULL, 2, ${onboarding.nonprofit_id} IS NULL) * ${rankMs}`;

/** Indexes: onboarding_by_status, onboarding_by_status_token, one_pending_submission_per_request, onboarding_to_erase, onboarding_waiting_for_nonprofit. */
export const onboardingStore = requestStore({
  kind: "onboarding",
  table: onboarding,
  read: fromRow,
  at: place,
  contact: {
    email: sql`${request} ->> 'contact_email'`,
    isKept: isNull(onboarding.erased_at),
    mayGo: sql`${onboarding.status} = 'rejected' AND ${onboarding.erased_at} IS NULL`,
    erased: (at) => ({
      request: sql`json_set(${request}, '$.contact_email', '', '$.contact_name', null)`,
      erased_at: at,
    }),
  },
});
const { first } = onboardingStore;

/** Whether another submission used this challenge. Index: one_submission_per_challenge. */
export const challengeIsUsed = async (store: Queryable, challenge: string): Promise<boolean> =>
  (await first(store, eq(onboarding.wallet_challenge, challenge))) !== null;

const gaveUpPlace =
  "Too many requests for this profile wait, so this one gave up its place unseen. Send it again, and prove control of the organisation's host: such a request keeps its place and is read first.";
const leftOutMax = 10_000;
const leftOutDays = 30;

/** Rejects a waiting request in favour of a newer one for the same profile, without anyone's decision. */
export const giveUpPlace = (id: string, at: number): Statement =>
  onboardingStore.close({
    id,
    status: "rejected",
    reason: gaveUpPlace,
    reviewed_by: null,
    reviewed_at: at,
  });

/** How many requests made room in the last 30 days; counting stops at 10,000. Index: onboarding_by_status. */
export const onboardingLeftOut = (store: Queryable, now: Date): Promise<number> =>
  countUpTo(
    store,
    leftOutMax,
    `SELECT 1 FROM onboarding_submissions
     WHERE status = 'rejected' AND created_at > ${now.getTime() - leftOutDays * dayMs} AND reason = '${gaveUpPlace.replaceAll("'", "''")}'`,
  );

/** Slugs of other nonprofits with this wallet, including withdrawn ones. Index: nonprofits_by_wallet. */
export const otherOwnersOf = (
  store: Queryable,
  wallet: string,
  nonprofitId: number | null,
): Promise<string[]> => {
  const { id, slug, usdc_wallet } = nonprofits;
  const isOther = and(eq(usdc_wallet, wallet), ne(id, nonprofitId ?? 0));
  return valuesOf(store, slug, isOther, { by: id, limit: 5 });
};

const mailPauseMs = 600_000;
const mailsPerDayMax = 10;

/**
 * Records that a link is sent to a mailbox at a host, whether or not it arrives. Null if one was sent for this request in
 * the last 10 minutes, or ten to this host in a day. Index: onboarding_mailed.
 */
export async function planMail(
  store: Queryable,
  { id, host, at }: { id: string; host: string; at: number },
): Promise<Statement | null> {
  const { mailed_at, mailed_host, mails } = onboarding;
  const recent = await store.db
    .select({ id: onboarding.id, mailed_at, mails })
    .from(onboarding)
    .where(and(eq(mailed_host, host), gt(mailed_at, at - dayMs)))
    .limit(mailsPerDayMax);
  const mailedAt = recent.find((mail) => mail.id === id)?.mailed_at ?? 0;
  const count = recent.reduce((sum, mail) => sum + mail.mails, 0);
  if (count >= mailsPerDayMax || at - mailedAt < mailPauseMs) return null;
  return statement(
    builder
      .update(onboarding)
      .set({ mailed_at: at, mailed_host: host, mails: sql`${mails} + 1` })
      .where(eq(onboarding.id, id)),
  );
}

/** Stores the result of a repeated search for duplicates. */
export const keepDuplicates = (id: string, duplicates: Row["duplicates"]): Statement =>
  statement(builder.update(onboarding).set({ duplicates }).where(eq(onboarding.id, id)));

/** Literally as in the partial index one_verification_per_nonprofit. */
const verifies = (nonprofitId: number) =>
  and(
    eq(onboarding.nonprofit_id, nonprofitId),
    sql`${onboarding.type} <> 'change' AND ${onboarding.status} = 'approved'`,
    isNull(onboarding.revoked_at),
  );

/** The approved request that verified a nonprofit, unless it was revoked. */
export const standingVerification = async (
  store: Queryable,
  nonprofitId: number,
): Promise<string | null> => (await first(store, verifies(nonprofitId)))?.id ?? null;

/** Records that a nonprofit's verification was revoked; another claim may then be approved. */
export const noteRevoked = (nonprofitId: number, at: number): Statement =>
  statement(builder.update(onboarding).set({ revoked_at: at }).where(verifies(nonprofitId)));

const endedKeptMs = 7 * dayMs;

export type Mail = typeof outbox.$inferSelect;

/** Queues a mail to the sender of a request. */
export const queueMail = (
  { id: submission_id, network, created_at }: Pick<Onboarding, "id" | "network" | "created_at">,
  address_seal: string,
): Statement => {
  const row = { submission_id, address_seal, network: network ?? "", created_at };
  const state = { told: "nothing", status: "pending", due_at: created_at } as const;
  return statement(builder.insert(outbox).values({ ...row, ...state }));
};

export type DueMail = Awaited<ReturnType<typeof dueMails>>[number];

/** The mails that are due, oldest first, each with its request. Index: mail_outbox_due. */
export const dueMails = (store: Queryable, now: number, limit: number) =>
  store.db
    .select({ mail: outbox, submission: onboarding })
    .from(outbox)
    .innerJoin(onboarding, eq(onboarding.id, outbox.submission_id))
    .where(
      and(
        eq(outbox.status, "pending"),
        lte(outbox.due_at, now),
        or(eq(outbox.told, "nothing"), ne(onboarding.status, "pending_review")),
      ),
    )
    .orderBy(asc(outbox.id))
    .limit(limit);

/** The requests whose senders got a mail in the last day. Index: mail_outbox_sent. */
export const mailsOfDay = (store: Queryable, now: number): Promise<Mail[]> =>
  store.db
    .select()
    .from(outbox)
    .where(gt(outbox.sent_at, now - dayMs))
    .execute();

/** Changes a row, and deletes those that ended a week ago. */
export const saveMail = (store: Store, id: number, values: Partial<Mail>, now: number) =>
  store.write(async (tx) => {
    await tx.db.update(outbox).set(values).where(eq(outbox.id, id));
    const endedMails = and(ne(outbox.status, "pending"), lt(outbox.sent_at, now - endedKeptMs));
    await tx.db.delete(outbox).where(endedMails);
  });
