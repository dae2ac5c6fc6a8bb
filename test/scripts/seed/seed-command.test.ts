import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { nonprofits } from "#content/store/tables/nonprofits.ts";
import { openStore } from "#content/store/open.ts";
import { sampleStates } from "#scripts/seed/seed-directory.ts";
import { aNonprofit } from "#test/support/records.ts";
import { runScript } from "#test/support/processes.ts";

const root = join(import.meta.dirname, "../../..");
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "seed-command-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const start = (...args: string[]) =>
  Bun.spawn([process.execPath, "scripts/seed.ts", ...args], {
    cwd: root,
    env: { ...process.env, ALMONER_DATA_DIR: folder },
    stdout: "pipe",
    stderr: "pipe",
  });

const run = (...words: string[]) => runScript("seed", words, { ALMONER_DATA_DIR: folder });

const openedStore = () => openStore({ url: `file:${join(folder, "store.db")}` });

test("a store in use is refused, unless told to add", async () => {
  const first = await run("--profiles", "50", "--json");
  expect(first.code).toBe(0);
  expect(JSON.parse(first.out)).toEqual({ added: 50, from: 0, profiles: 50, seed_number: 1 });
  const second = await run("--profiles", "50");
  expect(second.code).toBe(1);
  expect(second.err).toContain("The store holds 50 nonprofits already");
  const third = await run("--profiles", "25", "--add", "--json");
  expect(JSON.parse(third.out)).toMatchObject({ added: 25, from: 50, profiles: 75 });
}, 240_000);

test("real nonprofits get no invented ones beside them", async () => {
  const store = await openedStore();
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
}, 60_000);

test.each([
  ["--profiles", "0"],
  ["--profiles", "2000001"],
])("%s %s is refused by name", async (option, value) => {
  const { code, err } = await run(`${option}=${value}`);
  expect(code).toBe(2);
  expect(err).toContain(option);
});

test("a killed run is completed by the same command", async () => {
  const profiles = 4_020;
  const child = start("--profiles", String(profiles));
  const store = await openedStore();
  const made = async () => (await sampleStates(store))[0]?.done ?? 0;
  while ((await made()) === 0 && child.exitCode === null) await Bun.sleep(5);
  child.kill("SIGKILL");
  await child.exited;
  const [cut] = await sampleStates(store);
  expect(cut?.done).toBeGreaterThan(0);
  expect(await store.db.$count(nonprofits)).toBe(cut?.done ?? 0);
  expect((await run("--profiles", String(profiles))).code).toBe(0);
  expect(await store.db.$count(nonprofits)).toBe(profiles);
  store.close();
}, 240_000);
