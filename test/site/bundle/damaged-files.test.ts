import { describe, expect, test } from "bun:test";
import { existsSync, openSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openLimits } from "#api/http/rate-limit.ts";
import { openBundleReader } from "#site/delivery/bundle-reader.ts";
import { createBundleServer } from "#site/delivery/bundle-server.ts";
import { dropDamagedManifest } from "#site/publisher/open-publisher.ts";
import { takePublisherLock } from "#site/publisher/lock.ts";
import { flipBit } from "#test/support/bundle.ts";
import { aBuiltDirectory, theBuiltDirectory } from "#test/support/publisher.ts";
import { aService } from "#test/support/service.ts";

const inBundle = (name: string) => join(directory.dataDir, "bundle", name);
const noDatabase = "no database at all".repeat(1_000);

const directory = await theBuiltDirectory([{ slug: "trust-a" }, { slug: "trust-b" }]);

/** Everything but the file's head, which is read when it is opened. */
function damage(path: string): void {
  const file = openSync(path, "r+");
  const { size } = statSync(path);
  writeSync(file, Buffer.alloc(size - 4_096, 0x5a), 0, size - 4_096, 4_096);
}

describe("a damaged manifest", () => {
  test("reads like an empty bundle, is moved away, and the bundle is built again", async () => {
    directory.publisher.context.manifest.db.run("PRAGMA wal_checkpoint(TRUNCATE)");
    directory.publisher.close();
    damage(inBundle("packs.db"));
    let reports = 0;
    const reader = openBundleReader(join(directory.dataDir, "bundle"), () => reports++);
    const server = createBundleServer(reader);
    const ask = () => server.answer(new Request("http://localhost/nonprofits/trust-a"));
    expect([ask(), reader.hasRelease(), reader.current().release]).toEqual([null, false, 0]);
    expect(reports).toBeGreaterThan(0);
    const errors: unknown[] = [];
    const drop = () =>
      dropDamagedManifest(directory.dataDir, {
        error: (...facts: unknown[]) => errors.push(facts),
      });
    drop();
    expect([errors.length, existsSync(inBundle("packs.db.damaged"))]).toEqual([1, true]);
    await directory.reopen();
    await directory.publisher.buildAll();
    while (ask() === null) await Bun.sleep(20);
    expect([ask()?.status, reader.hasRelease()]).toEqual([200, true]);
    // One that is whole stays.
    drop();
    expect(errors).toHaveLength(1);
    reader.close();
  });

  test("that is no database at all is made again by the publisher that opens it", async () => {
    directory.publisher.close();
    for (const beside of ["-wal", "-shm"]) rmSync(inBundle(`packs.db${beside}`), { force: true });
    writeFileSync(inBundle("packs.db"), noDatabase);
    await directory.reopen();
    expect(directory.publisher.context.manifest.state().current_release).toBe(0);
  });
});

test("damaged files that no document makes are written again by a full build, and named", async () => {
  using own = await aBuiltDirectory([{ slug: "trust-a" }], { searchIndex: true });
  await own.drain();
  const { manifest, blobs } = own.publisher.context;
  const damagedPaths = [
    ".well-known/almoner-keys.json",
    "changes/state.json",
    "data/datapackage.json",
    manifest.under("pagefind/").find(({ path }) => path.endsWith("pagefind-entry.json"))?.path ??
      "",
    "pagefind/shards.json",
    "snapshot/manifest.json",
    "snapshot/manifest.json.jws",
    "snapshot/manifest/00.json",
  ];
  for (const path of damagedPaths) flipBit(manifest, manifest.find(path)?.digest ?? "");
  const { differing, repaired } = await own.publisher.buildAll({ processes: 0 });
  expect([differing, repaired]).toEqual([[], damagedPaths]);
  const wrong = [...manifest.files("true")].filter(({ digest }) => blobs.find(digest) === null);
  expect(wrong).toEqual([]);
});

test("a damaged lock of the publisher is made again", () => {
  directory.publisher.close();
  writeFileSync(inBundle("publisher.lock"), noDatabase);
  const damaged: string[] = [];
  const lock = takePublisherLock(join(directory.dataDir, "bundle"), (path) => damaged.push(path));
  expect(damaged).toEqual([inBundle("publisher.lock")]);
  lock.close();
});

test("damaged limits begin again", async () => {
  const warned: unknown[] = [];
  using service = await aService();
  const { config, secrets, log } = service.context;
  const path = join(directory.dataDir, "limits.db");
  writeFileSync(path, noDatabase);
  const warn = (...facts: unknown[]) => warned.push(facts);
  const limits = openLimits(path, { config, secrets, log: { ...log, warn } });
  const take = () => limits.request("enrich", new Request("http://localhost/api/enrich/oak"));
  expect((await take())?.remaining).toBe(29);
  expect(warned).toHaveLength(1);
  limits.close();
});
