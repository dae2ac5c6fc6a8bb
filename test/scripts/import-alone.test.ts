import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { openStore } from "#content/store/open.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { isFull } from "#test/support/measured.ts";
import { anImporting, outcome, registerFile, type TestImporting } from "#test/support/importing.ts";

const real = join(process.env["ALMONER_REGISTER_DATA"] ?? "", "irs_bmf/eo_ri.csv.gz");
const rowsMax = isFull ? 3_000 : 400;

/** Real rows where there are some, else those of the hand-written file. */
function someRows(): string {
  if (process.env["ALMONER_REGISTER_DATA"] === undefined)
    return readFileSync(registerFile("eo_aa.csv"), "utf8");
  return gunzipSync(readFileSync(real)).toString().split("\n").slice(0, rowsMax).join("\n");
}

/** All rows of all tables, each table in an order that does not depend on how it was filled, and what search finds where. */
async function contents({ store }: TestImporting): Promise<Record<string, string>> {
  const all = async (sql: string) =>
    (await store.raw.execute(sql)).rows.map((row) => JSON.stringify(Object.values(row)));
  const listed = await store.raw.execute(
    "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND name NOT LIKE 'sqlite_%'",
  );
  const dump: Record<string, string> = {};
  for (const { name } of listed.rows)
    dump[String(name)] = (await all(`SELECT * FROM ${String(name)}`)).toSorted().join("\n");
  for (const index of ["search_index", "search_words"]) {
    await store.raw.execute(
      `CREATE VIRTUAL TABLE temp.${index}_terms USING fts5vocab(main, ${index}, instance)`,
    );
    dump[index] = (await all(`SELECT * FROM temp.${index}_terms`)).join("\n");
  }
  dump["schema"] = (await all("SELECT type, name, sql FROM sqlite_schema")).toSorted().join("\n");
  return dump;
}

test("an import alone, with indexes at the end, makes the same store as one in steps", async () => {
  const rows = someRows();
  const made: Record<string, string>[] = [];
  for (const alone of [true, false]) {
    using importing = await anImporting({ alone });
    const first = await importing.run("irs-bmf", [importing.file("eo.csv", rows)]);
    const again = await importing.run("irs-bmf", [importing.file("eo.csv", rows)]);
    expect(again).toMatchObject({ added: 0, changed: 0, unchanged: first.added });
    made.push(await contents(importing));
  }
  const [alone = {}, inSteps = {}] = made;
  expect(Object.keys(alone)).toEqual(Object.keys(inSteps));
  for (const [name, text] of Object.entries(alone))
    expect({ name, same: text === inSteps[name] }).toEqual({ name, same: true });
});

test("an import alone that is stopped leaves the store as it was, and others use it afterwards", async () => {
  using importing = await anImporting({ alone: true });
  const stop = new AbortController();
  const stopped = importing.run("irs-bmf", ["eo_aa.csv"], {
    signal: stop.signal,
    onProgress: (step) => step === "applying" && stop.abort(),
  });
  expect(await outcome(stopped)).toBe(
    "Interrupted: interrupted; nothing was written. Run the same command again to begin from the start",
  );
  expect(await importing.store.db.$count(nonprofits)).toBe(0);
  expect(await importing.run("irs-bmf", ["eo_aa.csv"])).toMatchObject({ added: 7 });
  using other = await openStore({ url: `file:${join(importing.dataDir, "store.db")}` });
  await other.write((tx) => tx.db.delete(nonprofits));
  expect(await importing.slugs()).toEqual([]);
});
