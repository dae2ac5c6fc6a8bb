import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { drizzle } from "drizzle-orm/libsql";
import { migrate } from "drizzle-orm/libsql/migrator";
import { version } from "#content/contract/base/version.ts";
import { openEmbeddedClient } from "#content/store/embedded-client.ts";
import { openStore } from "#content/store/open.ts";
import { runScript } from "#test/support/processes.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "almoner-upgrading-"));
const path = join(folder, "store.db");

beforeAll(async () => {
  const written = Bun.file(join(root, "test/support/stores/store-of-0.3.0.db.gz"));
  writeFileSync(path, gunzipSync(await written.bytes()));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function upgrade(...options: string[]) {
  const { code, out } = await runScript("upgrade", options, { ALMONER_DATA_DIR: folder });
  expect(code).toBe(0);
  return out;
}

test("an upgrade is tried on a copy and told, then done, and then there is nothing to do", async () => {
  const plan = JSON.parse(await upgrade("--check", "--json"));
  expect(plan).toMatchObject({ store: path, from: null, to: version, took_s: null });
  expect(plan.pending).toContain("0020_submissions_counted");
  expect(plan.trial.written_rows).toBeGreaterThan(20);
  expect(plan.room.needed_bytes).toBeGreaterThan(1_000_000);
  expect(readdirSync(folder).filter((name) => name.includes("trial"))).toEqual([]);
  const words = await upgrade();
  for (const name of plan.pending) expect(words).toContain(name);
  expect(words).toContain("Upgraded in ");
  expect(await upgrade("--check")).toContain(
    `tables of Almoner ${version}; this is ${version}.\nNothing is to be done`,
  );
});

/** The newest migration that every version to come has to live with: from here on two versions run side by side. */
const shared = "0023_registers_and_search";
const migrations = join(root, "content/store/migrations");

/** A store with the tables of an older version. */
async function storeAt(tag: string): Promise<string> {
  const older = join(folder, "migrations");
  cpSync(migrations, older, { recursive: true });
  const journal = await Bun.file(join(older, "meta/_journal.json")).json();
  const upTo = journal.entries.findIndex((entry: { tag: string }) => entry.tag === tag) + 1;
  const entries = journal.entries.slice(0, upTo);
  writeFileSync(join(older, "meta/_journal.json"), JSON.stringify({ ...journal, entries }));
  const made = join(folder, `${tag}.db`);
  const client = openEmbeddedClient(`file:${made}`, { timeout: 20 });
  await migrate(drizzle(client), { migrationsFolder: older });
  client.close();
  return made;
}

type Column = { name: string; type: string; notnull: number; dflt_value: string | null };

function tablesOf(file: string): Map<string, Column[]> {
  using db = new Database(file);
  const names = db
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'",
    )
    .all();
  return new Map(
    names.map(({ name }) => [
      name,
      db.query<Column, [string]>("SELECT * FROM pragma_table_info(?)").all(name),
    ]),
  );
}

/** What statements of the older version would miss, and what its INSERTs would not give. */
function broken(before: Map<string, Column[]>, after: Map<string, Column[]>): string[] {
  return [...before].flatMap(([table, columns]) => {
    const now = after.get(table);
    if (now === undefined) return [`${table} is gone`];
    const gone = columns.filter(({ name }) => !now.some((one) => one.name === name));
    const asked = now.filter(
      ({ name, notnull, dflt_value }) =>
        notnull === 1 && dflt_value === null && !columns.some((one) => one.name === name),
    );
    return [
      ...gone.map(({ name }) => `${table}.${name} is gone`),
      ...asked.map(({ name }) => `${table}.${name} must be given`),
    ];
  });
}

test("tables only grow, so that the version before goes on beside this one", async () => {
  const before = await storeAt(shared);
  const now = join(folder, "now.db");
  (await openStore({ url: `file:${now}` })).close();
  expect(broken(tablesOf(before), tablesOf(now))).toEqual([]);
  // 0.3.0 is older than the promise: it has to be stopped before its store is upgraded.
  const first = await storeAt("0019_audit_log_only_grows");
  expect(broken(tablesOf(first), tablesOf(now))).toContain("listings.name_key is gone");
});
