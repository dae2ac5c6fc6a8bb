import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import Libsql from "libsql";
import { drizzle } from "drizzle-orm/libsql";
import { migrate } from "drizzle-orm/libsql/migrator";
import { version } from "#content/contract/base/version.ts";
import { openEmbeddedClient } from "#content/store/embedded-client.ts";
import { openStore } from "#content/store/open.ts";
import { runScript } from "#test/support/processes.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "almoner-upgrading-"));
const path = join(folder, "store.db");
const fixture = (name: string) => Bun.file(join(root, "test/support/stores", name));
const written = fixture("store-of-0.3.0.db.gz");
let stores = 0;

beforeAll(async () => {
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
/** The newest migration of 0.3.0. */
const first = "0019_audit_log_only_grows";
const migrations = join(root, "content/store/migrations");

/** The store of 0.3.0, with its rows, and the tables of a version. */
async function storeAt(tag: string): Promise<string> {
  const older = join(folder, "migrations");
  cpSync(migrations, older, { recursive: true });
  const journal = await Bun.file(join(older, "meta/_journal.json")).json();
  const upTo = journal.entries.findIndex((entry: { tag: string }) => entry.tag === tag) + 1;
  const entries = journal.entries.slice(0, upTo);
  writeFileSync(join(older, "meta/_journal.json"), JSON.stringify({ ...journal, entries }));
  const made = join(folder, `${tag}-${++stores}.db`);
  writeFileSync(made, gunzipSync(await written.bytes()));
  const client = openEmbeddedClient(`file:${made}`, { timeout: 20 });
  await migrate(drizzle(client), { migrationsFolder: older });
  client.close();
  return made;
}

/** The same store as this version leaves it. */
async function upgraded(): Promise<string> {
  const file = await storeAt(first);
  (await openStore({ url: `file:${file}` })).close();
  return file;
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
  const [before, now] = [await storeAt(shared), await upgraded()];
  expect(broken(tablesOf(before), tablesOf(now))).toEqual([]);
  // 0.3.0 is older than the promise: it has to be stopped before its store is upgraded.
  expect(broken(tablesOf(await storeAt(first)), tablesOf(now))).toContain(
    "listings.name_key is gone",
  );
});

/** Runs, one after another, what the version before sent; answers for each how many rows it gave or changed, or its error. */
async function outcomes(file: string): Promise<[sql: string, outcome: string][]> {
  const lines = await fixture("statements-of-0023.ndjson.gz").bytes();
  const db = new Libsql(file);
  const run = (sql: string, args: unknown): string => {
    try {
      const statement = db.prepare(sql);
      return String(statement.reader ? statement.all(args).length : statement.run(args).changes);
    } catch (error) {
      return String(error);
    }
  };
  const sent = new TextDecoder().decode(gunzipSync(lines)).trimEnd().split("\n");
  const done = sent.map((line): [string, string] => {
    const [sql, args] = JSON.parse(line) as [string, unknown];
    return [sql, run(sql, args)];
  });
  db.close();
  return done;
}

test("statements of the version before do on these tables what they did on its own", async () => {
  const before = await outcomes(await storeAt(shared));
  expect(await outcomes(await upgraded())).toEqual(before);
  // Most of them find rows, and those of the tables' own rules fail.
  expect(before.filter(([, outcome]) => /^[1-9]\d*$/.test(outcome)).length).toBeGreaterThan(200);
  const touched = before.map(([sql]) => /^(?:insert or \w+|insert|update|delete)/i.exec(sql));
  expect(touched.filter(Boolean).length).toBeGreaterThan(120);
  const earlier = new Map(await outcomes(await storeAt(first)));
  expect([...earlier.values()].filter((one) => one.includes("no such column")).length).not.toBe(0);
});
