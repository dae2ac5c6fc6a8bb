import { join } from "node:path";
import type { Client } from "@libsql/client";
import { drizzle } from "drizzle-orm/libsql";
import { migrate } from "drizzle-orm/libsql/migrator";
import { isoDay } from "#content/contract/base/time.ts";
import { version } from "#content/contract/base/version.ts";
import { CannotStart } from "#content/runtime/start-error.ts";
import journal from "./migrations/meta/_journal.json";

const migrationsFolder = join(import.meta.dirname, "migrations");
const newestKnown = journal.entries.at(-1)?.when ?? 0;

/** A version as SQLite's user_version holds it: 1.2.3 is 1002003. */
const asNumber = (text: string): number =>
  text.split(".").reduce((number, part) => number * 1_000 + Number(part), 0);

/** The version of Almoner whose migrations the store has; null for a store of before 0.4, and a server that keeps none. */
export async function storeVersion(client: Client): Promise<string | null> {
  const { rows } = await client.execute("PRAGMA user_version").catch(() => ({ rows: [] }));
  const number = Number(rows[0]?.["user_version"] ?? 0);
  const parts = [number / 1_000_000, (number / 1_000) % 1_000, number % 1_000].map(Math.floor);
  return number === 0 ? null : parts.join(".");
}

/** When the newest migration that the store has was made, in milliseconds; 0 for a store without tables. */
async function newestOf(client: Client): Promise<number> {
  // Drizzle keeps its own table, and has no words for asking whether there is one.
  const asked = "SELECT 1 FROM sqlite_master WHERE name = '__drizzle_migrations'";
  if ((await client.execute(asked)).rows.length === 0) return 0;
  const newest = "SELECT max(created_at) AS newest FROM __drizzle_migrations";
  return Number((await client.execute(newest)).rows[0]?.["newest"] ?? 0);
}

/** The migrations that the store lacks, oldest first, by their names. */
export async function pendingMigrations(client: Client): Promise<string[]> {
  const newest = await newestOf(client);
  return journal.entries.filter(({ when }) => when > newest).map(({ tag }) => tag);
}

/** Throws CannotStart when a newer version has changed the tables: this one would write what that one cannot read. */
export async function refuseDowngrade(client: Client, place: string): Promise<void> {
  const newest = await newestOf(client);
  if (newest <= newestKnown) return;
  const writer = await storeVersion(client);
  const name = writer === null ? "a newer Almoner" : `Almoner ${writer}`;
  throw new CannotStart(
    `${place} was upgraded by ${name} (tables of ${isoDay(newest)}), and this is ${version} (tables of ${isoDay(newestKnown)}).`,
    `Install ${name} again, or restore a backup from before the upgrade.`,
  );
}

/** Brings the tables up to date. Two processes may open a new store at once: the second finds it done when it looks again. */
export async function migrateAmongOthers(client: Client): Promise<void> {
  if ((await newestOf(client)) >= newestKnown) return;
  const migrateOnce = () => migrate(drizzle(client), { migrationsFolder });
  await migrateOnce().catch(async () => {
    await Bun.sleep(100);
    await migrateOnce();
  });
  await client.execute(`PRAGMA user_version = ${asNumber(version)}`).catch(() => undefined);
}
