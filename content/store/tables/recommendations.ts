import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { DraftStatus, PickItem, RecommendQuery } from "#content/contract/recommendation.ts";

/**
 * Recommendation calls, for the follow-through; in a busy minute only counts, with client "". `client` is a daily keyed hash
 * of the user agent.
 */
export const recommendationLog = sqliteTable(
  "recommendation_log",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    query: text({ mode: "json" })
      .notNull()
      .$type<Pick<RecommendQuery, "cause" | "country" | "q" | "intent">>(),
    result_count: integer().notNull(),
    top_slug: text(),
    slugs: text({ mode: "json" }).notNull().default([]).$type<string[]>(), // The recommended slugs, in order.
    ranking_signals: text({ mode: "json" }).notNull().$type<string[]>(),
    phase: integer().notNull().default(1), // Phase of governance: 1, 2 or 3.
    client: text().notNull(),
    weight: integer().notNull().default(1), // How many calls the row stands for, in a busy minute.
    called_at: integer().notNull(),
  },
  (r) => [index("recommendation_log_by_client").on(r.client, r.called_at)],
);

/** What clients did within 60 s of a recommendation. */
export const recommendationFollowThroughs = sqliteTable(
  "recommendation_follow_throughs",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    recommendation_id: integer().notNull(),
    slug: text().notNull(),
    action: text({ enum: ["profile", "donate"] }).notNull(),
    form: text({ enum: ["page", "markdown", "json"] }), // Format of the profile; null for a donation.
    rank: integer(), // From 1; null when the profile was not among those recommended.
    intent_id: text().notNull().default(""), // Memo of the payment requirements; "" for none.
    followed_at: integer().notNull(),
  },
  (f) => [
    // Counts once, however often a page is opened or an access log imported.
    uniqueIndex("one_follow_through").on(f.recommendation_id, f.action, f.slug, f.intent_id),
  ],
);

/**
 * Recommended profiles besides those in content/editorial/starter-set.json. One row per nonprofit: agents' agreement never
 * replaces an existing one.
 */
export const curatedPicks = sqliteTable("curated_picks", {
  nonprofit_id: integer().primaryKey(),
  recommended_for: text({ mode: "json" }).notNull().$type<string[]>(), // Donor-intent phrases.
  why_recommended: text().notNull(),
  causes: text({ mode: "json" }).$type<string[]>(), // Null: all causes of the profile.
  origin: text().notNull().default("operator").$type<PickItem["origin"]>(), // "draft": approved by the operator; "consensus": agreed by agents alone.
  draft_id: integer(), // The draft that has these words; null for the operator's own.
  added_by: text().notNull().default(""), // The operator, or "consensus".
  updated_at: integer().notNull().default(0),
});

/** Recommendations that agents propose. A pending draft is private. */
export const recommendationDrafts = sqliteTable(
  "recommendation_drafts",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    nonprofit_id: integer().notNull(),
    recommended_for: text({ mode: "json" }).notNull().$type<string[]>(), // Cleaned, as the agent wrote it.
    normalised: text().notNull(), // JSON array, for comparing only.
    why_recommended: text().notNull(),
    source_url: text().notNull(),
    agent_id: text().notNull(), // Folded: NFKC, trimmed, lower case.
    agent_name: text().notNull(),
    network: text(), // As in submissions.
    sensitive_claims: text({ mode: "json" }).notNull().default([]).$type<string[]>(), // Words about impact, effectiveness or money.
    test_data: integer().notNull().default(0),
    phase: integer().notNull(), // The phase in which it was sent.
    status: text().notNull().$type<DraftStatus>(),
    reason: text(), // Why it was rejected.
    decided_by: text(), // "operator:<name>", "consensus", "expiry", or "agent" if the agent replaced it.
    created_at: integer().notNull(),
    decided_at: integer(),
  },
  (d) => [
    uniqueIndex("one_pending_draft_per_agent")
      .on(d.nonprofit_id, d.agent_id)
      .where(sql`status = 'pending'`),
    index("drafts_by_nonprofit").on(d.nonprofit_id, d.status),
    index("drafts_by_agent").on(d.agent_id),
    index("drafts_for_review")
      .on(d.id)
      .where(sql`status = 'pending'`),
  ],
);
