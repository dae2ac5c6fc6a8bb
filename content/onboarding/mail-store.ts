import { and, asc, eq, gt, lt, lte, ne, or } from "drizzle-orm";
import { dayMs } from "#content/contract/base/time.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { builder, statement, type Statement } from "#content/store/query.ts";
import { onboardingSubmissions as onboarding } from "#content/store/tables/onboarding.ts";
import type { Onboarding } from "./store.ts";
import { mailOutbox as outbox } from "#content/store/tables/operations.ts";

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
