import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

// Column names are the contract's field names, so that one search finds shape, table, JSON and page.
// Instants are integer milliseconds since 1970, UTC. Flags are 0 or 1.

/** What operators did. Append-only. */
export const auditLog = sqliteTable("audit_log", {
  id: integer().primaryKey({ autoIncrement: true }),
  operator: text().notNull(),
  action: text().notNull(),
  subject: text().notNull(),
  detail: text().notNull().default("{}"),
  happened_at: integer().notNull(),
});

/** Counters by hour: kind is query:search, query:recommend, query:mcp or hit:llms_txt and so on. No personal data. */
export const activityCounts = sqliteTable(
  "activity_counts",
  {
    kind: text().notNull(),
    hour: integer().notNull(), // Milliseconds of the hour's start.
    count: integer().notNull(),
  },
  (a) => [primaryKey({ columns: [a.kind, a.hour] })],
);

/** Every recommendation call, for the follow-through. `client` is a daily keyed hash of the user agent. */
export const recommendationLog = sqliteTable(
  "recommendation_log",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    query: text().notNull(), // JSON: cause, country, q, intent.
    result_count: integer().notNull(),
    top_slug: text(),
    ranking_signals: text().notNull(),
    client: text().notNull(),
    called_at: integer().notNull(),
  },
  (r) => [index("recommendation_log_by_client").on(r.client, r.called_at)],
);

export const recommendationFollowThroughs = sqliteTable("recommendation_follow_throughs", {
  id: integer().primaryKey({ autoIncrement: true }),
  recommendation_id: integer().notNull(),
  slug: text().notNull(),
  action: text({ enum: ["profile", "donate"] }).notNull(),
  followed_at: integer().notNull(),
});

/** Profiles picked by hand for recommendations, beside those of content/editorial/starter-set.json. */
export const curatedPicks = sqliteTable("curated_picks", {
  nonprofit_id: integer().primaryKey(),
  recommended_for: text().notNull(), // JSON array of donor-intent phrases.
  why_recommended: text().notNull(),
});
