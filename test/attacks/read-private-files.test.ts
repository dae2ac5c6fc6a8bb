import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWindows } from "#api/http/sliding-windows.ts";
import { announceService } from "#api/operator/running-service.ts";
import { closeDataFolder } from "#api/secrets.ts";
import { feedPaths } from "#content/contract/feed.ts";
import { closeToOthers } from "#content/runtime/files.ts";
import { openStore } from "#content/store/open.ts";
import { publishRelease } from "#site/bundle/export-release.ts";
import { storeFiles } from "#site/bundle/release.ts";
import { runProgram, runScript } from "#test/support/processes.ts";
import { aDirectory } from "#test/support/publisher.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const folder = forEachTest(aFolder);

// Another user of the machine looks for files that hold contact data and keys.

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);
const besides = ["", "-wal", "-shm"];
/** A database with its log is for its owner alone; afterwards it is left open. */
const expectOwn = (path: string) => {
  for (const end of besides) expect([end, modeOf(path + end)]).toEqual([end, "600"]);
  for (const end of besides) chmodSync(path + end, 0o644);
};

test("the store and its log are for their owner alone, also where an older version left them open", async () => {
  const path = folder("data", "store.db");
  for (const _ of ["new", "left open"]) {
    using store = await openStore({ url: `file:${path}` });
    await store.write((tx) => tx.raw.execute("CREATE TABLE IF NOT EXISTS x (y)"));
    expectOwn(path);
  }
  expect(modeOf(folder("data"))).toBe("700");
});

test("limits and the address of the service are for their owner alone, also when left open", () => {
  const path = folder("limits.db");
  for (const round of ["new", "left open"]) {
    const windows = openWindows(path);
    const minute = { policy: "x", limit: 1, windowMs: 60_000, grainMs: 1 };
    windows.takeAll([{ counters: [{ window: minute, clients: ["someone"] }], count: 1 }]);
    expectOwn(path);
    // A second one keeps the log there.
    if (round === "new") openWindows(path);
    windows.close();
  }
  const leave = announceService(folder(), "http://127.0.0.1:1");
  expect(modeOf(folder("service.json"))).toBe("600");
  leave();
});

test("a command closes the data folder, says so once, and exports into a file of its owner", async () => {
  const dataDir = folder("data");
  const publicDir = join(dataDir, "public");
  mkdirSync(publicDir, { recursive: true });
  (await openStore({ url: `file:${join(dataDir, "store.db")}` })).close();
  chmodSync(join(dataDir, "store.db"), 0o644);
  chmodSync(dataDir, 0o755);
  const out = folder("backup.ndjson");
  // As in a shell that makes files which everybody may read.
  const words = ["-c", `umask 022; exec '${process.execPath}' scripts/export.ts --out '${out}'`];
  const env = { ALMONER_DATA_DIR: dataDir, ALMONER_PUBLIC_DIR: publicDir };
  const { err } = await runProgram(["sh", ...words], { env });
  expect(err).toContain(`${dataDir} was open to other users`);
  expect(err).toContain("ALMONER_PUBLIC_DIR");
  const modes = [dataDir, join(dataDir, "store.db"), out].map(modeOf);
  expect(modes).toEqual(["700", "600", "600"]);
  expect(closeDataFolder({ dataDir, publicDir })).toBeNull();
});

test("secrets that were left open to all are closed, and it is said", () => {
  const dataDir = folder("open");
  const secrets = join(dataDir, "secrets");
  const key = join(secrets, "desk-key");
  mkdirSync(secrets, { recursive: true, mode: 0o700 });
  writeFileSync(key, "a key");
  chmodSync(dataDir, 0o700);
  chmodSync(secrets, 0o777);
  chmodSync(key, 0o666);
  const said = closeDataFolder({ dataDir, publicDir: null });
  expect([modeOf(secrets), modeOf(key)]).toEqual(["700", "600"]);
  expect(said).toContain(`${secrets} was open to other users`);
  expect(said).toContain("rotate-key");
});

test.skipIf(!existsSync("/proc/self/status"))("what only another may close is left open", () => {
  expect(closeToOthers("/proc/self/status")).toBe("not ours");
  expect(closeToOthers(folder("nothing"))).toBe("private");
});

test("a folder that all users share is left as it is", () => {
  chmodSync(folder(), 0o1777);
  const said = closeDataFolder({ dataDir: folder(), publicDir: null });
  expect(said).toContain(`${folder()} is a folder that all users of this machine share`);
  expect(modeOf(folder())).toBe("1777");
});

test("published files stay readable in a folder outside; one with other files is not taken, and one of before is filled again", async () => {
  using directory = await aDirectory();
  const path = "nonprofits/water.html";
  const publish = (body: string) => {
    const { context } = directory.publisher;
    const list = { path: feedPaths.manifest, body: "{}" };
    const { files } = storeFiles(context, [{ path, body }, list]);
    const draft = { reason: "test", asOf: 1, withoutHistory: "", state: {} };
    publishRelease(context, { ...draft, files });
  };
  publish("Older words");
  const own = folder("own");
  const other = folder("other");
  const theirs = folder("theirs");
  mkdirSync(theirs);
  writeFileSync(join(theirs, "thesis.txt"), "years of work");
  expect(await directory.restart({ publicDir: theirs }).catch(String)).toContain("is not empty");
  expect(existsSync(join(theirs, "thesis.txt"))).toBe(true);
  await directory.restart({ publicDir: own });
  const page = join(own, path);
  expect(modeOf(page)).toBe("444");
  await directory.restart({ publicDir: other });
  publish("Newer words");
  await directory.restart({ publicDir: own });
  expect(readFileSync(page, "utf8")).toContain("Newer words");
});

test("a folder of published files cannot hold the data folder", async () => {
  writeFileSync(folder("x"), "");
  const own = { ALMONER_DATA_DIR: folder("data"), ALMONER_PUBLIC_DIR: folder() };
  const { code, err } = await runScript("export", [], own);
  expect([code, err]).toEqual([2, expect.stringMatching(/^ALMONER_PUBLIC_DIR: /)]);
});
