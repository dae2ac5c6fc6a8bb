import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { feedPaths } from "#content/contract/feed.ts";
import { systemClock } from "#content/contract/base/time.ts";
import { openMirrorFolder } from "#scripts/mirror/folder.ts";
import { openOrigin } from "#scripts/mirror/origin.ts";
import { type SyncOptions, syncMirror } from "#scripts/mirror/sync.ts";
import { publicKeyOf } from "#content/feed/signing-keys.ts";
import { aDirectory, type Directory, publisherFolders } from "#test/support/publisher.ts";
import { type Meddle, serveFolder, type StaticServer } from "#test/support/static-server.ts";

let directory: Directory;
let server: StaticServer;
let exported: string;
let base: string;
let folder: string;
let template: string;
let edits = 0;

beforeAll(async () => {
  directory = await aDirectory(
    Array.from({ length: 130 }, (_, at) => ({ slug: `trust-${at}`, name: `Trust ${at}` })),
  );
  await directory.publisher.buildAll({ processes: 1 });
  exported = publisherFolders(directory.dataDir).exported;
  template = mkdtempSync(join(tmpdir(), "almoner-mirrored-"));
  server = serveFolder(exported);
  folder = join(template, "copy");
  await sync();
  server.close();
}, 60_000);
afterAll(() => {
  rmSync(template, { recursive: true, force: true });
  directory.close();
});
beforeEach(() => {
  server = serveFolder(exported);
  base = mkdtempSync(join(tmpdir(), "almoner-mirror-"));
  folder = join(base, "copy");
});
afterEach(() => {
  server.close();
  rmSync(base, { recursive: true, force: true });
});

const sync = (options: Partial<SyncOptions> = {}) =>
  syncMirror({
    origin: openOrigin(server.url, { attemptsMax: 1, timeoutMs: 2_000 }),
    mirror: openMirrorFolder(folder),
    key: null,
    acceptNewKey: false,
    limits: { bytesMax: 1e9, filesMax: 10_000 },
    clock: systemClock,
    check: false,
    patienceMs: 100,
    pauseMs: 5,
    onFile: () => {},
    ...options,
  });

/** A mirror in step with the origin, made from one that was fetched earlier. */
async function mirrored(): Promise<void> {
  for (const part of ["copy", "copy.mirror"]) {
    Bun.spawnSync(["cp", "-r", join(template, part), join(base, part)]);
  }
  expect(await sync()).toMatchObject({ ok: true, value: { behind: [] } });
}

test("a small file can be the first of its folder", async () => {
  await openMirrorFolder(folder).write(feedPaths.manifest, new TextEncoder().encode("{}"));
  expect(readFileSync(join(folder, feedPaths.manifest), "utf8")).toBe("{}");
});

const publishEdit = async (slug = "trust-7") => {
  edits += 1;
  await directory.edit(slug, { tagline: `Words ${edits}` });
  await directory.drain();
};

const differences = (one = exported, other = folder): string =>
  Bun.spawnSync(["diff", "-rq", one, other]).stdout.toString();

const instead =
  (at: string, answer: () => Response): Meddle =>
  (path) =>
    path === at ? answer() : null;

describe("a first run", () => {
  test("ends byte-identical to the origin, and a second fetches the signature only", async () => {
    expect(await sync()).toMatchObject({ ok: true, value: { nonprofits: null, behind: [] } });
    expect(differences()).toBe("");
    server.requests.length = 0;
    expect(await sync()).toMatchObject({ ok: true, value: { changed: 0, removed: 0 } });
    expect(server.requests).toEqual([feedPaths.signature]);
  });
  test("joins the snapshot from its parts instead of fetching it", async () => {
    await sync();
    expect(server.requests).toContain(feedPaths.snapshotPart(2));
    expect(server.requests).not.toContain(feedPaths.snapshot);
  });
  test("can be mirrored again from the mirror", async () => {
    await mirrored();
    const second = serveFolder(folder);
    const origin = openOrigin(second.url);
    const mirror = openMirrorFolder(join(base, "second"));
    expect(await sync({ origin, mirror })).toMatchObject({ ok: true });
    second.close();
    expect(differences(exported, join(base, "second"))).toBe("");
  });
  test("into a folder that holds something else is refused", async () => {
    mkdirSync(folder);
    writeFileSync(join(folder, "diary.txt"), "mine");
    expect(await sync()).toMatchObject({ failure: { kind: "not_a_mirror" } });
    expect(readFileSync(join(folder, "diary.txt"), "utf8")).toBe("mine");
  });
  test("at an address without a directory says so", async () => {
    server.meddle = () => new Response("welcome");
    expect(await sync()).toMatchObject({ failure: { kind: "no_directory" } });
    server.meddle = () => new Response("", { status: 404 });
    expect(await sync()).toMatchObject({ failure: { kind: "not_found" } });
  });
});

describe("a later run", () => {
  test("fetches only what changed, removes what is gone, and tells of the nonprofits", async () => {
    await mirrored();
    await publishEdit("trust-3");
    await directory.edit("trust-4", { status: "withdrawn" });
    await directory.drain();
    server.requests.length = 0;
    expect(await sync()).toMatchObject({
      ok: true,
      value: { nonprofits: { changed: 1, withdrawn: 1 } },
    });
    expect(server.requests.length).toBeLessThan(150);
    expect(differences()).toBe("");
    await directory.edit("trust-4", { status: "listed" });
    await directory.drain();
    await sync();
    expect(differences()).toBe("");
  });
  test("removes files and folders that left the bundle", async () => {
    await directory.add({ slug: "island-trust", country_code: "IS" });
    await directory.drain();
    await mirrored();
    expect(existsSync(join(folder, "countries/is.html"))).toBe(true);
    const { manifest, exported: out } = directory.publisher.context;
    manifest.db.run(
      "INSERT INTO history (path, release, digest, size) SELECT path, (SELECT max(id) + 1 FROM releases), digest, size FROM files WHERE path = 'countries/is.html'",
    );
    manifest.db.run("DELETE FROM files WHERE path = 'countries/is.html'");
    out.remove("countries/is.html");
    await directory.publisher.feedJob.run();
    expect(await sync()).toMatchObject({ ok: true, value: { removed: 1 } });
    expect(existsSync(join(folder, "countries/is.html"))).toBe(false);
    expect(differences()).toBe("");
    await directory.publisher.buildAll({ processes: 1 });
  });
  test("with --check repairs what was damaged or added in the folder", async () => {
    await mirrored();
    writeFileSync(join(folder, "index.html"), "defaced");
    writeFileSync(join(folder, "extra.html"), "not from the origin");
    rmSync(join(folder, "nonprofits/trust-9.html"));
    expect(await sync({ check: true })).toMatchObject({ ok: true, value: { removed: 1 } });
    expect(differences()).toBe("");
  });
  test("of another epoch looks at every file again", async () => {
    await mirrored();
    writeFileSync(join(folder, "nonprofits/trust-9.html"), "rotten");
    await directory.store.write((tx) =>
      tx.raw.execute("UPDATE directory_facts SET value = 'another' WHERE name = 'feed_epoch'"),
    );
    await publishEdit();
    expect(await sync()).toMatchObject({ ok: true, value: { epoch: "another", nonprofits: null } });
    expect(differences()).toBe("");
    await directory.publisher.buildAll({ processes: 1 });
  });
});

describe("a mirror refuses", () => {
  const untouched = async (failure: object) => {
    const before = join(base, "before");
    Bun.spawnSync(["cp", "-r", folder, before]);
    expect(await sync()).toMatchObject({ ok: false, failure });
    expect(differences(before, folder)).toBe("");
  };
  test("a file that differs from the signed list, and replaces nothing", async () => {
    await mirrored();
    await publishEdit();
    server.meddle = instead("nonprofits/trust-7.html", () => new Response("<h1>Give here</h1>"));
    await untouched({ kind: "tampered", paths: ["nonprofits/trust-7.html"] });
    server.meddle = () => null;
    expect(await sync()).toMatchObject({ ok: true });
    expect(differences()).toBe("");
  });
  test("a file that is longer than the list says", async () => {
    await mirrored();
    await publishEdit();
    const whole = readFileSync(join(exported, "nonprofits/trust-7.html"));
    const longer = Buffer.concat([whole, Buffer.alloc(1_000_000)]);
    server.meddle = instead("nonprofits/trust-7.html", () => new Response(longer));
    await untouched({ kind: "tampered" });
  });
  test("a list that was changed, a shard that was changed, a signature by another", async () => {
    await mirrored();
    await publishEdit();
    const list = readFileSync(join(exported, feedPaths.manifest), "utf8");
    const changed = list.replace(/"files":\d+/, '"files":1');
    server.meddle = instead(feedPaths.manifest, () => new Response(changed));
    await untouched({ kind: "not_signed_by" });
    rmSync(join(base, "before"), { recursive: true });
    server.meddle = (path) =>
      path.startsWith("snapshot/manifest/") ? new Response('{"shard":"00","files":[]}') : null;
    await untouched({ kind: "tampered" });
    const key = await publicKeyOf("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
    expect(await sync({ key })).toMatchObject({ failure: { kind: "not_signed_by" } });
  });
  test("a new key that merely shows up", async () => {
    await mirrored();
    const other = await aDirectory([{ slug: "impostor" }]);
    await other.publisher.buildAll({ processes: 1 });
    const impostor = serveFolder(publisherFolders(other.dataDir).exported);
    const origin = openOrigin(impostor.url);
    expect(await sync({ origin })).toMatchObject({ failure: { kind: "not_signed_by" } });
    expect(differences()).toBe("");
    impostor.close();
    other.close();
  });
});

describe("while the origin moves on", () => {
  test("the list is read again, and the mirror ends with the newest release", async () => {
    await mirrored();
    await publishEdit("trust-7");
    let moved = false;
    server.meddle = async (path) => {
      if (path !== "nonprofits/trust-7.html" || moved) return null;
      moved = true;
      await publishEdit("trust-7");
      await publishEdit("trust-8");
      return null;
    };
    expect(await sync({ patienceMs: 30_000 })).toMatchObject({ ok: true, value: { behind: [] } });
    expect(moved).toBe(true);
    expect(differences()).toBe("");
  });
  test("a file that never holds still keeps its older version until the next run", async () => {
    await mirrored();
    await publishEdit("trust-7");
    server.meddle = async (path) => {
      if (path === "nonprofits/trust-7.html") await publishEdit("trust-7");
      return null;
    };
    const outcome = await sync({ patienceMs: 2_000 });
    if (!outcome.ok) throw new Error(`refused: ${JSON.stringify(outcome.failure)}`);
    expect(outcome.value.behind).toContain("nonprofits/trust-7.html");
    server.meddle = () => null;
    expect(await sync()).toMatchObject({ ok: true, value: { behind: [] } });
    expect(differences()).toBe("");
  });
});

describe("the command", () => {
  const command = join(import.meta.dirname, "../../scripts/mirror.ts");
  const start = (...more: string[]) =>
    Bun.spawn([process.execPath, command, server.url, folder, ...more], { stderr: "pipe" });

  test("killed again and again at any point, ends byte-identical", async () => {
    await mirrored();
    let last = 0;
    for (let kill = 0; kill < 8; kill++) {
      await publishEdit(`trust-${kill}`);
      if (kill === 4) rmSync(folder, { recursive: true });
      if (kill === 4) rmSync(`${folder}.mirror`, { recursive: true });
      last = server.requests.length;
      const child = start();
      const aim = last + ([1, 3, 8, 20, 40, 200, 380, 10][kill] ?? 1);
      while (server.requests.length < aim && child.exitCode === null) await Bun.sleep(1);
      child.kill("SIGKILL");
      await child.exited;
    }
    const child = start("--json");
    expect(await new Response(child.stdout).json()).toMatchObject({ ok: true, behind: [] });
    expect(await child.exited).toBe(0);
    expect(differences()).toBe("");
  }, 90_000);
  test("says in its exit code that it refused, and nothing of it on standard output", async () => {
    await mirrored();
    await publishEdit();
    server.meddle = instead("nonprofits/trust-7.html", () => new Response("other"));
    const child = start("--patience", "0");
    expect(await child.exited).toBe(1);
    expect(await new Response(child.stderr).text()).toContain("REFUSED");
    expect(await new Response(child.stdout).text()).toBe("");
  });
  test.skipIf(!existsSync("/dev/full"))(
    "says that a disk is full, and goes on once there is room",
    async () => {
      await mirrored();
      await publishEdit();
      // Whatever is written there finds no room.
      const draft = join(`${folder}.mirror`, "state.json.draft");
      symlinkSync("/dev/full", draft);
      const child = start();
      expect(await child.exited).toBe(1);
      const complaint = await new Response(child.stderr).text();
      expect(complaint).toStartWith("The folder could not be written: ENOSPC");
      expect(complaint).not.toContain(" at ");
      rmSync(draft);
      expect(await start().exited).toBe(0);
      expect(differences()).toBe("");
    },
  );
  test("watching, follows until it is asked to stop", async () => {
    const child = start("--watch", "1", "--json");
    const lines = child.stdout.getReader();
    expect(new TextDecoder().decode((await lines.read()).value)).toContain('"ok":true');
    await publishEdit();
    expect(new TextDecoder().decode((await lines.read()).value)).toContain('"changed":1');
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    expect(differences()).toBe("");
  }, 15_000);
  test.each([[["--watch", "0"]], [["--patience", "x"]], [["--key", "short"]]])(
    "refuses %j",
    async (more) => {
      const child = start(...more);
      expect(await child.exited).toBe(2);
      expect(await new Response(child.stderr).text()).toContain(more[0] ?? "");
    },
  );
});
