import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import packed from "#content/editorial/packed-register/register.json";
import { noteFact } from "#content/store/facts.ts";
import { fillFromRegister } from "#scripts/start/real-directory.ts";
import { anImporting, outcome } from "#test/support/importing.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

const file = join(import.meta.dirname, "../../content/editorial/packed-register", packed.file);

const made = forEachTest(anImporting);

const fill = () => fillFromRegister(made.store, { dataDir: made.dataDir, tell: () => {} });

test("the register that ships with the project holds no person's name or street", () => {
  const [header = "", ...rows] = gunzipSync(readFileSync(file)).toString().trim().split("\n");
  expect(header).not.toContain("ICO");
  const street = header.split(",").indexOf("STREET");
  expect(rows.filter((row) => !row.includes('"') && row.split(",")[street] !== "")).toEqual([]);
  expect(rows.length).toBe(6_604);
});

test("a real directory is filled once, and holds Rhode Island as of the register's day", async () => {
  await fill();
  const slugs = await made.slugs();
  expect(slugs.length).toBeGreaterThan(4_500);
  expect((await made.record("bryant-university"))?.register_scope).toBe("RI");
  await fill();
  expect(await made.slugs()).toEqual(slugs);
});

test("a sample is never filled with real nonprofits", async () => {
  await made.store.write((tx) =>
    noteFact(tx, { name: "sample:1", value: "{}", now: new Date("2026-11-01") }),
  );
  expect(await outcome(fill())).toContain("sample of invented nonprofits");
  expect(await made.slugs()).toEqual([]);
});
