import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWindows } from "#api/http/limit-place.ts";
import { announceService } from "#api/operator/running-service.ts";
import { closeToOthers } from "#content/runtime/files.ts";
import { openStore } from "#content/store/open.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aBuiltDirectory, aDirectory } from "#test/support/publisher.ts";

// Another user of the machine looks for files that hold contact data and keys.

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "almoner-private-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);
const besides = ["", "-wal", "-shm"];
/** A database with its log is for its owner alone; afterwards it is left open. */
const expectOwn = (path: string) => {
  for (const end of besides) expect([end, modeOf(path + end)]).toEqual([end, "600"]);
  for (const end of besides) chmodSync(path + end, 0o644);
};

/** Runs a command as an operator does whose shell makes files that everybody may read. */
function command(script: string, dataDir: string, ...given: string[]) {
  const words = [process.execPath, script, ...given].map((word) => `'${word}'`).join(" ");
  const publicDir = join(dataDir, "public");
  const own = { ALMONER_DATA_DIR: dataDir, ALMONER_PUBLIC_DIR: publicDir, ALMONER_CHAIN_PORT: "0" };
  return Bun.spawnSync(["sh", "-c", `umask 022; exec ${words}`], {
    env: { ...process.env, ...own },
  });
}

test("the store and its log are for their owner alone, also where an older version left them open", async () => {
  const path = join(folder, "data", "store.db");
  for (const _ of ["new", "left open"]) {
    using store = await openStore({ url: `file:${path}` });
    await store.write((tx) => tx.raw.execute("CREATE TABLE IF NOT EXISTS x (y)"));
    expectOwn(path);
  }
  expect(modeOf(join(folder, "data"))).toBe("700");
});

test("limits and the address of the service are for their owner alone, also when left open", () => {
  const path = join(folder, "limits.db");
  for (const round of ["new", "left open"]) {
    const windows = openWindows(path);
    const minute = { policy: "x", limit: 1, windowMs: 60_000, grainMs: 1 };
    windows.takeAll([{ counters: [{ window: minute, clients: ["someone"] }], count: 1 }]);
    expectOwn(path);
    // A second one keeps the log there.
    if (round === "new") openWindows(path);
    windows.close();
  }
  const leave = announceService(folder, "http://127.0.0.1:1");
  expect(modeOf(join(folder, "service.json"))).toBe("600");
  leave();
});

test("commands close the data folder, say so once, and export into files of their owner", async () => {
  const data = join(folder, "data");
  mkdirSync(join(data, "public"), { recursive: true });
  (await openStore({ url: `file:${join(data, "store.db")}` })).close();
  chmodSync(join(data, "store.db"), 0o644);
  chmodSync(data, 0o755);
  const out = join(folder, "backup.ndjson");
  const first = command("scripts/export.ts", data, "--out", out);
  expect(first.stderr.toString()).toContain(`${data} was open to other users`);
  expect(first.stderr.toString()).toContain("ALMONER_PUBLIC_DIR");
  const modes = [data, join(data, "store.db"), out].map(modeOf);
  expect(modes).toEqual(["700", "600", "600"]);
  const second = command("scripts/export.ts", data, "--out", out);
  expect(second.stderr.toString()).not.toContain("open to");
});

test("secrets that were left open to all are closed, and it is said", () => {
  const data = join(folder, "open");
  const key = join(data, "secrets", "desk-key");
  mkdirSync(join(data, "secrets"), { recursive: true, mode: 0o700 });
  writeFileSync(key, "a key");
  chmodSync(data, 0o700);
  chmodSync(join(data, "secrets"), 0o777);
  chmodSync(key, 0o666);
  const said = command("scripts/export.ts", data).stderr.toString();
  expect([modeOf(join(data, "secrets")), modeOf(key)]).toEqual(["700", "600"]);
  expect(said).toContain(`${join(data, "secrets")} was open to other users`);
  expect(said).toContain("rotate-key");
});

test.skipIf(!existsSync("/proc/self/status"))("what only another may close is left open", () => {
  expect(closeToOthers("/proc/self/status")).toBe("not ours");
  expect(closeToOthers(join(folder, "nothing"))).toBe("private");
});

test("a folder that all users share is left as it is", () => {
  chmodSync(folder, 0o1777);
  const done = command("scripts/export.ts", folder);
  expect(done.stderr.toString()).toContain(
    `${folder} is a folder that all users of this machine share`,
  );
  expect(modeOf(folder)).toBe("1777");
});

test("published files stay readable in a folder outside, which is filled when it is new", async () => {
  const directory = await aBuiltDirectory([aNonprofit({ slug: "water" })]);
  const publicDir = join(folder, "public");
  await directory.restart({ publicDir });
  expect(modeOf(join(publicDir, "nonprofits/water.html"))).toBe("444");
  directory.close();
});

test("a folder with other files is not taken, and one of before is filled again", async () => {
  const directory = await aDirectory([aNonprofit({ slug: "water" })]);
  const [one, other, theirs] = [join(folder, "one"), join(folder, "other"), join(folder, "theirs")];
  mkdirSync(theirs);
  writeFileSync(join(theirs, "thesis.txt"), "years of work");
  expect(await directory.restart({ publicDir: theirs }).catch(String)).toContain("is not empty");
  expect(existsSync(join(theirs, "thesis.txt"))).toBe(true);
  await directory.restart({ publicDir: one });
  await directory.publisher.buildAll();
  await directory.restart({ publicDir: other });
  await directory.publish("water", { tagline: "Newer words" });
  await directory.restart({ publicDir: one });
  expect(readFileSync(join(one, "nonprofits/water.html"), "utf8")).toContain("Newer words");
  directory.close();
});

test("a folder of published files cannot hold the data folder", () => {
  writeFileSync(join(folder, "x"), "");
  const done = Bun.spawnSync([process.execPath, "scripts/export.ts"], {
    env: { ...process.env, ALMONER_DATA_DIR: join(folder, "data"), ALMONER_PUBLIC_DIR: folder },
  });
  expect(done.exitCode).toBe(2);
  expect(done.stderr.toString()).toStartWith("ALMONER_PUBLIC_DIR: ");
});
