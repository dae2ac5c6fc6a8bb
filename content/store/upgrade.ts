import type { Client } from "@libsql/client";
import { drizzle } from "drizzle-orm/libsql";
import { migrate } from "drizzle-orm/libsql/migrator";
import { join } from "node:path";
import { CannotStart } from "#content/runtime/start-error.ts";
import journal from "./migrations/meta/_journal.json";
import { softwareVersion } from "./software.ts";

const migrationsFolder = join(import.meta.dirname, "migrations");
const [baseline] = journal.entries;
const newestKnown = journal.entries.at(-1)?.when ?? 0;

/** Version and commit of the Almoner that last upgraded the store; null if not recorded, as before 0.4. */
export async function storeVersion(client: Client): Promise<string | null> {
  const newest = "SELECT applied_by FROM __drizzle_migrations ORDER BY created_at DESC LIMIT 1";
  // The table of an older version lacks this column.
  const { rows } = await client.execute(newest).catch(() => ({ rows: [] }));
  return rows[0]?.["applied_by"]?.toString() ?? null;
}

/** The time of the store's newest migration, in milliseconds; 0 for a store without tables. */
async function newestOf(client: Client): Promise<number> {
  // Drizzle maintains this table, but cannot tell whether it exists.
  const tableSql = "SELECT 1 FROM sqlite_master WHERE name = '__drizzle_migrations'";
  if ((await client.execute(tableSql)).rows.length === 0) return 0;
  const newest = "SELECT max(created_at) AS newest FROM __drizzle_migrations";
  return Number((await client.execute(newest)).rows[0]?.["newest"] ?? 0);
}

/** The names of the migrations that the store lacks, oldest first. */
export async function pendingMigrations(client: Client): Promise<string[]> {
  const newest = await newestOf(client);
  return journal.entries.filter(({ when }) => when > newest).map(({ tag }) => tag);
}

/** The store has the tables of an incompatible version. */
export class OtherTables extends CannotStart {}

/**
 * Throws OtherTables if the tables are older than the baseline (use an export to move them) or newer than this version,
 * which would write what the newer one cannot read.
 */
export async function refuseOtherTables(client: Client, place: string): Promise<void> {
  const newest = await newestOf(client);
  if (newest === 0) return;
  const isOlder = newest < (baseline?.when ?? 0);
  if (!isOlder && newest <= newestKnown) return;
  const writer = await storeVersion(client);
  if (isOlder) {
    throw new OtherTables(
      `${place} has the tables of Almoner ${writer ?? "0.3 or older"}, and this is Almoner ${softwareVersion()}, which has its own.`,
      "With 0.4.6: `bun run export --all --out all.ndjson`. With this one, in an empty data folder: `bun run import all all.ndjson`, and copy the folder `secrets` there.",
    );
  }
  const name = writer === null ? "a newer Almoner" : `Almoner ${writer}`;
  throw new OtherTables(
    `${place} was upgraded by ${name}, and this is the older Almoner ${softwareVersion()}, which does not know its tables.`,
    `Start ${name}, or restore a backup from before the upgrade.`,
  );
}

/** The migrations for which the store must be used by no one else: those it lacks if it has tables; none if `beside`. */
export const migrationsAlone = async (client: Client, beside: boolean): Promise<string[]> =>
  beside || (await newestOf(client)) === 0 ? [] : pendingMigrations(client);

/**
 * Migrates the tables. Two processes may open a new store at once: the second one retries and finds it done. Throws
 * CannotStart, and changes nothing, if the tables are not what the migrations expect.
 */
export async function migrateAmongOthers(client: Client): Promise<void> {
  const before = await newestOf(client);
  if (before >= newestKnown) return;
  const migrateOnce = () => migrate(drizzle(client), { migrationsFolder });
  await migrateOnce().catch(async () => {
    await Bun.sleep(100);
    const pending = await pendingMigrations(client);
    await migrateOnce().catch((error: unknown) => explainMigrations(error, pending));
  });
  await noteUpgrade(client, before).catch(() => undefined);
}

/** Records the upgrading version, which refusals name. */
async function noteUpgrade(client: Client, before: number): Promise<void> {
  // Prepare nothing: a statement that meets a lock would block this connection. The column may already exist.
  const column = "ALTER TABLE __drizzle_migrations ADD applied_by text";
  await client.executeMultiple(column).catch(() => undefined);
  await client.executeMultiple(
    `UPDATE __drizzle_migrations SET applied_by = '${softwareVersion()}' WHERE created_at > ${before}`,
  );
}

function explainMigrations(error: unknown, pending: readonly string[]): never {
  const message = error instanceof Error ? error.message : "";
  const cause = /^SQLITE_(?:ERROR|CONSTRAINT\w*): (?:SQLITE_\w+: )?(.*)/.exec(message)?.[1];
  if (cause === undefined) throw error;
  throw new CannotStart(
    `The migrations ${pending.join(", ")} failed: ${cause}.`,
    "Nothing was changed. The tables are not as Almoner made them: restore a backup, or go on with the version before, and report this.",
    { cause: error },
  );
}

/** How many rows a connection has written since it was opened. */
export async function rowsWritten(client: Client): Promise<number> {
  const { rows } = await client.execute("SELECT total_changes() AS written");
  return Number(rows[0]?.["written"] ?? 0);
}
