import type { Filing } from "#content/contract/enrichment-answers.ts";
import type { ChangeKind } from "#content/contract/feed.ts";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Every change of public data, appended in its own transaction; the publisher reads them in order. `fields` names the
 * changed fields. `moved_lists` names the lists in which the nonprofit appeared, disappeared or moved: these changes affect
 * other pages.
 */
export const changes = sqliteTable(
  "changes",
  {
    sequence: integer().primaryKey({ autoIncrement: true }),
    kind: text().notNull().$type<ChangeKind | "directory">(),
    nonprofit_id: integer(), // Null for a change of the directory itself (counters, publication day).
    slug: text(),
    fields: text({ mode: "json" }).notNull().default([]).$type<string[]>(),
    moved_lists: text({ mode: "json" }).notNull().default([]).$type<string[]>(),
    origin: text().notNull(), // For example import:irs-bmf, consensus, review, seed.
    changed_at: integer().notNull(),
    // Former public values of changed single-valued fields, and where they were filed; null: none, or unknown.
    was: text({ mode: "json" }).$type<
      Record<string, string | null | (Filing & { value: string })>
    >(),
  },
  (c) => [index("changes_by_nonprofit").on(c.nonprofit_id, c.sequence)],
);

/** The numbered files of the change feed: file n always holds the changes first_sequence..last_sequence. */
export const feedFiles = sqliteTable("feed_files", {
  number: integer().primaryKey(),
  first_sequence: integer().notNull(),
  last_sequence: integer().notNull(),
  closed_at: integer().notNull(),
});

/** Facts about the whole directory that pages show: publication_day, feed_epoch, counters of the last checkpoint. */
export const directoryFacts = sqliteTable("directory_facts", {
  name: text().primaryKey(),
  value: text().notNull(),
  updated_at: integer().notNull(),
});

/** A file published by a register, and the version that was imported: both headers as the server sent them. */
export type FetchedVersion = { url: string; etag: string | null; last_modified: string | null };

/** Imports that wrote something, and all fetches of registers, including failed and unchanged ones. */
export const imports = sqliteTable("imports", {
  id: integer().primaryKey({ autoIncrement: true }),
  format: text().notNull(),
  files: text({ mode: "json" }).notNull().$type<string[]>(), // Names without folders, and marks of files that need not be read again.
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
