import { expect, test } from "bun:test";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { readConfig } from "#api/config.ts";
import { scheduleUpkeep } from "#scripts/publish/watch.ts";
import { lastBackup, noteBackup } from "#content/operation/backup-store.ts";
import { compactActivity, countedByDay } from "#content/operation/activity-store.ts";
import { countedKinds } from "#content/operation/directory-facts-store.ts";
import { openStore } from "#content/store/open.ts";
import { runScript } from "#test/support/processes.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const dataDir = forEachTest(aFolder);

const hourMs = 3_600_000;
const now = new Date("2026-11-22T10:30:00Z");
const open = () => openStore({ url: `file:${dataDir("store.db")}`, serves: true });

test("counts of old hours become counts of days, and no number changes", async () => {
  using store = await open();
  const hours = Array.from(
    { length: 90 * 24 },
    (_, at) => now.getTime() - (now.getTime() % hourMs) - at * hourMs,
  );
  await store.write(async (tx) => {
    for (const hour of hours) {
      const args = ["query:search", hour, 2];
      await tx.raw.execute({ sql: "INSERT INTO activity_counts VALUES (?, ?, ?)", args });
    }
  });
  const told = async () => [
    await countedKinds(store, now),
    await countedByDay(store, ["query:search"], Date.UTC(2026, 8, 1)),
  ];
  const before = await told();
  expect(await compactActivity(store, now)).toBeGreaterThan(1_200);
  expect(await told()).toEqual(before);
  expect(await compactActivity(store, now)).toBe(0);
});

test("the command frees the room of deleted rows, the log and remnants, beside a service", async () => {
  using store = await open();
  await store.write(async (tx) => {
    for (let at = 0; at < 400; at++) {
      const args = [`fact ${at}`, "x".repeat(10_000)];
      await tx.raw.execute({ sql: "INSERT INTO directory_facts VALUES (?, ?, 0)", args });
    }
  });
  await store.write((tx) => tx.raw.execute("DELETE FROM directory_facts WHERE name <> 'fact 7'"));
  const left = ["store.db.restoring-12", "site/compiling-a/x"];
  for (const path of left) {
    const folder = dataDir(path, "..");
    mkdirSync(folder, { recursive: true });
    writeFileSync(dataDir(path), "x".repeat(5_000));
    for (const one of [folder, dataDir(path)]) utimesSync(one, 1_000, 1_000);
  }
  const { out } = await runScript("upkeep", ["--json"], { ALMONER_DATA_DIR: dataDir() });
  const outcome = JSON.parse(out);
  expect(outcome).toMatchObject({ compacted: true, pruned: true, removed: { length: 2 } });
  expect(outcome.freed_bytes).toBeGreaterThan(4_000_000);
  for (const path of left) expect(existsSync(dataDir(path))).toBe(false);
  expect(statSync(dataDir("store.db")).size).toBeLessThan(2_000_000);
  const { rows } = await store.raw.execute("SELECT count(*) AS n FROM directory_facts");
  expect(rows[0]?.["n"]).toBe(1);
  await store.write((tx) => tx.raw.execute("DELETE FROM directory_facts"));
});

test("a directory without a backup gets one soon after its start, and no second on the same day", async () => {
  (await open()).close();
  const env = { ...process.env, ALMONER_DATA_DIR: dataDir() };
  const config = readConfig({ ALMONER_DATA_DIR: dataDir() });
  const told = Promise.withResolvers<string>();
  const errors: unknown[] = [];
  const log = {
    info: () => {},
    warn: (text: unknown) => told.resolve(String(text)),
    error: (facts: unknown) => errors.push(facts),
  };
  const ended = scheduleUpkeep(config, log, { env, afterMs: 0 });
  await Bun.sleep(5);
  await ended.stop();
  await Bun.sleep(0);
  expect(errors).toEqual([]);
  const first = scheduleUpkeep(config, log, { env, afterMs: 1 });
  expect(await told.promise).toContain("holds no keys");
  await first.stop();
  expect(lastBackup(dataDir())).toEqual({ at: expect.any(Number), problem: null });
  const second = scheduleUpkeep(config, log, { env, afterMs: 0 });
  await Bun.sleep(5);
  await second.stop();
  expect(readdirSync(dataDir("backups"))).toHaveLength(1);
  noteBackup(dataDir(), "the disk is full");
  expect(lastBackup(dataDir()).problem).toBe("the disk is full");
  // A mark that root left can be replaced, but not written.
  const [mark, roots] = ["last-backup-failed", "roots"].map((name) => dataDir(name)) as [
    string,
    string,
  ];
  linkSync(mark, roots);
  noteBackup(dataDir(), "it is full again");
  expect(readFileSync(roots, "utf8")).toBe("the disk is full\n");
  expect(lastBackup(dataDir()).problem).toBe("it is full again");
  writeFileSync(dataDir("last-backup-failed"), "");
  expect(lastBackup(dataDir()).problem).toBe("it could not be noted why");
});
