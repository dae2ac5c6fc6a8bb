import { and, asc, eq, gt, lt, lte, ne, or } from "drizzle-orm";
import type { Queryable, Store } from "#content/store/open.ts";
import { builder, statement, type Statement } from "#content/store/statement.ts";
import { onboardingSubmissions as onboarding } from "#content/store/tables/onboarding.ts";
import { mailOutbox as outbox } from "#content/store/tables/operations.ts";

/** What the mail of a row said last: nothing yet, that the request came, or that it is decided. */
export type Told = (typeof outbox.$inferSelect)["told"];

const dayMs = 86_400_000;
const endedKeptMs = 7 * dayMs;

/** Notes that the sender of a request is to be told of it, at an address that is known by its seal only. */
export const queueMail = (mail: {
  submission_id: string;
  address_seal: string;
  /** The sender's, hashed; "" for an unknown one. */
  network: string;
  at: number;
}): Statement => {
  const { at, ...row } = mail;
  const waiting = { told: "nothing", status: "pending", attempts: 0 } as const;
  return statement(
    builder.insert(outbox).values({ ...row, ...waiting, due_at: at, created_at: at }),
  );
};

/** The mails that are due, the oldest first, each with its request. Index: webhook_deliveries_due. */
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

export type DueMail = Awaited<ReturnType<typeof dueMails>>[number];

/** When each mail of the last day was sent, where to and on whose behalf. Index: webhook_deliveries_finished. */
export const mailsOfDay = (store: Queryable, now: number) =>
  store.db
    .select({ seal: outbox.address_seal, network: outbox.network, sent_at: outbox.sent_at })
    .from(outbox)
    .where(gt(outbox.sent_at, now - dayMs));

/** Changes a row, and forgets those that ended a week ago. */
export const saveMail = (
  store: Store,
  id: number,
  values: Partial<typeof outbox.$inferInsert>,
  now: number,
): Promise<unknown> =>
  store.write(async (tx) => {
    await tx.db.update(outbox).set(values).where(eq(outbox.id, id));
    const ended = and(ne(outbox.status, "pending"), lt(outbox.sent_at, now - endedKeptMs));
    await tx.db.delete(outbox).where(ended);
  });
