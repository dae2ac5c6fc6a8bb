import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

// Column names are the contract's field names, so that one search finds shape, table, JSON and page.
// Instants are integer milliseconds since 1970, UTC. Flags are 0 or 1.

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
