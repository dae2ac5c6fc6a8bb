import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/**
 * One transfer is one gift: the database refuses a second credit for it. Rows are never deleted. A donation whose
 * transaction vanished from the chain is voided: it no longer counts and allows a new credit.
 */
export const donations = sqliteTable(
  "donations",
  {
    id: text().primaryKey(), // Derived from signature and destination, so that concurrent processes make the same.
    nonprofit_id: integer().notNull(),
    amount_micro_usdc: integer().notNull(), // The amount that arrived.
    network: text().notNull(), // CAIP-2.
    tx_signature: text().notNull(),
    slot: integer().notNull().default(0), // 0 for a sample donation, which is on no chain.
    commitment: text({ enum: ["confirmed", "finalized"] })
      .notNull()
      .default("confirmed"),
    recipient: text().notNull().default(""), // Owner of the destination.
    source: text(), // The token account that lost the money; null when several did.
    destination: text().notNull(), // The token account that was paid.
    mint: text().notNull().default(""),
    donor: text(),
    memo: text(), // The memo of our request; null for a transfer that no request of ours asked for.
    settled_at: integer().notNull(),
    recorded_at: integer().notNull(),
    check_at: integer(), // When to check whether it is final; null once it is final or voided.
    unknown: integer().notNull().default(0), // Clear answers that the chain lacks it, or holds something else.
    voided_at: integer(),
    void_reason: text({ enum: ["vanished", "differs"] }),
  },
  (d) => [
    uniqueIndex("one_credit_per_transfer")
      .on(d.tx_signature, d.destination)
      .where(sql`voided_at IS NULL`),
    index("donations_by_check")
      .on(d.check_at)
      .where(sql`check_at IS NOT NULL`),
    index("donations_voided")
      .on(d.voided_at)
      .where(sql`voided_at IS NOT NULL`),
    index("donations_by_nonprofit").on(d.nonprofit_id, d.settled_at),
    index("donations_by_time").on(d.recorded_at),
    index("donations_by_memo").on(d.memo),
    check("donations_amount_positive", sql`${d.amount_micro_usdc} > 0`),
    check("donations_final_stay", sql`${d.voided_at} IS NULL OR ${d.commitment} = 'confirmed'`),
    check(
      "donations_voided_for_a_reason",
      sql`(${d.voided_at} IS NULL) = (${d.void_reason} IS NULL)`,
    ),
  ],
);

/**
 * Payments and proofs that came in and are not settled. What was only asked for is in memos, not here. A row is written
 * before its payment is broadcast, so that no crash loses it (docs/decisions/24-memos.md).
 */
export const donationIntents = sqliteTable(
  "donation_intents",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    kind: text({ enum: ["payment", "proof", "watch"] }).notNull(), // A watch waits for a memo to appear on chain.
    nonprofit_id: integer().notNull(),
    proof: text().notNull(), // Signature of the transaction; for a watch, the memo.
    network: text(), // Daily keyed hash of the network of the client that waits: it limits the places of one network.
    recipient: text(), // The wallet in effect when it came: a former wallet is still paid.
    amount_micro_usdc: integer().notNull(), // The amount asked for.
    payment: text(), // The signed transaction in base64, while it may still be broadcast.
    blockhash: text(), // Once this expires the payment can no longer land.
    sponsored_lamports: integer(), // The fee that the sponsor pays or paid; null when it pays none.
    sponsored_donor: text(), // The donor whose fee the sponsor pays.
    sponsored_source: text(), // The paying token account while the sponsor's fee is at stake: only one payment at a time.
    status: text({ enum: ["waiting", "settled", "refused", "lapsed"] }).notNull(),
    outcome: text(), // The observation that ended it; null while it waits and once it is settled.
    checks: integer().notNull().default(0),
    unknown: integer().notNull().default(0), // Clear answers that it is absent, counted from when it could have landed.
    check_at: integer().notNull(), // When the sweep looks next.
    created_at: integer().notNull(),
  },
  (d) => [
    uniqueIndex("donation_intents_once").on(d.nonprofit_id, d.proof),
    index("donation_intents_by_check").on(d.status, d.check_at),
    index("donation_intents_by_network")
      .on(d.network)
      .where(sql`status = 'waiting'`),
    index("donation_intents_sponsored")
      .on(d.created_at, d.nonprofit_id, d.sponsored_donor, d.sponsored_lamports)
      .where(sql`sponsored_lamports IS NOT NULL`),
    uniqueIndex("one_sponsored_payment_per_source").on(d.sponsored_source),
  ],
);
