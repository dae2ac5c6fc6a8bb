import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { readConfig } from "#api/config.ts";
import { checkSigningKey } from "#api/secrets.ts";
import { findEpoch } from "#content/feed/store.ts";
import { recordBySlug } from "#content/nonprofit/record-store.ts";
import { lastBackup } from "#content/operation/backup-store.ts";
import { everyPath } from "#content/runtime/files.ts";
import { exportTables } from "#content/store/move.ts";
import { checkCopy, copyStore } from "#content/store/file-work.ts";
import { openStore } from "#content/store/open.ts";
import { bringBack, readPart, unpackStore } from "#scripts/backup/bring-back.ts";
import { openKeys, readKeys, WrongPassphrase } from "#scripts/backup/keys.ts";
import { type BackupPlace, DamagedBackup, manifestOf, openPlace } from "#scripts/backup/place.ts";
import { type BackupOptions, outdatedBackups, takeBackup } from "#scripts/backup/take.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import { type NewFile, openManifest } from "#site/bundle/manifest.ts";
import { runScript } from "#test/support/processes.ts";
import { theDirectory, aSigningKey, putCompiledSite } from "#test/support/publisher.ts";
import { clientsInstalled } from "#test/support/clients.ts";
import { anS3Store, s3AccessTo } from "#test/support/s3.ts";
import { until } from "#test/support/until.ts";
import { theFolder } from "#test/support/at-file-top.ts";

const passphrase = "correct horse battery staple";
const signingKey = aSigningKey();

const folder = theFolder();
const directory = await theDirectory(
  Array.from({ length: 3 }, (_, at) => ({ slug: `trust-${at}`, name: `Trust ${at}` })),
);
const own = directory.dataDir;
const keyFile = join(own, "secrets/signing-key.pem");
mkdirSync(join(own, "secrets"));
writeFileSync(keyFile, signingKey);
await checkSigningKey(readConfig({ ALMONER_DATA_DIR: own }), directory.store, new Date());
await directory.restart({ signingKey });
await directory.publisher.buildAll({ processes: 0 });
await directory.publish("trust-1", { tagline: "Before the backup" });

const placeAt = (to: string, endpoint = ""): BackupPlace => {
  const place = openPlace(to, s3AccessTo(endpoint));
  if (typeof place === "string") throw new Error(place);
  return place;
};
const backup = (place: BackupPlace, now = new Date(), options: Partial<BackupOptions> = {}) =>
  takeBackup({
    place,
    store: join(directory.dataDir, "store.db"),
    dataDir: folder,
    keys: { "signing-key.pem": "the key" },
    passphrase: null,
    software: "0.0.0",
    prunes: true,
    now,
    onStep: () => {},
    ...options,
  });
const urlIn = (dataDir: string) => `file:${join(dataDir, "store.db")}`;
const restore = async (
  place: BackupPlace,
  name: string,
  to: string,
  { sameFeed = false, keysToo = false } = {},
) => {
  const dataDir = join(folder, to);
  const manifest = await manifestOf(place, name);
  const sealed = manifest.keys === null ? null : await readPart(place, name, manifest.keys);
  const keys = sealed === null || !keysToo ? {} : openKeys(sealed, passphrase);
  const options = { dataDir, databaseUrl: urlIn(dataDir), keys, sameFeed, now: new Date() };
  return { dataDir, epoch: await bringBack(place, manifest, options) };
};
const contentOf = (dataDir: string) => {
  using manifest = openManifest(join(dataDir, "bundle"), { readonly: true });
  const blobs = openBlobs(manifest);
  const files = manifest.db
    .query<NewFile, []>("SELECT path, lower(hex(digest)) AS digest, size FROM files ORDER BY path")
    .all();
  return new Map(files.map(({ path, digest }) => [path, blobs.read(digest).toString("base64")]));
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
  const { manifest } = await backup(place, new Date(), { passphrase });
  const after = written;
  writing = false;
  await load;
  const { dataDir } = await restore(place, manifest.name, "from-load", { keysToo: true });
  using store = await openStore({ url: urlIn(dataDir) });
  const line = Number((await recordBySlug(store, "trust-2"))?.tagline?.slice(5));
  expect(line).toBeGreaterThanOrEqual(before);
  expect(line).toBeLessThanOrEqual(after + 1);
  expect(manifest.facts.rows).toMatchObject({ nonprofits: 3, feed_files: 2 });
  expect(readKeys(dataDir)).toEqual({ "signing-key.pem": "the key" });
  expect(statSync(join(dataDir, "secrets/signing-key.pem")).mode & 0o077).toBe(0);
  await directory.drain();
});

test("where more may have been published, the feed begins a new epoch above it", async () => {
  const place = placeAt(join(folder, "older"));
  const hourAgo = new Date(Date.now() - 3_600_000);
  const { manifest } = await backup(place, hourAgo);
  const { dataDir, epoch } = await restore(place, manifest.name, "restored-later");
  expect(epoch).not.toBe(await findEpoch(directory.store));
  const settingsIn = (folderOf: string) => ({
    dataDir: folderOf,
    databaseUrl: urlIn(folderOf),
    signingKey,
  });
  await directory.restart(settingsIn(dataDir));
  await directory.publisher.buildAll({ processes: 0 });
  const state = JSON.parse(directory.read("changes/state.json") ?? "");
  expect(state.epoch).toBe(epoch);
  expect(state.sequence).toBeGreaterThan(9_000);
  expect(directory.read("nonprofits/trust-1.html")).toContain("Before the backup");
  await directory.restart(settingsIn(own));
});

test.skipIf(!clientsInstalled)(
  "a backup goes to a bucket and comes back from it, and old ones go",
  async () => {
    const s3 = await anS3Store("backups");
    try {
      const place = placeAt("s3://backups/almoner", s3.endpoint);
      expect(await place.names()).toEqual([]);
      const older = await backup(place, new Date("2026-11-20T01:00:00Z"));
      const newer = await backup(place, new Date("2026-11-20T02:00:00Z"));
      expect(newer.removed).toEqual([older.manifest.name]);
      expect(await place.names()).toEqual([newer.manifest.name]);
      expect((await s3.keys()).filter((key) => key.includes(older.manifest.name))).toEqual([]);
      // A backup that fails leaves nothing there, not even where the bucket has no list of backups.
      const failing: BackupPlace = {
        ...place,
        write: (path, body) =>
          path.endsWith("keys.sealed")
            ? Promise.reject(new Error("the bucket is full"))
            : place.write(path, body),
      };
      const before = await s3.keys();
      expect(await backup(failing, new Date(), { passphrase }).catch(String)).toContain(
        "the bucket is full",
      );
      expect(await s3.keys()).toEqual(before);
      const { dataDir } = await restore(place, newer.manifest.name, "from-bucket");
      using store = await openStore({ url: urlIn(dataDir) });
      expect((await recordBySlug(store, "trust-1"))?.tagline).toBe("Before the backup");
    } finally {
      await s3.close();
    }
  },
);

test("a store of several parts comes back whole, and its damage is found in whichever it is", async () => {
  const place = placeAt(join(folder, "parts"));
  const { manifest } = await backup(place, new Date(), { partBytes: 1_000 });
  expect(manifest.store.parts.length).toBeGreaterThan(1);
  const { dataDir } = await restore(place, manifest.name, "from-parts", { sameFeed: true });
  using store = await openStore({ url: urlIn(dataDir) });
  expect((await recordBySlug(store, "trust-1"))?.tagline).toBe("Before the backup");
  const swapped = { ...manifest.store, parts: manifest.store.parts.toReversed() };
  const refused = unpackStore(place, { ...manifest, store: swapped }, join(folder, "swapped.db"), {
    kept: false,
  });
  expect(await refused.catch(String)).toMatch(/Error/);
});

test("a copy that is damaged fails the backup, and is never called one", async () => {
  const copy = join(folder, "copy.db");
  await copyStore(join(directory.dataDir, "store.db"), copy);
  expect((await checkCopy(copy)).rows["nonprofits"]).toBe(3);
  const bytes = readFileSync(copy);
  // The kind of the second page.
  bytes[4_096] = 0x20;
  writeFileSync(copy, bytes);
  expect(await checkCopy(copy).catch(String)).toMatch(/damaged|malformed/);
});

test("a backup stands though an older one cannot be removed, and says so", async () => {
  const place = placeAt(join(folder, "stuck"));
  const older = await backup(place, new Date("2026-11-20T01:00:00Z"));
  const stuck: BackupPlace = {
    ...place,
    remove: () => Promise.reject(new Error("locked by a rule")),
    removeUnfinished: () => Promise.reject(new Error("it is root's")),
  };
  const newer = await backup(stuck, new Date("2026-11-20T02:00:00Z"));
  expect([newer.removed, newer.notRemoved]).toEqual([
    [],
    [
      "what a killed backup left (Error: it is root's)",
      `${older.manifest.name} (Error: locked by a rule)`,
    ],
  ]);
  expect(await place.names()).toEqual([older.manifest.name, newer.manifest.name]);
});

test("a backup without keys removes none that holds keys, but one with keys does", async () => {
  const place = placeAt(join(folder, "keys-or-none"));
  const at = (hour: number, options: Partial<BackupOptions>) =>
    backup(place, new Date(`2026-11-20T0${hour}:00:00Z`), options);
  const sealed = await at(1, { passphrase });
  const bare = await at(2, {});
  expect(bare.removed).toEqual([]);
  const again = await at(3, {});
  expect(again.removed).toEqual([bare.manifest.name]);
  const renewed = await at(4, { passphrase });
  expect(renewed.removed.toSorted()).toEqual([sealed.manifest.name, again.manifest.name]);
});

test("two backups at once do not disturb each other", async () => {
  const place = placeAt(join(folder, "at-once"));
  const taken = await Promise.all(
    ["2026-11-20T01:00:00Z", "2026-11-21T01:00:00Z"].map((at) => backup(place, new Date(at))),
  );
  expect(taken.map(({ manifest }) => manifest.facts.rows["nonprofits"])).toEqual([3, 3]);
  expect(await place.names()).toHaveLength(2);
  expect(readdirSync(folder).filter((name) => name.startsWith("backup-work"))).toEqual([]);
});

test("a store gets its name only with its tables and its epoch", async () => {
  const place = placeAt(join(folder, "torn"));
  const { manifest } = await backup(place);
  const dataDir = join(folder, "from-torn");
  const options = { dataDir, databaseUrl: urlIn(dataDir), keys: { a: "b" }, sameFeed: false };
  // An epoch cannot be begun at this time.
  const now = new Date(Number.NaN);
  const failed = await bringBack(place, manifest, { ...options, now }).catch(String);
  expect(failed).toContain("feed_epoch");
  expect([...everyPath(dataDir)]).toEqual([]);
});

test("a damaged backup is refused with the name of the file, and a wrong passphrase opens nothing", async () => {
  const place = placeAt(join(folder, "damaged"));
  const { manifest } = await backup(place, new Date(), { passphrase });
  const damages: [file: string, damage: (path: string, whole: Buffer) => void][] = [
    [
      "store.db.zst.1",
      (path, whole) => writeFileSync(path, whole.fill(~whole.readUInt8(100), 100, 101)),
    ],
    ["store.db.zst.1", (path) => truncateSync(path, 100)],
    ["store.db.zst.1", (path) => rmSync(path)],
    ["keys.sealed", (path) => rmSync(path)],
    ["manifest.json", (path) => writeFileSync(path, "{")],
  ];
  for (const [file, damage] of damages) {
    const path = join(folder, "damaged", manifest.name, file);
    const whole = readFileSync(path);
    damage(path, Buffer.from(whole));
    const refused = await restore(place, manifest.name, "from-damaged").catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(DamagedBackup);
    expect(String(refused)).toContain(`${manifest.name}/${file}`);
    expect([...everyPath(join(folder, "from-damaged"))]).toEqual([]);
    writeFileSync(path, whole);
  }
  const sealed = readFileSync(join(folder, "damaged", manifest.name, "keys.sealed"));
  expect(() => openKeys(sealed, "another one")).toThrow(WrongPassphrase);
  expect(sealed.includes("the key")).toBe(false);
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
  const tablesOf = async (dataDir: string) => {
    using store = await openStore({ url: urlIn(dataDir) });
    return (await Array.fromAsync(exportTables(store))).join("");
  };
  const sealed = {
    ALMONER_BACKUP_PASSPHRASE: passphrase,
    ALMONER_SEARCH_INDEX: "off",
    ALMONER_PICTURES: "off",
  };
  const run = (script: string, args: string[], dataDir: string, env = {}) =>
    runScript(script, args, { ALMONER_LOG_LEVEL: "silent", ALMONER_DATA_DIR: dataDir, ...env });

  test("bring a directory back, rows and bytes; a backup without keys keeps the older ones", async () => {
    const to = join(folder, "of-commands");
    const good = await run("backup", ["--to", to], own, sealed);
    expect([good.code, good.out]).toEqual([0, expect.stringContaining("The keys are in it")]);
    const restored = join(folder, "by-commands");
    const bringing = run("restore", ["--from", to, "--same-feed"], restored, sealed);
    // It would compile a site of its own.
    await putCompiledSite(join(folder, "compiled"));
    await until("the folder of the restored", () => existsSync(restored));
    renameSync(join(folder, "compiled/site"), join(restored, "site"));
    const brought = await bringing;
    expect([brought.code, brought.out]).toEqual([0, expect.stringContaining("is restored")]);
    expect(await tablesOf(restored)).toBe(await tablesOf(own));
    expect(contentOf(restored)).toEqual(contentOf(own));
    writeFileSync(keyFile, "");
    const lost = await run("backup", ["--to", to], own, sealed);
    expect([lost.code, lost.err]).toEqual([
      1,
      expect.stringContaining("holds a damaged signing key"),
    ]);
    expect(lost.out + lost.err).not.toContain("The keys are in it");
    expect(readdirSync(to)).toHaveLength(2);
    expect(lastBackup(own).problem).toContain("holds a damaged signing key");
    rmSync(join(own, "secrets"), { recursive: true });
  });

  test("say which part of a backup is damaged, and which one to try", async () => {
    const to = join(folder, "half");
    const place = placeAt(to);
    const good = await backup(place, new Date("2026-11-20T01:00:00Z"));
    const half = await backup(place, new Date("2026-11-21T01:00:00Z"), { passphrase });
    rmSync(join(to, half.manifest.name, "keys.sealed"));
    const dataDir = join(folder, "from-half");
    const { code, err } = await run("restore", ["--from", to], dataDir, sealed);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`${half.manifest.name}/keys.sealed cannot be read; --without-keys`),
    ]);
    expect(err).toContain(`--name ${good.manifest.name}`);
    expect(err).not.toMatch(/\n\s+at |\d+ \|/);
    expect(existsSync(dataDir)).toBe(false);
  });

  test("ask for the name of a backup whose folder was given another one", async () => {
    const to = join(folder, "renamed");
    const { manifest } = await backup(placeAt(to));
    renameSync(join(to, manifest.name), join(to, "good-one"));
    const words = ["--from", join(to, "good-one")];
    const { code, err } = await run("restore", words, join(folder, "from-renamed"));
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`good-one was called ${manifest.name} when it was made`),
    ]);
  });

  test("say what they did, that keys are left out, and overwrite nothing", async () => {
    const made = await run("backup", [], own, { ALMONER_SIGNING_KEY: signingKey });
    expect([made.code, made.out]).toEqual([
      0,
      expect.stringContaining("unpacked and read through"),
    ]);
    expect(made.err).toContain("WITHOUT KEYS");
    const from = join(own, "backups");
    expect(readdirSync(from)).toHaveLength(1);
    expect(existsSync(join(own, "last-backup"))).toBe(true);
    const again = await run("restore", [], own);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining("is not empty")]);
    const elsewhere = join(folder, "unsigned");
    const keyless = await run("restore", ["--from", from], elsewhere);
    expect([keyless.code, keyless.err]).toEqual([2, expect.stringContaining("holds no keys")]);
    const unsigned = await run("restore", ["--from", from, "--without-keys"], elsewhere);
    expect([unsigned.code, unsigned.err]).toEqual([
      1,
      expect.stringMatching(/is restored, and not published[^]*holds no signing key[^]*rotate-key/),
    ]);
    expect(existsSync(join(elsewhere, "store.db"))).toBe(true);
    expect(await run("backup", ["--to", "s3://no"], own)).toMatchObject({ code: 2 });
    const bare = join(folder, "bare");
    mkdirSync(bare);
    writeFileSync(join(bare, "store.db"), "");
    const none = await run("backup", [], bare);
    expect([none.code, none.err]).toEqual([2, expect.stringMatching(/^There is no store .*bare/)]);
  });
});
