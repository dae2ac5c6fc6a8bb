import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import type { Client } from "@libsql/client";
import { z } from "zod";
import { isDamaged } from "#content/runtime/files.ts";
import { openEmbeddedClient } from "./embedded-client.ts";
import type { Store } from "./open.ts";
import { migrateAmongOthers, pendingMigrations } from "./upgrade.ts";

/** A table, index, trigger or view, and the SQL that creates it. */
const SchemaObject = z.object({
  type: z.enum(["table", "index", "trigger", "view"]),
  name: z.string(),
  sql: z.string(),
});
type SchemaObject = z.infer<typeof SchemaObject>;

const objectsOf = async (client: Pick<Client, "execute">): Promise<SchemaObject[]> => {
  const sql = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL";
  return z.array(SchemaObject).parse((await client.execute(sql)).rows);
};

/** What the migrations create but the store lacks, which SQLite's own checks do not notice. Empty while migrations wait. */
export async function missingInSchema(client: Client): Promise<SchemaObject[]> {
  if ((await pendingMigrations(client)).length > 0) return [];
  const there = new Set((await objectsOf(client)).map(({ name }) => name));
  const fresh = openEmbeddedClient("file::memory:", { timeout: 0 });
  try {
    await migrateAmongOthers(fresh);
    return (await objectsOf(fresh)).filter(({ name }) => !there.has(name));
  } finally {
    fresh.close();
  }
}

/** Creates missing indexes again; throws if anything else is missing, because it may have held rows. */
export async function remakeIndexes(store: Store): Promise<void> {
  const missing = await missingInSchema(store.raw);
  const indexes = missing.filter(({ type }) => type === "index");
  for (const { sql } of indexes) await store.write((tx) => tx.raw.execute(sql));
  const others = missing.filter(({ type }) => type !== "index").map(({ name }) => name);
  if (others.length > 0) throw new Error(`${others.join(", ")} held more than can be made again`);
}

/** Runs SQLite's check of pages and indexes, which cannot see a changed letter within a text. */
export async function storeFaults({ raw, embedded }: Store, path: string): Promise<string[]> {
  if (!embedded) return [];
  const { rows } = await raw.execute("PRAGMA integrity_check(5)");
  const faults = rows.map((row) => String(row["integrity_check"])).filter((text) => text !== "ok");
  const { rows: loose } = await raw.execute("PRAGMA foreign_key_check");
  if (loose.length > 0) faults.push(`${loose.length} rows refer to others that are gone`);
  return faults.map((fault) => `${path}: ${fault}.`);
}

/**
 * Whether Bun's SQLite finds damage in a file. A missing or locked file counts as sound. Reads the whole file, which takes
 * seconds for the manifest of a directory of a million.
 */
export function isFileDamaged(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    using db = new Database(path, { readonly: true });
    return (
      db.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get()?.quick_check !== "ok"
    );
  } catch (error) {
    return isDamaged(error);
  }
}
