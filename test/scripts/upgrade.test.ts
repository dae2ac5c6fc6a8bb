import { beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { cpSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "#content/store/open.ts";
import { softwareVersion } from "#content/store/software.ts";
import journal from "#content/store/migrations/meta/_journal.json";
import { runProgram, runScript } from "#test/support/processes.ts";
import { theFolder } from "#test/support/at-file-top.ts";

const root = join(import.meta.dirname, "../..");
const folder = theFolder();
/** This code with one migration more. */
const next = join(folder, "next");
const tag = "9000_made_up";
const migrations = join(next, "content/store/migrations");
let stores = 0;

beforeAll(async () => {
  for (const name of ["content", "api", "site", "scripts", "package.json", "tsconfig.json"]) {
    cpSync(join(root, name), join(next, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(next, "node_modules"));
  const entry = { ...journal.entries.at(-1), idx: 9_000, when: Date.parse("2100-01-01"), tag };
  const entries = [...journal.entries, entry];
  await Bun.write(join(migrations, "meta/_journal.json"), JSON.stringify({ ...journal, entries }));
  await Bun.write(
    join(migrations, `${tag}.sql`),
    "ALTER TABLE `changes` ADD `made_up` text;--> statement-breakpoint\nUPDATE `directory_facts` SET `updated_at` = 7;",
  );
});

/** A data folder with a store of this version, in which something stands. */
async function aDataFolder() {
  const dataDir = join(folder, `data-${++stores}`);
  const path = join(dataDir, "store.db");
  const store = await openStore({ url: `file:${path}` });
  await store.write((tx) =>
    tx.raw.execute("INSERT INTO directory_facts VALUES ('a', 'b', 1), ('c', 'd', 1)"),
  );
  store.close();
  // Until then this process uses the file, and a command upgrades none that another process uses.
  Bun.gc(true);
  return { dataDir, path };
}

const envOf = (dataDir: string) => ({ ALMONER_DATA_DIR: dataDir, ALMONER_CHAIN_PORT: "0" });
/** Runs a command of the next version on a data folder. */
const runNext = (script: string, words: string[], dataDir: string) =>
  runScript(script, words, envOf(dataDir), next);

const columnsOf = (path: string): string[] => {
  using db = new Database(path);
  const rows = db.query<{ name: string }, []>("SELECT name FROM pragma_table_info('changes')");
  return rows.all().map((column) => column.name);
};

test("an upgrade is tried on a copy and told, then done, and then there is nothing to do", async () => {
  const { dataDir, path } = await aDataFolder();
  const upgrade = async (...words: string[]) => {
    const { code, out, err } = await runNext("upgrade", words, dataDir);
    expect([code, err]).toEqual([0, ""]);
    return out;
  };
  const plan = JSON.parse(await upgrade("--check", "--json"));
  expect(plan).toMatchObject({ store: path, from: softwareVersion(), pending: [tag] });
  expect(plan.took_s).toBe(null);
  expect(plan.trial.written_rows).toBeGreaterThan(1);
  expect(plan.room.needed_bytes).toBeGreaterThan(500_000);
  expect(readdirSync(dataDir).filter((file) => file.includes("trial"))).toEqual([]);
  expect(columnsOf(path)).not.toContain("made_up");
  const findings = await runNext("doctor", [], dataDir);
  expect(findings.out + findings.err).toContain(`1 migrations wait: ${tag}.`);
  const words = await upgrade();
  expect(words).toContain(tag);
  expect(words).toContain("Upgraded in ");
  expect(columnsOf(path)).toContain("made_up");
  expect(await upgrade("--check")).toContain("\nNothing is to be done");
  // The version before names the one that it cannot follow.
  const refused = await runScript("export", [], { ALMONER_DATA_DIR: dataDir });
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringMatching(/was upgraded by Almoner .* does not know its tables\.\nStart /),
  ]);
});

test("a command upgrades no store that another process uses, and a service does", async () => {
  const { dataDir, path } = await aDataFolder();
  using service = await openStore({ url: `file:${path}`, migrated: true });
  const apart = [process.execPath, join(next, "scripts/upgrade.ts")];
  const { code, err } = await runProgram(apart, { env: envOf(dataDir), cwd: next });
  expect(code).toBe(1);
  expect(err).toMatch(
    /^\S+\.db needs an upgrade \(migrations wait: 9000_made_up\), and another process uses it\.\nStop what uses it /,
  );
  const serves = `import { openStore } from "#content/store/open.ts";
    (await openStore({ url: "file:${path}", serves: true })).close();`;
  await Bun.write(join(next, "serve.ts"), serves);
  expect(await runProgram([process.execPath, join(next, "serve.ts")], { cwd: next })).toMatchObject(
    { code: 0 },
  );
  const { rows } = await service.raw.execute("SELECT name FROM pragma_table_info('changes')");
  expect(rows.map((row) => row["name"])).toContain("made_up");
  // This one goes on with the tables that the next version has upgraded.
  await service.write((tx) => tx.raw.execute("UPDATE directory_facts SET updated_at = 1"));
});

test("a migration that fails is told in two lines, and changes nothing", async () => {
  const { dataDir, path } = await aDataFolder();
  const db = new Database(path);
  // As if somebody had changed the tables by hand.
  db.run("ALTER TABLE changes ADD made_up text");
  db.close();
  for (const words of [["--check"], []]) {
    const { code, out, err } = await runNext("upgrade", words, dataDir);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /^The migrations 9000_made_up failed: duplicate column name: made_up\.\nNothing was changed\. .*\n$/,
    );
  }
  const after = new Database(path);
  expect(after.query("SELECT max(updated_at) AS at FROM directory_facts").get()).toEqual({ at: 1 });
  after.close();
});

type Column = { table: string; name: string; must: number };

/** Every column of every table after these migrations, and whether an INSERT must give it. */
function columnsAfter(sqls: readonly string[]): Column[] {
  using db = new Database(":memory:");
  for (const sql of sqls) db.run(sql);
  return db
    .query<Column, []>(
      `SELECT t.name AS "table", c.name AS name, c."notnull" AND c.dflt_value IS NULL AND NOT c.pk AS must
       FROM sqlite_master AS t, pragma_table_info(t.name) AS c WHERE t.type IN ('table', 'view')`,
    )
    .all();
}

/** What statements of a version that knows the tables as before would miss, and what its INSERTs would not give. */
function broken(before: readonly string[], after: readonly string[]): string[] {
  const nameOf = ({ table, name }: Column) => `${table}.${name}`;
  const known = columnsAfter(before);
  const now = columnsAfter([...before, ...after]);
  const knownNames = new Set(known.map(nameOf));
  const names = new Set(now.map(nameOf));
  return [
    ...[...knownNames].filter((name) => !names.has(name)).map((name) => `${name} is gone`),
    ...now
      .filter((column) => column.must === 1 && !knownNames.has(nameOf(column)))
      .map((column) => `${nameOf(column)} must be given`),
  ].filter((line) => [...known].some(({ table }) => line.startsWith(`${table}.`)));
}

// Services that share a store are restarted one after the other: decision 10.
test("migrations after the baseline only add, so that the version before goes on beside this one", async () => {
  const sqls = await Promise.all(
    journal.entries.map((entry) =>
      Bun.file(join(root, `content/store/migrations/${entry.tag}.sql`)).text(),
    ),
  );
  const [baseline = "", ...later] = sqls;
  expect(broken([baseline], later)).toEqual([]);
  expect(broken([baseline], ["ALTER TABLE changes ADD made_up text"])).toEqual([]);
  expect(broken([baseline], ["DROP TABLE leases", "ALTER TABLE changes DROP COLUMN was"])).toEqual(
    expect.arrayContaining(["changes.was is gone", "leases.name is gone"]),
  );
  const stricter = "DROP TABLE leases; CREATE TABLE leases (name text, made_up text NOT NULL)";
  expect(broken([baseline], [stricter])).toContain("leases.made_up must be given");
});

test("--version of a command names version and commit", async () => {
  const { code, out } = await runScript("upgrade", ["--version"], { ALMONER_DATA_DIR: folder });
  expect([code, out]).toEqual([0, `${softwareVersion()}\n`]);
});
