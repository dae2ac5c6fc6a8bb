import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findEpoch } from "#content/feed/store.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { everyPath } from "#content/runtime/every-path.ts";
import { openStore } from "#content/store/open.ts";
import { bringBack } from "#scripts/backup/bring-back.ts";
import { outdatedBackups } from "#scripts/backup/kept.ts";
import { openKeys, readKeys, sealKeys, WrongPassphrase } from "#scripts/backup/keys.ts";
import { type BackupPlace, manifestOf, openPlace } from "#scripts/backup/place.ts";
import { takeBackup } from "#scripts/backup/take.ts";
import { DamagedBackup } from "#scripts/backup/unpack.ts";
import { aDirectory, type Directory } from "#test/support/publisher.ts";
import { anS3Store, s3AccessTo } from "#test/support/s3.ts";

const passphrase = "correct horse battery staple";
let directory: Directory;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "almoner-backup-"));
  directory = await aDirectory(
    Array.from({ length: 30 }, (_, at) => ({ slug: `trust-${at}`, name: `Trust ${at}` })),
  );
  await directory.publisher.buildAll({ processes: 1 });
  await directory.edit("trust-1", { tagline: "Before the backup" });
  await directory.drain();
});
afterAll(() => {
  directory.close();
  rmSync(folder, { recursive: true, force: true });
});

const placeAt = (to: string, endpoint = ""): BackupPlace => {
  const place = openPlace(to, s3AccessTo(endpoint));
  if (typeof place === "string") throw new Error(place);
  return place;
};
const backup = (place: BackupPlace, now = new Date()) =>
  takeBackup({
    place,
    store: join(directory.dataDir, "store.db"),
    workFolder: join(folder, "work"),
    keys: { "signing-key.pem": "the key" },
    passphrase,
    software: "0.0.0",
    now,
    onStep: () => {},
  });
const urlIn = (dataDir: string) => `file:${join(dataDir, "store.db")}`;
const restore = async (place: BackupPlace, name: string, to: string, sameFeed: boolean) => {
  const dataDir = join(folder, to);
  const manifest = await manifestOf(place, name);
  const keys = openKeys(await place.read(`${name}/keys.sealed`), passphrase);
  const options = { dataDir, databaseUrl: urlIn(dataDir), keys, sameFeed, now: new Date() };
  return { dataDir, epoch: await bringBack(place, manifest, options) };
};
const contentOf = (dataDir: string) => {
  const shown = join(dataDir, "public");
  return new Map(
    [...everyPath(shown)].sort().map((path) => [path, readFileSync(join(shown, path), "base64")]),
  );
};

test("what was acknowledged before a backup under load is in it, and it is whole", async () => {
  const place = placeAt(join(folder, "loaded"));
  let writing = true;
  let written = 0;
  const load = (async () => {
    for (; writing; written++) {
      await directory.edit("trust-2", { tagline: `line ${written + 1}` });
      await Bun.sleep(20);
    }
  })();
  while (written < 20) await Bun.sleep(1);
  const before = written;
  const { manifest } = await backup(place);
  const after = written;
  writing = false;
  await load;
  const { dataDir } = await restore(place, manifest.name, "from-load", false);
  using store = await openStore({ url: urlIn(dataDir) });
  const line = Number((await recordBySlug(store, "trust-2"))?.tagline?.slice(5));
  expect(line).toBeGreaterThanOrEqual(before);
  expect(line).toBeLessThanOrEqual(after + 1);
  expect(manifest.facts.rows).toMatchObject({ nonprofits: 30, feed_files: 2 });
  expect(readKeys(dataDir)).toEqual({ "signing-key.pem": "the key" });
  expect(statSync(join(dataDir, "secrets/signing-key.pem")).mode & 0o077).toBe(0);
  await directory.drain();
});

test("a directory whose data folder was destroyed shows the same bytes again", async () => {
  const place = placeAt(join(folder, "quiet"));
  await directory.publisher.buildAll({ processes: 1 });
  const published = contentOf(directory.dataDir);
  const { manifest } = await backup(place);
  const { dataDir, epoch } = await restore(place, manifest.name, "restored", true);
  expect(epoch).toBeNull();
  cpSync(join(directory.dataDir, "store.db"), join(folder, "kept.db"));
  const own = { dataDir: directory.dataDir, databaseUrl: urlIn(directory.dataDir) };
  await directory.restart({ dataDir, databaseUrl: urlIn(dataDir) });
  await directory.publisher.buildAll({ processes: 1 });
  expect(contentOf(dataDir)).toEqual(published);
  await directory.restart(own);
});

test("where more may have been published, the feed begins a new epoch above it", async () => {
  const place = placeAt(join(folder, "older"));
  const hourAgo = new Date(Date.now() - 3_600_000);
  const { manifest } = await backup(place, hourAgo);
  const { dataDir, epoch } = await restore(place, manifest.name, "restored-later", false);
  expect(epoch).not.toBe(await findEpoch(directory.store));
  const own = { dataDir: directory.dataDir, databaseUrl: urlIn(directory.dataDir) };
  await directory.restart({ dataDir, databaseUrl: urlIn(dataDir) });
  await directory.publisher.buildAll({ processes: 1 });
  const state = JSON.parse(directory.read("changes/state.json") ?? "");
  expect(state.epoch).toBe(epoch);
  expect(state.sequence).toBeGreaterThan(9_000);
  expect(directory.read("nonprofits/trust-1.html")).toContain("Before the backup");
  expect((await directory.publisher.buildAll({ processes: 1 })).differing).toEqual([]);
  await directory.restart(own);
});

test("a backup goes to a bucket and comes back from it, and old ones go", async () => {
  const s3 = await anS3Store("backups");
  try {
    const place = placeAt("s3://backups/almoner", s3.endpoint);
    expect(await place.names()).toEqual([]);
    const older = await backup(place, new Date("2026-11-20T01:00:00Z"));
    const newer = await backup(place, new Date("2026-11-20T02:00:00Z"));
    expect(newer.removed).toEqual([older.manifest.name]);
    expect(await place.names()).toEqual([newer.manifest.name]);
    expect((await s3.keys()).filter((key) => key.includes(older.manifest.name))).toEqual([]);
    const { dataDir } = await restore(place, newer.manifest.name, "from-bucket", false);
    using store = await openStore({ url: urlIn(dataDir) });
    expect((await recordBySlug(store, "trust-1"))?.tagline).toBe("Before the backup");
  } finally {
    await s3.close();
  }
});

test("a damaged backup is refused, and a wrong passphrase opens nothing", async () => {
  const place = placeAt(join(folder, "damaged"));
  const { manifest } = await backup(place);
  const part = join(folder, "damaged", manifest.name, manifest.store.parts[0]?.name ?? "");
  const bytes = readFileSync(part);
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  writeFileSync(part, bytes);
  const refused = await restore(place, manifest.name, "from-damaged", false).catch(
    (error: unknown) => error,
  );
  expect(refused).toBeInstanceOf(DamagedBackup);
  expect(existsSync(join(folder, "from-damaged/store.db"))).toBe(false);
  const sealed = sealKeys({ a: "b" }, passphrase);
  expect(openKeys(sealed, passphrase)).toEqual({ a: "b" });
  expect(() => openKeys(sealed, "another one")).toThrow(WrongPassphrase);
  expect(Buffer.from(sealed).includes('b"')).toBe(false);
});

test("the newest of seven days and of four weeks are kept", () => {
  const day = (at: number) =>
    new Date(Date.UTC(2026, 9, 1 + at, 2)).toISOString().replace(/[:.]/g, "-");
  const all = Array.from({ length: 52 }, (_, at) => day(at));
  const gone = new Set(outdatedBackups([...all, "notes", day(51).replace("T02", "T01")]));
  const kept = all.filter((name) => !gone.has(name)).map((name) => name.slice(0, 10));
  // The last seven days, to Saturday the 21st, and the Sundays before.
  expect(kept).toEqual([
    "2026-11-01",
    "2026-11-08",
    "2026-11-15",
    ...[16, 17, 18, 19, 20, 21].map((at) => `2026-11-${at}`),
  ]);
  expect(gone.has("notes")).toBe(false);
  expect(gone.size).toBe(52 - 9 + 1);
});

describe("the commands", () => {
  const run = async (script: string, args: string[], env: Record<string, string>) => {
    const child = Bun.spawn([process.execPath, `scripts/${script}.ts`, ...args], {
      env: { ...process.env, ALMONER_LOG_LEVEL: "silent", ...env },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err] = [
      await new Response(child.stdout).text(),
      await new Response(child.stderr).text(),
    ];
    return { code: await child.exited, out, err };
  };
  test("say what they did, that keys are left out, and overwrite nothing", async () => {
    const { dataDir } = directory;
    const made = await run("backup", [], { ALMONER_DATA_DIR: dataDir });
    expect([made.code, made.out]).toEqual([
      0,
      expect.stringContaining("unpacked and read through"),
    ]);
    expect(made.err).toContain("WITHOUT KEYS");
    expect(readdirSync(join(dataDir, "backups"))).toHaveLength(1);
    expect(existsSync(join(dataDir, "last-backup"))).toBe(true);
    const again = await run("restore", [], { ALMONER_DATA_DIR: dataDir });
    expect([again.code, again.err]).toEqual([2, expect.stringContaining("is not empty")]);
    const elsewhere = { ALMONER_DATA_DIR: join(folder, "by-command") };
    const from = join(dataDir, "backups");
    const keyless = await run("restore", ["--from", from], elsewhere);
    expect([keyless.code, keyless.err]).toEqual([2, expect.stringContaining("holds no keys")]);
    const unsigned = await run("restore", ["--from", from, "--without-keys"], elsewhere);
    expect([unsigned.code, unsigned.err]).toEqual([
      1,
      expect.stringMatching(/is restored, and not published[^]*holds no signing key[^]*rotate-key/),
    ]);
    expect(existsSync(join(folder, "by-command/store.db"))).toBe(true);
    const failed = await run("backup", ["--to", "s3://no"], { ALMONER_DATA_DIR: dataDir });
    expect(failed.code).toBe(2);
  });
});
