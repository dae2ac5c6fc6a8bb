import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type {
  Duplicate,
  OnboardingType,
  ProvenBy,
  RequestState,
} from "#content/contract/onboarding.ts";

/** Claims, registrations and changes that organisations request. Nothing here is public before approval. */
export const onboardingSubmissions = sqliteTable(
  "onboarding_submissions",
  {
    id: text().primaryKey(),
    type: text().notNull().$type<OnboardingType>(),
    nonprofit_id: integer(), // For a registration: null until it is approved.
    request: text({ mode: "json" }).notNull(), // The request, checked and cleaned. Private.
    request_digest: text().notNull(), // Equal for equal requests.
    status_digest: text().notNull(), // SHA-256 of the token in the link of the status page.
    duplicates: text({ mode: "json" }).notNull().default([]).$type<Duplicate[]>(), // Possible duplicates at the last search.
    wallet_challenge: text(),
    wallet_signature: text(),
    network: text(), // Hash of the sender's /24 or /48; null once decided.
    status: text().notNull().$type<RequestState>(),
    reason: text(),
    reviewed_by: text(),
    created_at: integer().notNull(),
    reviewed_at: integer(),
    revoked_at: integer(), // When the resulting verification was revoked.
    proven_host: text(), // The last host whose control the sender proved, without "www.".
    proven_by: text().$type<ProvenBy>(),
    proven_at: integer(),
    mailed_at: integer(), // When the last link to prove control of a mailbox was sent,
    mailed_host: text(), // to a mailbox at this host,
    mails: integer().notNull().default(0), // and how many were sent in all.
    first_approved_by: text(), // The first of two operators who must approve a wallet.
    first_approved_value: text(), // That operator's edits as sent; null for none.
    first_approved_held: integer({ mode: "boolean" }), // Whether the wallet would have been held at that time.
    erased_at: integer(), // When the contact in `request` was erased.
  },
  (o) => [
    index("onboarding_by_status").on(o.status, o.created_at, o.id),
    index("onboarding_by_nonprofit").on(o.nonprofit_id, o.created_at),
    index("onboarding_waiting_for_nonprofit")
      .on(o.nonprofit_id)
      .where(sql`status = 'pending_review'`),
    uniqueIndex("onboarding_by_status_token").on(o.status_digest),
    uniqueIndex("one_pending_submission_per_request")
      .on(o.request_digest)
      .where(sql`status = 'pending_review'`),
    uniqueIndex("one_submission_per_challenge")
      .on(o.wallet_challenge)
      .where(sql`wallet_challenge is not null`),
    uniqueIndex("one_verification_per_nonprofit")
      .on(o.nonprofit_id)
      .where(sql`type <> 'change' and status = 'approved' and revoked_at is null`),
    index("onboarding_mailed")
      .on(o.mailed_host, o.mailed_at)
      .where(sql`mailed_host is not null`),
    index("onboarding_to_erase")
      .on(o.reviewed_at)
      .where(sql`status = 'rejected' and erased_at is null`),
  ],
);

/**
 * Approved wallets that wait before they take effect. The wallet in effect is nonprofits.usdc_wallet, unless a held one is
 * due (content/onboarding/wallet-hold-store.ts).
 */
export const walletHolds = sqliteTable(
  "wallet_holds",
  {
    submission_id: text().primaryKey(),
    nonprofit_id: integer().notNull(),
    wallet_before: text(), // Null: the profile had none.
    wallet: text().notNull(),
    wallet_challenge: text(),
    wallet_signature: text(),
    status: text({ enum: ["held", "in_effect", "stopped", "replaced"] }).notNull(),
    reason: text(), // Why it was stopped.
    approved_by: text().notNull(),
    approved_at: integer().notNull(),
    effective_at: integer().notNull(),
    decided_by: text(),
    decided_at: integer(),
  },
  (h) => [
    uniqueIndex("one_held_wallet_per_nonprofit")
      .on(h.nonprofit_id)
      .where(sql`status = 'held'`),
    index("wallet_holds_due")
      .on(h.effective_at, h.submission_id)
      .where(sql`status = 'held'`),
    index("wallet_holds_stopped")
      .on(h.nonprofit_id)
      .where(sql`status = 'stopped'`),
  ],
);
