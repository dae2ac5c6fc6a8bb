import type { Client } from "@libsql/client";
import { z } from "zod";
import { openEmbeddedClient } from "./embedded-client.ts";
import { migrateAmongOthers, pendingMigrations } from "./upgrade.ts";

/** A table, index, trigger or view, and the SQL that makes it. */
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

/** What the migrations make, and the store lacks; SQLite's own checks do not miss it. Nothing while migrations wait. */
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
