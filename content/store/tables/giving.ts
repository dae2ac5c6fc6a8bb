import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/**
 * One transfer is one gift: the database refuses a second credit for it. A row is never deleted: one whose transaction
 * vanished from the chain is voided, counts nowhere from then on, and stands no longer in the way of a new credit.
 */
export const donations = sqliteTable(
  "donations",
  {
    id: text().primaryKey(), // Made of signature and destination, so that processes that race make the same.
    nonprofit_id: integer().notNull(),
    amount_micro_usdc: integer().notNull(), // What arrived.
    network: text().notNull(), // CAIP-2.
    tx_signature: text().notNull(),
    slot: integer().notNull().default(0), // 0 of a sample's: no chain holds it.
    commitment: text({ enum: ["confirmed", "finalized"] })
      .notNull()
      .default("confirmed"),
    recipient: text().notNull().default(""), // Owner of the destination.
    source: text(), // The token account that lost the money; null when several did.
    destination: text().notNull(), // The token account that was paid.
    mint: text().notNull().default(""),
    donor: text(),
    memo: text(), // That of the requirement it answers; null for a transfer that no one here had asked for.
    settled_at: integer().notNull(),
    recorded_at: integer().notNull(),
    check_at: integer(), // The sweep looks then whether it is final; null once it is, or is voided.
    unknown: integer().notNull().default(0), // Clear answers that the chain does not hold it, or another.
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
 * Payments and proofs that came and are not settled yet. What was merely asked for stands in memos, not here. A row is
 * written before its payment is broadcast, so that no crash can lose it. See docs/decisions/24.
 */
export const donationIntents = sqliteTable(
  "donation_intents",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    kind: text({ enum: ["payment", "proof", "watch"] }).notNull(), // A watch waits for a memo to appear on chain.
    nonprofit_id: integer().notNull(),
    proof: text().notNull(), // Signature of the transaction; of a watch the memo.
    network: text(), // Keyed daily hash of the client's network that asked to wait for it: places are shared by it.
    recipient: text(), // The wallet in effect when it came: one that changes meanwhile is still paid.
    amount_micro_usdc: integer().notNull(), // What was asked for.
    payment: text(), // The signed transaction in base64, while it may still be broadcast.
    blockhash: text(), // After its end the payment can land no more.
    sponsored_lamports: integer(), // Fee that the sponsor pays, or paid; null where it pays none.
    sponsored_donor: text(), // Who gives what the sponsor pays the fee of.
    sponsored_source: text(), // Token account that pays while the sponsor's fee is at stake: only one payment at a time.
    status: text({ enum: ["waiting", "settled", "refused", "lapsed"] }).notNull(),
    outcome: text(), // What was seen at its end; null while it waits and once it is settled.
    checks: integer().notNull().default(0),
    unknown: integer().notNull().default(0), // Clear answers that it is not there, since it could have been.
    check_at: integer().notNull(), // The sweep looks again then.
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
