import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Actions of operators. Append-only: triggers refuse other changes, and a chain of hashes reveals evasions. */
export const auditLog = sqliteTable(
  "audit_log",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    operator: text().notNull(),
    action: text().notNull(),
    subject: text().notNull(),
    detail: text({ mode: "json" }).notNull().default({}).$type<Record<string, unknown>>(),
    happened_at: integer().notNull(),
    previous_hash: text().notNull(), // Of the entry before, "" for the first.
    hash: text().notNull(), // Over this entry and `previous_hash`: see content/operation/audit-store.ts.
  },
  (a) => [
    index("audit_log_by_subject").on(a.subject, a.id),
    index("audit_log_by_operator").on(a.operator, a.id),
    index("audit_log_by_action").on(a.action, a.id),
  ],
);

/** Desk sessions that were ended early, kept until they would have expired. */
export const endedSessions = sqliteTable("ended_sessions", {
  id: text().primaryKey(),
  until: integer().notNull(),
});

/** Work that only one process may do at a time, for example fetching a register. */
export const leases = sqliteTable("leases", {
  name: text().primaryKey(),
  holder: text().notNull(), // A random name of the process.
  until: integer().notNull(),
});

/** Hits that services on one libSQL server count together; with an embedded file each data folder has a file of its own. */
export const limitHits = sqliteTable(
  "limit_hits",
  {
    policy: text().notNull(),
    client: text().notNull(), // A keyed hash, or the name of an agent or operator.
    until: integer().notNull(), // When the hit stops counting.
    count: integer().notNull(),
  },
  (h) => [
    primaryKey({ columns: [h.policy, h.client, h.until] }),
    index("limit_hits_by_until").on(h.until),
  ],
);

/** Mails to senders of onboarding requests, one row per request, without their text. */
export const mailOutbox = sqliteTable(
  "mail_outbox",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    submission_id: text().notNull().unique(),
    address_seal: text().notNull(), // Keyed hash of the address, for counting its mails per day.
    told: text({ enum: ["nothing", "received", "decision"] }).notNull(), // What the last mail said.
    network: text().notNull(), // As in onboarding_submissions; "" for an unknown one.
    status: text({ enum: ["pending", "delivered", "failed"] }).notNull(), // delivered: the decision was sent.
    attempts: integer().notNull().default(0), // Failed attempts since the last mail.
    due_at: integer().notNull(), // Earliest time of the next attempt.
    created_at: integer().notNull(),
    sent_at: integer(), // When the last mail was sent.
  },
  (m) => [
    index("mail_outbox_due")
      .on(m.due_at)
      .where(sql`status = 'pending'`),
    index("mail_outbox_sent")
      .on(m.sent_at)
      .where(sql`sent_at is not null`),
  ],
);

/** Counters by hour: kind is query:search, hit:llms_txt, enrich:applied, limited:read and so on. No personal data. */
export const activityCounts = sqliteTable(
  "activity_counts",
  {
    kind: text().notNull(),
    hour: integer().notNull(), // Milliseconds of the hour's start.
    count: integer().notNull(),
  },
  (a) => [primaryKey({ columns: [a.kind, a.hour] })],
);
