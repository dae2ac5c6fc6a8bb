import type { Filing } from "#content/contract/enrichment-answers.ts";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Every change of public data, appended in the transaction that makes it; the publisher drains it in order.
 * `fields` names the changed fields. `moved_lists` names the lists in which the nonprofit appeared,
 * vanished or changed place: those are what shifts other pages.
 */
export const changes = sqliteTable(
  "changes",
  {
    sequence: integer().primaryKey({ autoIncrement: true }),
    kind: text({ enum: ["added", "changed", "withdrawn", "restored", "directory"] }).notNull(),
    nonprofit_id: integer(), // Null for a change of the directory itself (counters, publication day).
    slug: text(),
    fields: text({ mode: "json" }).notNull().default([]).$type<string[]>(),
    moved_lists: text({ mode: "json" }).notNull().default([]).$type<string[]>(),
    origin: text().notNull(), // For example import:irs-bmf, consensus, review, seed.
    changed_at: integer().notNull(),
    // What changed fields of one value held before, as public, and where that was filed; null: nothing before, or not known.
    was: text({ mode: "json" }).$type<
      Record<string, string | null | (Filing & { value: string })>
    >(),
  },
  (c) => [index("changes_by_nonprofit").on(c.nonprofit_id, c.sequence)],
);

/** The numbered files of the change feed: file n holds the changes first_sequence..last_sequence, for ever. */
export const feedFiles = sqliteTable("feed_files", {
  number: integer().primaryKey(),
  first_sequence: integer().notNull(),
  last_sequence: integer().notNull(),
  closed_at: integer().notNull(),
});

/** Facts of the directory as a whole that pages show: publication_day, feed_epoch, counters of the last checkpoint. */
export const directoryFacts = sqliteTable("directory_facts", {
  name: text().primaryKey(),
  value: text().notNull(),
  updated_at: integer().notNull(),
});

/** A file that a register publishes, and which version of it was imported; both headers as the server sent them. */
export type FetchedVersion = { url: string; etag: string | null; last_modified: string | null };

/** Imports that wrote something, and fetches of registers, also those that failed or found nothing new. */
export const imports = sqliteTable("imports", {
  id: integer().primaryKey({ autoIncrement: true }),
  format: text().notNull(),
  files: text({ mode: "json" }).notNull().$type<string[]>(), // Names without folders, and marks of what need not be read again.
  status: text({ enum: ["running", "finished", "failed"] }).notNull(),
  fetched: text({ mode: "json" }).$type<FetchedVersion[]>(), // Null for files that an operator gave.
  problem: text(), // Why it failed.
  added: integer().notNull().default(0),
  changed: integer().notNull().default(0),
  unchanged: integer().notNull().default(0),
  withdrawn: integer().notNull().default(0),
  skipped: integer().notNull().default(0),
  started_at: integer().notNull(),
  finished_at: integer(),
});
