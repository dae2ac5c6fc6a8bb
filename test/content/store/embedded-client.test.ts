import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { filePathOf, openEmbeddedClient } from "#content/store/embedded-client.ts";
import { openStore } from "#content/store/open.ts";
import { theFolder } from "#test/support/at-file-top.ts";

const folder = theFolder();

test.each([
  "INSERT INTO notes VALUES (?)",
  "INSERT INTO notes VALUES (?) RETURNING note",
  "DELETE FROM notes WHERE note = ?",
])("after a write that found the file locked, reads see what others commit: %s", async (sql) => {
  const path = join(folder, `${Bun.hash(sql)}.db`);
  const open = () => openEmbeddedClient(`file:${path}`, { timeout: 5 });
  const mine = open();
  const other = open();
  await mine.execute("PRAGMA journal_mode = WAL");
  await mine.execute("CREATE TABLE notes (note)");
  const count = async () => (await mine.execute("SELECT count(*) AS n FROM notes")).rows[0]?.["n"];

  const lock = await other.transaction("write");
  const failure = await mine.execute({ sql, args: ["mine"] }).catch(String);
  expect(failure).toContain("SQLITE_BUSY");
  await lock.rollback();
  expect(await count()).toBe(0);
  for (let times = 0; times < 3; times += 1) {
    await Bun.sleep(20);
    Bun.gc(true);
    await mine.execute(`SELECT ${times}`);
  }
  await other.execute("INSERT INTO notes VALUES ('theirs')");
  expect(await count()).toBe(1);
  mine.close();
  other.close();
});

test("a statement answers alike each time, with rows or without", async () => {
  const client = openEmbeddedClient(`file:${join(folder, "again.db")}`, { timeout: 5 });
  await client.execute("CREATE TABLE notes (note, size INTEGER)");
  for (const size of [1, 2]) {
    const args = ["mine", size];
    const written = await client.execute({ sql: "INSERT INTO notes VALUES (?, ?)", args });
    expect([written.rowsAffected, Number(written.lastInsertRowid)]).toEqual([1, size]);
    expect([written.columns, written.rows]).toEqual([[], []]);
    const read = await client.execute("SELECT note, size FROM notes ORDER BY size DESC");
    expect([read.columns, read.columnTypes]).toEqual([
      ["note", "size"],
      ["", "INTEGER"],
    ]);
    expect(read.rows.map((row) => [row["note"], row[1]])[0]).toEqual(args);
    const sql = "UPDATE notes SET note = ? WHERE size = ? RETURNING note";
    const returned = await client.execute({ sql, args });
    expect(returned.rows[0]?.["note"]).toBe("mine");
  }
  client.close();
});

test.each([
  ["file:data/store.db", "data/store.db"],
  ["file:/data/my%20store.db", "/data/my store.db"],
  ["file:///data/store.db", "/data/store.db"],
  ["file://localhost/data/store.db", "/data/store.db"],
])("%s names %s", (url, path) => expect(filePathOf(url)).toBe(path));

test.each(["file:/data/store.db?mode=ro", "file:/data/store.db#1", "file://elsewhere/store.db"])(
  "%s is refused",
  (url) => expect(() => filePathOf(url)).toThrow("file:<path>"),
);

test("a store is opened where its URL says", async () => {
  const store = await openStore({ url: `file:${folder}/my%20store.db` });
  store.close();
  expect(existsSync(join(folder, "my store.db"))).toBe(true);
});
