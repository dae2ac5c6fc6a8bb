import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getTableColumns, getTableName } from "drizzle-orm";
import { verifyAudit, logOperator } from "#content/operation/audit-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { exportTables, importTables, tables } from "#content/store/move.ts";
import { openStore, type Store } from "#content/store/open.ts";
import { runScript } from "#test/support/processes.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theFolder } from "#test/support/at-file-top.ts";
import { theStore } from "#test/support/blank-store.ts";

const now = new Date("2026-11-01");
const folder = theFolder();
const urlOf = (name: string) => `file:${join(folder, name)}/store.db`;

/** A value of each column that its table takes; what other tables know it by is made up. */
function anyRow(table: (typeof tables)[number]): Record<string, string | number> {
  const values = Object.entries(getTableColumns(table)).map(([name, column]) => {
    const text = column.enumValues?.[0] ?? (column.dataType === "json" ? "{}" : `${name}\u2028"x"`);
    return [
      name,
      column.getSQLType() === "text" ? text : column.getSQLType() === "real" ? 0.1 + 0.2 : 1,
    ];
  });
  return {
    ...Object.fromEntries(values),
    ...(getTableName(table) === "nonprofits" && { id: 900 }),
  };
}

const store = await theStore({ url: urlOf("one"), synchronous: "OFF" });
await store.write(async (tx) => {
  const records = [1, 2, 3].map(() => ({
    before: null,
    after: aNonprofit({
      programs: [{ name: "Wells", description: null, beneficiaries_per_year: 3, location: null }],
      usdc_wallet: "w",
    }),
  }));
  await saveNonprofits(tx, records, { origin: "test", now });
  for (const subject of ["a", "b"]) {
    await logOperator(tx, { operator: "ann", action: "note", subject, at: now.getTime() });
  }
  for (const table of tables) {
    const row = anyRow(table);
    const columns = Object.keys(row);
    const sql = `INSERT OR IGNORE INTO ${getTableName(table)} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
    if (getTableName(table) !== "audit_log")
      await tx.raw.execute({ sql, args: Object.values(row) });
  }
  await tx.raw.execute("DELETE FROM changes WHERE sequence = 4");
});

async function exported(): Promise<string> {
  let text = "";
  for await (const lines of exportTables(store)) text += lines;
  return text;
}
const linesOf = async function* (text: string) {
  yield* text.trimEnd().split("\n");
};
const all = async ({ raw }: Store, sql: string) =>
  (await raw.execute(sql)).rows.map((row) => JSON.stringify(row));
/** Tables as the database knows them, but what search indexes are made of. */
const tableNames = (from: Store) =>
  all(
    from,
    "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND name NOT LIKE 'sqlite_schema' ORDER BY name",
  );

test("every row of every table comes back, with ids, indexes and triggers", async () => {
  const names = (await tableNames(store)).map((row) => String(JSON.parse(row).name));
  const own = ["__drizzle_migrations", "sqlite_sequence"];
  expect(names.filter((name) => !own.includes(name)).sort()).toEqual(
    tables.map(getTableName).sort(),
  );
  using other = await openStore({ url: urlOf("two"), synchronous: "OFF" });
  const rows = await importTables(other, linesOf(await exported()));
  expect(rows).toBeGreaterThan(tables.length);
  for (const name of names) {
    const found = await all(store, `SELECT * FROM ${name} ORDER BY 1, 2`);
    expect(found, `${name} has a row`).not.toEqual([]);
    expect(await all(other, `SELECT * FROM ${name} ORDER BY 1, 2`), name).toEqual(found);
    // 4.0 reads as 4.
    const types = Object.keys(JSON.parse(found[0] ?? "{}")).map((column) => `typeof("${column}")`);
    const typed = `SELECT ${types.join(", ")} FROM ${name}`;
    expect((await all(other, typed)).sort(), name).toEqual((await all(store, typed)).sort());
  }
  const schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name";
  expect(await all(other, schema)).toEqual(await all(store, schema));
  const found = "SELECT rowid FROM search_index WHERE search_index MATCH 'sample' ORDER BY rowid";
  expect(await all(other, found)).toEqual(await all(store, found));
  expect(await all(other, "SELECT term, doc, cnt FROM search_vocabulary")).toEqual(
    await all(store, "SELECT term, doc, cnt FROM search_vocabulary"),
  );
  expect((await verifyAudit(other, [])).faults).toEqual([]);
});

test("docs/operating.md says of each table how far it grows", () => {
  const page = readFileSync("docs/operating.md", "utf8");
  const section = page.split("## What grows, and how far")[1]?.split("\n## ")[0] ?? "";
  const unnamed = tables.map(getTableName).filter((name) => !section.includes(`\`${name}\``));
  expect(unnamed).toEqual([]);
});

test("a store with rows, a file of another version and one that is cut short are refused", async () => {
  const text = await exported();
  const refused = async (to: Store, given: string) =>
    importTables(to, linesOf(given)).then(
      () => "taken",
      (error: Error) => error.message,
    );
  expect(await refused(store, text)).toContain("is not empty");
  using empty = await openStore({ url: urlOf("three"), synchronous: "OFF" });
  const lines = text.split("\n");
  expect(await refused(empty, text.replace(/"schema":\d+/, '"schema":1'))).toContain(
    "another version",
  );
  expect(await refused(empty, lines.slice(0, -3).join("\n"))).toContain("cut short");
  expect(await refused(empty, text.slice(0, -60))).toContain("cut short");
  expect(await refused(empty, lines.toSpliced(2, 1).join("\n"))).toContain("rows are missing");
  expect(await refused(empty, text.replace('"columns":', '"colums":'))).toContain(
    "neither a table",
  );
  expect(await refused(empty, '{"id":1}\n')).toContain("not written by");
  expect(await refused(empty, text)).toBe("taken");
});

test("the commands move a directory", async () => {
  const run = (script: string, args: string[], dataDir: string) =>
    runScript(script, args, { ALMONER_DATA_DIR: join(folder, dataDir) });
  const file = join(folder, "everything.ndjson");
  expect(await run("export", ["--all", "--out", file], "one")).toMatchObject({ code: 0 });
  expect(await run("import", ["all", file], "four")).toMatchObject({
    code: 0,
    out: expect.stringContaining("rows"),
  });
  const again = join(folder, "again.ndjson");
  expect(await run("export", ["--all", "--out", again], "four")).toMatchObject({ code: 0 });
  expect(readFileSync(again, "utf8")).toBe(readFileSync(file, "utf8"));
  writeFileSync(file, "{}\n");
  const { code, err } = await run("import", ["all", file], "five");
  expect([code, err]).toEqual([1, expect.stringContaining("Nothing was written")]);
  // A store without rows would be in the way of the next try, or of a restore.
  expect(readdirSync(join(folder, "five")).filter((name) => name.startsWith("store"))).toEqual([]);
  const gone = await run("import", ["all", `${file}.gone`], "six");
  expect([gone.code, gone.err]).toEqual([1, expect.stringContaining(`${file}.gone`)]);
  const twice = readFileSync(again, "utf8").replace(
    /^(\{"table":"audit_log".*\n)(.*\n)/m,
    "$1$2$2",
  );
  writeFileSync(file, twice);
  const torn = await run("import", ["all", file], "seven");
  expect([torn.code, torn.err]).toEqual([
    1,
    expect.stringMatching(/UNIQUE.*\nNothing was written/),
  ]);
  expect(gone.err + torn.err).not.toMatch(/^\s+at /m);
});
