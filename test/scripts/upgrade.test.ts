import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import Libsql from "libsql";
import { drizzle } from "drizzle-orm/libsql";
import { migrate } from "drizzle-orm/libsql/migrator";
import { readConfig } from "#api/config.ts";
import { softwareVersion } from "#content/store/software.ts";
import { openEmbeddedClient } from "#content/store/embedded-client.ts";
import { openStore, servingStore } from "#content/store/open.ts";
import { newestBeforeSharing } from "#content/store/upgrade.ts";
import { examine } from "#scripts/doctor/examine.ts";
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
  expect(plan).toMatchObject({ store: path, from: null, to: softwareVersion(), took_s: null });
  expect(plan.pending).toContain("0020_submissions_counted");
  expect(plan.trial.written_rows).toBeGreaterThan(20);
  expect(plan.room.needed_bytes).toBeGreaterThan(1_000_000);
  expect(readdirSync(folder).filter((name) => name.includes("trial"))).toEqual([]);
  const words = await upgrade();
  for (const name of plan.pending) expect(words).toContain(name);
  expect(words).toContain("Upgraded in ");
  expect(await upgrade("--check")).toContain(
    `tables of Almoner ${softwareVersion()}; this is ${softwareVersion()}.\nNothing is to be done`,
  );
}, 240_000);

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
  const [before, now] = [await storeAt(newestBeforeSharing), await upgraded()];
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
  const before = await outcomes(await storeAt(newestBeforeSharing));
  expect(await outcomes(await upgraded())).toEqual(before);
  // Most of them find rows, and those of the tables' own rules fail.
  expect(before.filter(([, outcome]) => /^[1-9]\d*$/.test(outcome)).length).toBeGreaterThan(200);
  const touched = before.map(([sql]) => /^(?:insert or \w+|insert|update|delete)/i.exec(sql));
  expect(touched.filter(Boolean).length).toBeGreaterThan(120);
  const earlier = new Map(await outcomes(await storeAt(first)));
  expect([...earlier.values()].filter((one) => one.includes("no such column")).length).not.toBe(0);
});

/** What is said when the store is opened; "opened" when nothing is. */
const opening = (file: string, options: object = {}): Promise<string> =>
  openStore({ url: `file:${file}`, ...options }).then(
    (store) => (store.close(), "opened"),
    (error: Error) => error.message,
  );

const inUse =
  /^\S+\.db needs an upgrade \(migrations wait: 00\d\d_.*\), and another process uses it\.\nStop what uses it /;

test("a command upgrades no store that another process uses", async () => {
  const file = await storeAt(newestBeforeSharing);
  const service = await openStore({ url: `file:${file}`, migrated: true });
  expect(await opening(file)).toMatch(inUse);
  await service.write((tx) => tx.raw.execute("UPDATE directory_facts SET updated_at = 1"));
  service.close();
  expect(await opening(file)).toBe("opened");
});

test("a service upgrades the store beside one that can go on, and never beside one that cannot", async () => {
  const outcome = async (tag: string) => {
    const file = await storeAt(tag);
    using _ = await openStore({ url: `file:${file}`, migrated: true });
    return await opening(file, servingStore);
  };
  expect(await outcome(newestBeforeSharing)).toBe("opened");
  expect(await outcome(first)).toMatch(inUse);
});

test("doctor says of an older store which migrations wait, and nothing in SQL", async () => {
  const config = readConfig({
    ALMONER_DATA_DIR: join(folder, "doctor"),
    ALMONER_DATABASE_URL: `file:${await storeAt(first)}`,
    ALMONER_CHAIN_PORT: "0",
  });
  const findings = await examine(config, { now: new Date(), repair: false });
  const found = findings.filter(({ check }) => check !== "disk");
  expect(found.map(({ check }) => check)).toEqual(["upgrade"]);
  expect(found[0]?.found).toMatch(
    /^(?:[2-9]|[1-9]\d) migrations wait: 0020_submissions_counted, 00/,
  );
});

test("a migration that fails is told in two lines, and changes nothing", async () => {
  const file = await storeAt(newestBeforeSharing);
  const db = new Database(file);
  // As if somebody had changed the tables by hand.
  db.run("ALTER TABLE changes ADD was text");
  db.close();
  const before = tablesOf(file);
  for (const words of [["--check"], []]) {
    const env = { ALMONER_DATA_DIR: folder, ALMONER_DATABASE_URL: `file:${file}` };
    const { code, out, err } = await runScript("upgrade", words, env);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /^The migrations (?:00\d\d_\w+, )*0027_\w+.* failed: duplicate column name: was\.\nNothing was changed\. .*\n$/,
    );
  }
  expect(tablesOf(file)).toEqual(before);
}, 240_000);

test.each(["doctor", "review", "start"])(
  "%s --version names version and commit",
  async (name) => {
    const { code, out } = await runScript(name, ["--version"], { ALMONER_DATA_DIR: folder });
    expect([code, out]).toEqual([0, `${softwareVersion()}\n`]);
  },
  240_000,
);
