import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import type { CorrectionField } from "#content/contract/correction.ts";
import type { EnrichableField, FieldType, SubmissionStatus } from "#content/contract/enrichment.ts";
import type { RequestState } from "#content/contract/onboarding.ts";

/** Values that agents sent to complete profiles (docs/consensus.md). */
export const submissions = sqliteTable(
  "submissions",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    nonprofit_id: integer().notNull(),
    field: text().notNull().$type<EnrichableField>(),
    field_type: text().notNull().$type<FieldType>(),
    value: text().notNull(), // Cleaned, in the letter case in which it goes live.
    normalised_value: text().notNull(), // For comparing only.
    source_url: text(),
    agent_id: text().notNull(), // Folded: NFKC, trimmed, lower case.
    agent_name: text().notNull(),
    network: text(), // Address family and keyed hash of the client's network ("4:…"); null once decided.
    status: text().notNull().$type<SubmissionStatus>(),
    audit_only: integer().notNull().default(0), // The field had a value: does not count for consensus.
    test_data: integer().notNull().default(0), // Kept out of leaderboard, agents.md and second opinions.
    confidence: integer().notNull().default(1), // Distinct agents for the same normalised value.
    reason: text(), // Why it was rejected, or that it corroborates the live value.
    winning_value: text(),
    created_at: integer().notNull(),
    applied_at: integer(), // When it went live; stays after a revert, for the history.
    decided_at: integer(),
  },
  (s) => [
    uniqueIndex("one_pending_per_agent_and_field")
      .on(s.nonprofit_id, s.field, s.agent_id)
      .where(sql`status = 'pending' and audit_only = 0 and field_type = 'structured'`),
    // An agent may propose several programmes and metrics.
    uniqueIndex("one_pending_text_per_agent")
      .on(
        s.nonprofit_id,
        s.field,
        s.agent_id,
        sql`case when field = 'programme' or field = 'impact_metric' then normalised_value else '' end`,
      )
      .where(sql`status = 'pending' and audit_only = 0 and field_type = 'prose'`),
    index("submissions_waiting")
      .on(s.created_at)
      .where(sql`status = 'pending' and audit_only = 0`),
    index("submissions_by_field").on(s.nonprofit_id, s.field, s.status, s.normalised_value),
    index("submissions_by_agent").on(s.agent_id, s.nonprofit_id, s.field, s.normalised_value),
    index("submissions_rejected")
      .on(s.nonprofit_id, s.field, s.decided_at)
      .where(sql`status = 'rejected'`),
    index("submissions_applied")
      .on(s.field, s.decided_at)
      .where(sql`status = 'applied'`),
    // Including rejected ones that were live: a profile's history shows both.
    index("submissions_gone_live")
      .on(s.nonprofit_id, s.applied_at)
      .where(sql`applied_at is not null`),
    index("submissions_for_review")
      .on(s.id)
      .where(sql`field_type = 'prose' and status = 'pending' and audit_only = 0`),
    // Values on which agents agree against a live value: an operator may empty the field.
    index("submissions_disputing")
      .on(s.id)
      .where(
        sql`status = 'pending' and audit_only = 1 and field_type = 'structured' and confidence > 1 and reason is null`,
      ),
  ],
);

/**
 * Fields that wait for a second agent: derived, kept up to date by triggers on submissions and by content/nonprofit/save.ts.
 * Only open structured fields (empty, or with a value that yields to agents) of nonprofits that are not withdrawn.
 */
export const pendingFields = sqliteTable(
  "pending_fields",
  {
    nonprofit_id: integer().notNull(),
    field: text().notNull().$type<EnrichableField>(),
    pending: integer().notNull(), // Pending submissions without test data.
    list_order: integer().notNull(), // As in listings.
  },
  (p) => [
    primaryKey({ columns: [p.nonprofit_id, p.field] }),
    index("pending_fields_by_order").on(p.list_order, p.nonprofit_id),
    index("pending_fields_contested")
      .on(p.nonprofit_id, p.field)
      .where(sql`pending > 1`),
  ],
);

/** Totals by agent, without test data, kept by triggers: counting a million submissions on request takes over a second. */
export const agents = sqliteTable(
  "agents",
  {
    agent_id: text().primaryKey(),
    agent_name: text().notNull(), // As last given.
    submissions: integer().notNull().default(0),
    applied: integer().notNull().default(0),
    nonprofits_touched: integer().notNull().default(0),
    last_seen: integer().notNull(),
  },
  (a) => [index("agents_by_credit").on(a.applied, a.submissions, a.last_seen)],
);

/** Ids that have or had an owner: only the holder of the secret can submit under a bound id. No row: the id is free. */
export const agentKeys = sqliteTable("agent_keys", {
  agent_id: text().primaryKey(), // Folded, as in submissions; of a reserved name, a space and its letters.
  secret_digest: text(), // SHA-256; null: not bound.
  bound_at: integer(),
  bound_by: text(), // "agent", or "operator:<name>".
  revoked_at: integer(), // Accepts nothing until an operator binds it again.
  approved_name: text(), // By an operator, for this owner.
});

/** Reports that a profile is wrong. Private: an operator decides, and only the value that is then set becomes public. */
export const corrections = sqliteTable(
  "corrections",
  {
    id: text().primaryKey(),
    nonprofit_id: integer().notNull(),
    field: text().notNull().$type<CorrectionField>(),
    what_is_wrong: text().notNull(),
    suggested_value: text(),
    source_url: text(),
    contact_email: text(), // Null once it is erased, 90 days after the decision.
    network: text(), // As in submissions.
    request_digest: text().notNull(), // Equal for equal corrections.
    status_digest: text().notNull(), // SHA-256 of the token in the link of the status page.
    status: text().notNull().$type<RequestState>(),
    reason: text(),
    reviewed_by: text(),
    created_at: integer().notNull(),
    reviewed_at: integer(),
  },
  (c) => [
    index("corrections_by_status").on(c.status, c.created_at, c.id),
    index("corrections_waiting_for_nonprofit")
      .on(c.nonprofit_id)
      .where(sql`status = 'pending_review'`),
    index("corrections_waiting_of_network")
      .on(c.network)
      .where(sql`status = 'pending_review'`),
    uniqueIndex("corrections_by_status_token").on(c.status_digest),
    uniqueIndex("one_pending_correction_per_request")
      .on(c.request_digest)
      .where(sql`status = 'pending_review'`),
    index("corrections_with_contact")
      .on(c.reviewed_at)
      .where(sql`contact_email is not null and status <> 'pending_review'`),
  ],
);

/** What agents looked for and did not find, for 90 days. The sentence is private; the rest appears in public counts. */
export const gaps = sqliteTable(
  "gaps",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    day: text().notNull(), // YYYY-MM-DD, UTC.
    network: text().notNull(), // As in submissions; "" for an unknown one.
    looked_for: text().notNull(),
    field: text().$type<CorrectionField>(),
    cause: text(),
    country_code: text(),
    nonprofit_id: integer(),
    digest: text().notNull().unique(), // Of all columns but the id, so that equal reports of a network and day count once.
  },
  (g) => [
    index("gaps_by_day").on(g.day, g.network),
    index("gaps_of_nonprofit")
      .on(g.nonprofit_id, g.day, g.network)
      .where(sql`nonprofit_id is not null`),
  ],
);

/**
 * Counters of submissions: status:<status>, field:<field>, high_confidence, nonprofits_improved. Kept by triggers: counting
 * a million submissions takes 0.1 to 0.7 s.
 */
export const enrichmentCounts = sqliteTable("enrichment_counts", {
  name: text().primaryKey(),
  count: integer().notNull().default(0),
});

/** Answers stored under an Idempotency-Key for 24 h. */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    route: text().notNull(),
    key: text().notNull(),
    request_digest: text().notNull(),
    status: integer().notNull(),
    body: text().notNull(),
    created_at: integer().notNull(),
  },
  (i) => [
    primaryKey({ columns: [i.route, i.key] }),
    index("idempotency_keys_by_time").on(i.created_at),
  ],
);
