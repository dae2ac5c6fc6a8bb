import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from "drizzle-kit/api";

const folder = join(import.meta.dirname, "../../../content/store");

test("the tables are those that the migrations make", async () => {
  const names = readdirSync(join(folder, "tables"));
  const modules = await Promise.all(names.map((name) => import(join(folder, "tables", name))));
  const tables = await generateSQLiteDrizzleJson(Object.assign({}, ...modules));
  const snapshots = readdirSync(join(folder, "migrations/meta")).filter((name) =>
    name.endsWith("_snapshot.json"),
  );
  const newest = join(folder, "migrations/meta", snapshots.sort().at(-1) ?? "");
  const migrated = JSON.parse(readFileSync(newest, "utf8"));
  expect(Object.keys(migrated.tables).length).toBeGreaterThan(30);
  expect(await generateSQLiteMigration(migrated, tables)).toEqual([]);
});
