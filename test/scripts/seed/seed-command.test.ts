import { expect, test } from "bun:test";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { openStore } from "#content/store/open.ts";
import { aNonprofit } from "#test/support/records.ts";
import { runScript } from "#test/support/processes.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const folder = forEachTest(aFolder);

const run = (...words: string[]) => runScript("seed", words, { ALMONER_DATA_DIR: folder() });

test("a store in use is refused, unless told to add", async () => {
  const first = await run("--profiles", "8", "--json");
  expect(first.code).toBe(0);
  expect(JSON.parse(first.out)).toEqual({ added: 8, from: 0, profiles: 8, seed_number: 1 });
  const second = await run("--profiles", "8");
  expect(second.code).toBe(1);
  expect(second.err).toContain("The store holds 8 nonprofits already");
  const third = await run("--profiles", "4", "--add", "--json");
  expect(JSON.parse(third.out)).toMatchObject({ added: 4, from: 8, profiles: 12 });
});

test("real nonprofits get no invented ones beside them", async () => {
  const store = await openStore({ url: `file:${folder("store.db")}` });
  await store.write((tx) =>
    saveNonprofits(tx, [{ before: null, after: aNonprofit() }], {
      origin: "seed",
      now: new Date(),
    }),
  );
  store.close();
  const { code, err } = await run("--profiles", "25", "--add");
  expect(code).toBe(1);
  expect(err).toContain("never to real ones");
});

test.each([
  ["--profiles", "0"],
  ["--profiles", "2000001"],
])("%s %s is refused by name", async (option, value) => {
  const { code, err } = await run(`${option}=${value}`);
  expect(code).toBe(2);
  expect(err).toContain(option);
});
