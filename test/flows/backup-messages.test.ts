import { beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { lastBackup } from "#content/operation/backup-store.ts";
import { saveNonprofits } from "#content/nonprofit/save.ts";
import { openStore } from "#content/store/open.ts";
import { openPlace } from "#scripts/backup/place.ts";
import { freePort, runProgram, runApart, runScript } from "#test/support/processes.ts";
import { aSigningKey } from "#test/support/publisher.ts";
import { aNonprofit } from "#test/support/records.ts";
import { s3AccessTo } from "#test/support/s3.ts";
import { theFolder } from "#test/support/at-file-top.ts";

// What an operator reads in a bad night: each failure is made for real.

const folder = theFolder();
const dataDir = join(folder, "data");
const storeUrl = `file:${join(dataDir, "store.db")}`;
const env = {
  ALMONER_DATA_DIR: dataDir,
  ALMONER_LOG_LEVEL: "silent",
  ALMONER_SEARCH_INDEX: "off",
  ALMONER_PICTURES: "off",
  ALMONER_S3_ACCESS_KEY_ID: "id",
  ALMONER_S3_SECRET_ACCESS_KEY: "secret",
};
const sealed = { ...env, ALMONER_BACKUP_PASSPHRASE: "correct horse battery staple" };
const linesOf = (text: string) => text.trimEnd().split("\n");
const stack = /\n\s+at |^\s*\d+ \|/m;

beforeAll(async () => {
  using store = await openStore({ url: storeUrl });
  const saves = [{ before: null, after: aNonprofit({ slug: "one" }) }];
  await store.write((tx) => saveNonprofits(tx, saves, { origin: "test", now: new Date() }));
  mkdirSync(join(dataDir, "secrets"), { mode: 0o700 });
  writeFileSync(join(dataDir, "secrets/signing-key.pem"), aSigningKey(), { mode: 0o600 });
});

test("a full disk of backups is named, and not that of the store", async () => {
  const to = join(folder, "small-disk");
  mkdirSync(to);
  const mount = await runProgram(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", to]);
  if (mount.code !== 0) {
    process.stderr.write(`not tried, because no disk could be mounted: ${mount.err}`);
    return;
  }
  try {
    const { code, err } = await runScript("backup", ["--to", to], env);
    expect(code).toBe(1);
    const [said = "", remedy = ""] = linesOf(err).slice(-2);
    expect(said).toMatch(/^The backup failed: .*\/small-disk\/.* the disk is full \(ENOSPC\)\.$/);
    expect(remedy).toContain("Free some space");
    expect(said).not.toContain(dataDir);
    expect(lastBackup(dataDir).problem).toContain(to);
    expect(readdirSync(to)).toEqual([]);
  } finally {
    await runProgram(["umount", to]);
  }
});

test("a bucket that refuses connections is told in two lines, by whoever needs it", async () => {
  const endpoint = `http://127.0.0.1:${await freePort()}`;
  const away = { ...env, ALMONER_S3_ENDPOINT: endpoint, ALMONER_BACKUP_TO: "s3://bucket" };
  const elsewhere = { ...away, ALMONER_DATA_DIR: join(folder, "from-bucket") };
  // Each tries again for some ten seconds.
  const [backup, restore, doctor] = await Promise.all([
    runApart("backup", [], away),
    runApart("restore", [], elsewhere),
    runApart("doctor", [], away),
  ]);
  for (const { code, out, err } of [backup, restore, doctor]) {
    expect(code).toBe(1);
    expect(err + out).toContain(`${endpoint}/bucket/: no answer (`);
    expect(err + out).toContain("Look at the store, the network and the settings ALMONER_S3_");
    expect(err + out).not.toMatch(stack);
  }
  expect(linesOf(backup.err)).toHaveLength(2);
  expect(linesOf(restore.err)).toHaveLength(2);
});

test("a bucket that accepts connections and says nothing is given up, in the same words", async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const impatient = { waitMs: 100, retry: { triesMax: 2, firstMs: 1 } };
  const place = openPlace("s3://bucket", s3AccessTo(`http://127.0.0.1:${port}`), impatient);
  if (typeof place === "string") throw new Error(place);
  const failed = await place.names().catch((error: unknown) => error);
  server.close();
  expect(failed).toMatchObject({
    name: "CannotStart",
    message: expect.stringMatching(/\/bucket\/: no answer within 0\.1 s\.\nLook at the store/),
  });
});

test("a restore that was killed is no obstacle to the next", async () => {
  const to = join(folder, "of-killed");
  expect((await runScript("backup", ["--to", to], sealed)).code).toBe(0);
  const [name = ""] = readdirSync(to);
  const part = join(to, name, "store.db.zst.1");
  renameSync(part, `${part}.whole`);
  // It waits for whoever writes into it.
  await runProgram(["mkfifo", part]);
  const restored = join(folder, "from-killed");
  const into = { ...sealed, ALMONER_DATA_DIR: restored };
  const words = [process.execPath, "scripts/restore.ts", "--from", to, "--no-publish"];
  const killed = Bun.spawn(words, { env: { ...process.env, ...into }, stderr: "ignore" });
  const left = () => (existsSync(restored) ? readdirSync(restored) : []);
  for (let look = 0; look < 500 && left().length === 0; look++) await Bun.sleep(20);
  killed.kill("SIGKILL");
  await killed.exited;
  expect(left()).toEqual([`store.db.restoring-${killed.pid}`]);
  // Nor is what one leaves that was killed with its keys half written.
  mkdirSync(join(restored, `secrets.restoring-${killed.pid}`));
  writeFileSync(join(restored, `secrets.restoring-${killed.pid}/desk-key`), "");
  renameSync(`${part}.whole`, part);
  const next = await runScript("restore", ["--from", to, "--no-publish"], into);
  expect([next.code, next.out]).toEqual([0, expect.stringContaining("is restored")]);
  expect(left().filter((one) => one.includes("restoring"))).toEqual([]);
  expect(readdirSync(join(restored, "secrets"))).toEqual(["signing-key.pem"]);
});

test("an index that is gone is named by doctor, which makes it again", async () => {
  const drop = async (type: string, name: string) => {
    using store = await openStore({ url: storeUrl });
    await store.write((tx) => tx.raw.execute(`DROP ${type} ${name}`));
  };
  await drop("INDEX", "changes_by_nonprofit");
  const found = await runScript("doctor", [], env);
  expect([found.code, linesOf(found.out)[0]]).toEqual([
    1,
    "schema: The index changes_by_nonprofit is missing.",
  ]);
  const repaired = await runScript("doctor", ["--repair"], env);
  expect([repaired.code, linesOf(repaired.out)[1]]).toEqual([
    0,
    expect.stringContaining("Repaired."),
  ]);
  // What held something does not come again.
  await drop("TRIGGER", "audit_log_is_not_changed");
  const left = await runScript("doctor", ["--repair"], env);
  expect([left.code, linesOf(left.out)[0]]).toEqual([
    1,
    expect.stringContaining("The trigger audit_log_is_not_changed is missing."),
  ]);
  expect(left.out).not.toContain("changes_by_nonprofit");
});

test("a restore without keys says what will be missing before it begins, a backup without them at its end", async () => {
  const to = join(folder, "without-keys");
  const made = await runScript("backup", ["--to", to], env);
  expect(linesOf(made.err).at(-1)).toMatch(
    /^WITHOUT KEYS: if you lose this machine, the signing key is lost/,
  );
  const into = { ...env, ALMONER_DATA_DIR: join(folder, "keyless") };
  const words = ["--from", to, "--without-keys", "--no-publish"];
  const { code, err } = await runScript("restore", words, into);
  expect(code).toBe(0);
  const [first = "", second = ""] = linesOf(err);
  expect(first).toMatch(/^WITHOUT KEYS: .*\/keyless\/secrets lacks signing-key\.pem, admin-token/);
  expect(first).toContain("bun run rotate-key");
  expect(second).toMatch(/^Restoring /);
});
