import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

// Column names are the contract's field names, so that one search finds shape, table, JSON and page.
// Instants are integer milliseconds since 1970, UTC. Flags are 0 or 1.

/** One transfer is one gift: the database refuses a second credit for it. */
export const donations = sqliteTable(
  "donations",
  {
    id: text().primaryKey(),
    nonprofit_id: integer().notNull(),
    intent_id: text(),
    amount_micro_usdc: integer().notNull(),
    network: text().notNull(),
    tx_signature: text().notNull(),
    destination: text().notNull(), // The token account that was paid.
    donor: text(),
    memo: text(),
    settled_at: integer().notNull(),
    recorded_at: integer().notNull(),
  },
  (d) => [
    uniqueIndex("one_credit_per_transfer").on(d.tx_signature, d.destination),
    index("donations_by_nonprofit").on(d.nonprofit_id, d.settled_at),
    check("donations_amount_positive", sql`${d.amount_micro_usdc} > 0`),
  ],
);

/** A payment that was asked for. Holds the recipient of that moment, so a wallet change in flight is safe. */
export const donationIntents = sqliteTable(
  "donation_intents",
  {
    id: text().primaryKey(),
    nonprofit_id: integer().notNull(),
    recipient: text().notNull(),
    amount_micro_usdc: integer().notNull(),
    memo: text().notNull(),
    tx_signature: text(), // Kept before broadcasting, so that a crash cannot lose it.
    status: text({ enum: ["open", "broadcast", "settled", "failed"] }).notNull(),
    created_at: integer().notNull(),
  },
  (d) => [
    uniqueIndex("donation_intents_memo").on(d.memo),
    index("donation_intents_by_status").on(d.status),
  ],
);

/** Claims, registrations and changes asked for by organisations. Nothing here is public before approval. */
export const onboardingSubmissions = sqliteTable(
  "onboarding_submissions",
  {
    id: text().primaryKey(),
    type: text({ enum: ["claim", "registration", "change"] }).notNull(),
    nonprofit_id: integer(),
    request: text().notNull(), // The request as JSON.
    wallet_challenge: text(),
    wallet_signature: text(),
    status: text({ enum: ["pending_review", "approved", "rejected"] }).notNull(),
    reason: text(),
    reviewed_by: text(),
    wallet_effective_at: integer(), // End of the 72 h hold of a wallet change.
    wallet_stopped: integer().notNull().default(0),
    created_at: integer().notNull(),
    reviewed_at: integer(),
  },
  (o) => [index("onboarding_by_status").on(o.status, o.created_at)],
);
