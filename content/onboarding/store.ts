import { and, asc, eq, gt, isNull, ne, sql } from "drizzle-orm";
import { dayMs } from "#content/contract/base/time.ts";
import type { Queryable } from "#content/store/open.ts";
import { type Statement, builder, countUpTo, statement } from "#content/store/query.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { onboardingSubmissions as onboarding } from "#content/store/tables/onboarding.ts";
import { requestStore } from "#content/requests/request-store.ts";
import { OnboardingRequest } from "./read.ts";

type Row = typeof onboarding.$inferSelect;

/** What an organisation sent, and the outcome of it. Instants in milliseconds since 1970. Private. */
export type Onboarding = Omit<Row, "request"> & { request: OnboardingRequest };

const fromRow = (row: Row): Onboarding => ({
  ...row,
  request: OnboardingRequest.parse(row.request),
});

/** More than any instant: what separates a rank in the queue from the next. */
const rankMs = 100_000_000_000_000;

/**
 * The place of a request in the queue: the lower number comes first, then the lower id. Claims with a proven host are
 * before registrations with one, whose sender names the host, and those before all others; of each the oldest.
 */
export const placeInQueue = ({ created_at, proven_host, nonprofit_id, id }: Onboarding) => {
  const rank = proven_host === null ? 2 : nonprofit_id === null ? 1 : 0;
  return { at: created_at + rank * rankMs, id };
};
const { request } = onboarding;
// As placeInQueue.
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
const { first, changeWaiting } = onboardingStore;

/** Whether a challenge came with another submission. Index: one_submission_per_challenge. */
export const challengeIsUsed = async (store: Queryable, challenge: string): Promise<boolean> =>
  (await first(store, eq(onboarding.wallet_challenge, challenge))) !== null;

const gaveUpPlace =
  "Too many requests for this profile wait, so this one gave up its place unseen. Send it again, and prove control of the organisation's host: such a request keeps its place and is read first.";
const leftOutMax = 10_000;
const leftOutDays = 30;

/** Rejects a request that waits, in favour of a newer one for the same profile: no one has decided it. */
export const giveUpPlace = (id: string, at: number): Statement =>
  onboardingStore.close({
    id,
    status: "rejected",
    reason: gaveUpPlace,
    reviewed_by: null,
    reviewed_at: at,
  });

/** How many requests gave up their place in the last 30 days. Stops counting at 10,000. Index: onboarding_by_status. */
export const onboardingLeftOut = (store: Queryable, now: Date): Promise<number> =>
  countUpTo(
    store,
    leftOutMax,
    `SELECT 1 FROM onboarding_submissions
     WHERE status = 'rejected' AND created_at > ${now.getTime() - leftOutDays * dayMs} AND reason = '${gaveUpPlace.replaceAll("'", "''")}'`,
  );

/** Slugs of other nonprofits with this wallet, withdrawn ones too. Index: nonprofits_by_wallet. */
export async function otherOwnersOf(
  store: Queryable,
  wallet: string,
  nonprofitId: number | null,
): Promise<string[]> {
  const rows = await store.db
    .select({ slug: nonprofits.slug })
    .from(nonprofits)
    .where(and(eq(nonprofits.usdc_wallet, wallet), ne(nonprofits.id, nonprofitId ?? 0)))
    .orderBy(asc(nonprofits.id))
    .limit(5);
  return rows.map(({ slug }) => slug);
}

/** Notes that the sender of a request that waits has proven control of a host. */
export const noteHostProof = (
  id: string,
  proof: Pick<Row, "proven_host" | "proven_by" | "proven_at">,
): Statement => changeWaiting(id, proof);

/** Notes the first of two approvals, in the place of another one. */
export const noteFirstApproval = (
  id: string,
  approval: Pick<Row, "first_approved_by" | "first_approved_value" | "first_approved_held">,
): Statement => changeWaiting(id, approval);

const mailPauseMs = 600_000;
const mailsPerDayMax = 10;

/**
 * Notes that a link goes to a mailbox at a host, whether or not it arrives. Null when one went for this request in the last
 * 10 minutes, or ten to this host in a day. Index: onboarding_mailed.
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

/** Keeps what was found when duplicates were looked for again. */
export const keepDuplicates = (id: string, duplicates: Row["duplicates"]): Statement =>
  statement(builder.update(onboarding).set({ duplicates }).where(eq(onboarding.id, id)));

/** Says literally what the partial index one_verification_per_nonprofit says. */
const verifies = (nonprofitId: number) =>
  and(
    eq(onboarding.nonprofit_id, nonprofitId),
    sql`${onboarding.type} <> 'change' AND ${onboarding.status} = 'approved'`,
    isNull(onboarding.revoked_at),
  );

/** The approved request by which a nonprofit was verified, unless that was taken back. */
export const standingVerification = async (
  store: Queryable,
  nonprofitId: number,
): Promise<string | null> => (await first(store, verifies(nonprofitId)))?.id ?? null;

/** Notes that the verification of a nonprofit was taken back: another claim may be approved then. */
export const noteRevoked = (nonprofitId: number, at: number): Statement =>
  statement(builder.update(onboarding).set({ revoked_at: at }).where(verifies(nonprofitId)));
