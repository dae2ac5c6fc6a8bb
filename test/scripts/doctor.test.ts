import { expect, test } from "bun:test";
import { chmodSync, chownSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "#api/config.ts";
import { openLimits } from "#api/http/rate-limit.ts";
import { openSecrets } from "#api/secrets.ts";
import { everyPath } from "#content/runtime/files.ts";
import { chainFiles } from "#scripts/chain/installed.ts";
import { openJournal } from "#scripts/chain/journal.ts";
import { examine } from "#scripts/doctor/examine.ts";
import { openPlace } from "#scripts/backup/place.ts";
import { takeBackup } from "#scripts/backup/take.ts";
import { openManifest } from "#site/bundle/manifest.ts";
import { takePublisherLock } from "#site/publisher/lock.ts";
import { runScript } from "#test/support/processes.ts";
import { theDirectory, plainFolder, putCompiledSite } from "#test/support/publisher.ts";

const now = new Date();
const directory = await theDirectory([{ slug: "one" }], { exported: true });
const { dataDir } = directory;
const config = readConfig({
  ALMONER_DATA_DIR: dataDir,
  ALMONER_PUBLIC_DIR: plainFolder(dataDir),
  ALMONER_CHAIN_PORT: "0",
});
const inFolder = (path: string) => join(dataDir, path);

/** What a directory leaves behind that has run: store, bundle, keys, limits, the local chain and the compiled site. */
async function ran(): Promise<void> {
  const log = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };
  const secrets = await openSecrets(config, directory.store, now, log);
  openLimits(inFolder("limits.db"), { config, secrets, log }).close();
  openJournal(chainFiles(config).journal).close();
  await directory.publisher.buildAll();
  await putCompiledSite(dataDir);
  directory.publisher.close();
  directory.store.close();
}

const found = async (repair = false) =>
  (await examine(config, { now, repair })).filter(({ check }) => check !== "disk");

function flip(path: string, at: number): void {
  const bytes = readFileSync(inFolder(path));
  bytes[at] = (bytes[at] ?? 0) ^ 0x20;
  chmodSync(inFolder(path), 0o600);
  writeFileSync(inFolder(path), bytes);
}

/** All files but of the folders that have many alike, of which one each. */
function someFiles(): string[] {
  const counts = new Map<string, number>();
  return [...everyPath(dataDir)].filter((path) => {
    if (/-(?:wal|shm|journal)$/.test(path) || statSync(inFolder(path)).size === 0) return false;
    const folder = /^(?:public|site)\//.exec(path)?.[0] ?? path;
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
    return (counts.get(folder) ?? 0) <= 1;
  });
}

/** The last byte of what lies in this segment, of a page where there is one; null for other files. */
function lived(path: string): number | null {
  const pack = Number(/(\d+)\.pack$/.exec(path)?.[1] ?? 0);
  if (pack === 0) return null;
  using manifest = openManifest(inFolder("bundle"), { readonly: true });
  const row = manifest.db
    .query<{ at: number }, [number]>(
      `SELECT start + length - 1 AS at FROM files JOIN blobs USING (digest) WHERE pack = ?
       ORDER BY path LIKE '%.html' DESC LIMIT 1`,
    )
    .get(pack);
  return row?.at ?? null;
}

test("a byte that is flipped in any file of a data folder is named, with what helps", async () => {
  await ran();
  expect(await found()).toEqual([]);
  const files = someFiles();
  for (const kind of [
    "store.db",
    "limits.db",
    "bundle/packs.db",
    "bundle/packs",
    "public",
    "site",
    "secrets",
    "chain",
  ]) {
    expect(files.some((path) => path.startsWith(kind))).toBe(true);
  }
  const isDatabase = (path: string) => path.endsWith(".db");
  const named = (path: string) => inFolder(path.startsWith("site/") ? path.slice(0, 21) : path);
  // Any byte that is in use; a damaged file hides no other one.
  const places = new Map(
    files
      .filter((path) => !isDatabase(path))
      .map((path) => [path, lived(path) ?? Math.floor(statSync(inFolder(path)).size / 2)]),
  );
  for (const [path, at] of places) flip(path, at);
  const words = (await found()).map((finding) => finding.found).join("\n");
  for (const path of places.keys()) expect(words).toContain(named(path));
  for (const [path, at] of places) flip(path, at);
  // Of SQLite's files, the mark of the file, and the kind of the second page.
  for (const path of files.filter(isDatabase)) {
    for (const at of [0, 4_096]) {
      flip(path, at);
      const said = (await found()).map((finding) => finding.found).join("\n");
      flip(path, at);
      expect(`${path} ${at}: ${said}`).toContain(named(path));
    }
  }
  expect(await found()).toEqual([]);
});

test("--repair is refused while a publisher works, whatever service.json says", async () => {
  const lock = takePublisherLock(inFolder("bundle"));
  const env = { ALMONER_DATA_DIR: dataDir, ALMONER_CHAIN_PORT: "0" };
  const { code, err } = await runScript("doctor", ["--repair"], env);
  lock.close();
  expect([code, err]).toEqual([
    1,
    `A publisher works on ${dataDir}.\nStop it, then run doctor --repair again.\n`,
  ]);
});

test("--repair removes what is made again from the store, and the next start makes it", async () => {
  const [segment = "", site = ""] = ["bundle/packs/", "site/"].map((folder) =>
    someFiles().find((path) => path.startsWith(folder)),
  );
  flip(segment, lived(segment) ?? 0);
  flip(site, 5);
  flip("limits.db", 0);
  chmodSync(inFolder("secrets"), 0o755);
  const repaired = await found(true);
  expect(new Set(repaired.map(({ check }) => check))).toEqual(
    new Set(["rights", "small files", "compiled site", "published files"]),
  );
  expect(repaired.every((one) => one.repaired)).toBe(true);
  // Then all of it has to be shown, and one content is not there yet.
  rmSync(inFolder("public"), { recursive: true });
  await directory.reopen();
  expect(directory.publisher.isOutdated()).toBe(true);
  await directory.publisher.buildAll();
  await directory.publisher.tidy({ first: false });
  directory.publisher.close();
  expect(await found()).toEqual([]);
  await directory.reopen();
});

test("a backup that cannot be restored is named, and what another user owns", async () => {
  const place = openPlace(config.backup.to, config.s3);
  if (typeof place === "string") throw new Error(place);
  const { manifest } = await takeBackup({
    place,
    store: inFolder("store.db"),
    dataDir,
    keys: {},
    passphrase: null,
    software: "0.0.0",
    prunes: true,
    now,
    onStep: () => {},
  });
  expect(await found()).toEqual([]);
  const part = `backups/${manifest.name}/store.db.zst.1`;
  flip(part, 100);
  writeFileSync(inFolder("chain/of-another"), "");
  // Only root can give a file away.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(inFolder("chain/of-another"), 65_534, 65_534);
  expect(await found()).toMatchObject([
    ...(isRoot
      ? [{ check: "owner", found: expect.stringContaining(inFolder("chain/of-another")) }]
      : []),
    { check: "backups", found: expect.stringContaining("store.db.zst.1 is not what was written") },
  ]);
  rmSync(inFolder("chain/of-another"));
  rmSync(inFolder("backups"), { recursive: true });
});

test("what cannot be repaired is left alone and named", async () => {
  flip("secrets/signing-key.pem", 60);
  flip("secrets/admin-token", 3);
  const findings = await found(true);
  expect(findings).toMatchObject([
    { check: "signing key", repaired: false, remedy: expect.stringContaining("rotate-key") },
    {
      check: "secrets",
      found: expect.stringContaining("admin-token is gone, or not as"),
      repaired: false,
    },
  ]);
});
