import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createPrivateKey } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CompactSign } from "jose";
import { BundleManifest, feedPaths, ManifestShard } from "#content/contract/feed.ts";
import { keyIdOf, keySetOf, openSigner, type Signer } from "#content/feed/signing-keys.ts";
import { issueList } from "#content/feed/store.ts";
import { openMirrorFolder } from "#scripts/mirror/folder.ts";
import { openOrigin } from "#scripts/mirror/origin.ts";
import { type SyncOptions, syncMirror } from "#scripts/mirror/sync.ts";
import { shardOf } from "#site/bundle/signed-list.ts";
import { digestOf } from "#site/bundle/blobs.ts";
import { openFeedJob } from "#site/publisher/feed-job.ts";
import { rollBackTo } from "#site/publisher/publish-loop.ts";
import {
  aDirectory,
  aSigningKey,
  type Directory,
  publisherFolders,
} from "#test/support/publisher.ts";
import { serveFolder, type StaticServer } from "#test/support/static-server.ts";

// Somebody between origin and mirror, or at the origin, shows an older state for the newest one, or a list that does harm.

const dayMs = 86_400_000;
let directory: Directory;
let signer: Signer;
let exported: string;
let base: string;
let origin: string;
let server: StaticServer;

beforeAll(async () => {
  directory = await aDirectory([{ slug: "well", name: "Well" }]);
  await directory.publisher.buildAll({ processes: 1 });
  exported = publisherFolders(directory.dataDir).exported;
  signer = directory.publisher.signer;
}, 60_000);
afterAll(() => directory.close());
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "almoner-older-state-"));
  origin = join(base, "origin");
  server = serveFolder(origin);
  show();
});
afterEach(() => {
  server.close();
  rmSync(base, { recursive: true, force: true });
});

/** The origin shows what is published now. */
const show = (from = exported) => {
  rmSync(origin, { recursive: true, force: true });
  cpSync(from, origin, { recursive: true });
};
const manifest = (folder = origin) =>
  BundleManifest.parse(JSON.parse(readFileSync(join(folder, feedPaths.manifest), "utf8")));

/** The origin shows this list, signed. */
async function showList(list: object, by = signer): Promise<void> {
  const text = JSON.stringify(list);
  writeFileSync(join(origin, feedPaths.manifest), text);
  writeFileSync(join(origin, feedPaths.signature), await by.sign(new TextEncoder().encode(text)));
  writeFileSync(join(origin, feedPaths.keys), keySetOf(by));
}

/** The origin shows a list with one more file, signed. */
async function showFile(path: string, part = "00"): Promise<void> {
  const list = manifest();
  const first = list.shards.find((shard) => shard.path === feedPaths.shard(part));
  if (first === undefined) throw new Error("a list has shards");
  const shard = ManifestShard.parse(JSON.parse(readFileSync(join(origin, first.path), "utf8")));
  const entry = { path, sha256: digestOf(new TextEncoder().encode("x")), size: 1 };
  const text = JSON.stringify({ ...shard, files: [...shard.files, entry] });
  writeFileSync(join(origin, first.path), text);
  const bytes = new TextEncoder().encode(text);
  const own = { ...first, sha256: digestOf(bytes), size: bytes.length };
  const more = { ...own, files: first.files + 1, bytes: first.bytes + 1 };
  const shards = list.shards.map((one) => (one === first ? more : one));
  await showList({ ...list, files: list.files + 1, bytes: list.bytes + 1, shards });
}

const sync = (options: Partial<SyncOptions> = {}) =>
  syncMirror({
    origin: openOrigin(server.url, { attemptsMax: 1, timeoutMs: 2_000 }),
    mirror: openMirrorFolder(join(base, "copy")),
    key: null,
    acceptNewKey: false,
    limits: { bytesMax: 1e9, filesMax: 10_000 },
    clock: () => new Date(),
    check: false,
    patienceMs: 0,
    pauseMs: 1,
    onFile: () => {},
    ...options,
  });
const tagline = () => readFileSync(join(base, "copy/api/nonprofits/well.json"), "utf8");
const publish = async (words: string) => {
  await directory.edit("well", { tagline: words });
  await directory.drain();
};

test("an older list is refused, and one of the version without numbers", async () => {
  await publish("Older words");
  const older = join(base, "older");
  cpSync(exported, older, { recursive: true });
  await publish("Newer words");
  show();
  expect(await sync()).toMatchObject({ ok: true });
  const taken = manifest().issue.sequence;
  show(older);
  for (const check of [false, true]) {
    expect(await sync({ check })).toMatchObject({ failure: { kind: "rolled_back", taken } });
  }
  const { issue: _, ...unnumbered } = manifest();
  await showList(unnumbered);
  expect(await sync()).toMatchObject({ failure: { kind: "no_directory" } });
  expect(tagline()).toContain("Newer words");
  show();
  expect(await sync()).toMatchObject({ ok: true });
});

test("a list that is shown for too long is refused, though nothing changed", async () => {
  expect(await sync()).toMatchObject({ ok: true });
  const after = (days: number) => () => new Date(Date.now() + days * dayMs);
  expect(await sync({ clock: after(6) })).toMatchObject({ ok: true });
  const expires_at = manifest().issue.expires_at;
  for (const check of [false, true]) {
    const frozen = await sync({ clock: after(8), check });
    expect(frozen).toMatchObject({ failure: { kind: "expired", expires_at } });
  }
});

test("a list without changes is issued anew each day, and the same list on the same day", async () => {
  const { context } = directory.publisher;
  const before = manifest(exported);
  await directory.publisher.feedJob.run();
  expect(manifest(exported)).toEqual(before);
  const later = new Date(Date.now() + 1.1 * dayMs);
  const job = openFeedJob({ ...context, clock: () => later }, signer, { listValidDays: 30 });
  await job.run();
  const { issue } = manifest(exported);
  expect(issue.sequence).toBeGreaterThan(before.issue.sequence ?? Infinity);
  expect(Date.parse(issue.expires_at ?? "") - later.getTime()).toBeGreaterThan(29 * dayMs);
  expect(manifest(exported).shards).toEqual(before.shards);
  expect(job.dueAtMs()).toBeGreaterThan(performance.now() + 0.9 * dayMs);
});

test("an operator's rollback is a newer list, which mirrors take", async () => {
  await publish("Before the mistake");
  const { context, feedJob } = directory.publisher;
  const { current_release } = context.manifest.state();
  await publish("A mistake");
  show();
  expect(await sync()).toMatchObject({ ok: true });
  expect(rollBackTo(context, current_release)).not.toBeNull();
  await feedJob.run();
  show();
  expect(await sync()).toMatchObject({ ok: true });
  expect(tagline()).toContain("Before the mistake");
  context.manifest.setState({ held_at: 0 });
  await directory.drain();
});

test("a restored store numbers its lists above those of before", async () => {
  const { store } = directory;
  const at = (time: string) => ({ digest: time, now: new Date(time) });
  const first = await issueList(store, at("2030-01-01T00:00:00Z"));
  const second = await issueList(store, at("2030-01-01T00:00:00.5Z"));
  expect(second.sequence).toBe(first.sequence + 500);
  // A backup of a day earlier, and a clock that was set back.
  const old = { ...first, sequence: first.sequence - dayMs };
  await store.write((tx) =>
    tx.raw.execute({
      sql: "UPDATE directory_facts SET value = ? WHERE name = 'signed_list'",
      args: [JSON.stringify(old)],
    }),
  );
  const restored = await issueList(store, at("2030-01-01T01:00:00Z"));
  expect(restored.sequence).toBeGreaterThan(second.sequence);
  const setBack = await issueList(store, at("2026-01-01T00:00:00Z"));
  expect(setBack.sequence).toBe(restored.sequence + 1);
  // A list from the future would not be renewed for years.
  const digest = "2026-01-01T00:00:00Z";
  const earlier = { digest, now: new Date("2025-01-01T00:00:00Z") };
  expect(await issueList(store, earlier)).toEqual({
    digest,
    sequence: setBack.sequence + 1,
    issued_at: earlier.now.getTime(),
  });
  const both = ["one", "two"].map((one) => issueList(store, { ...earlier, digest: one }));
  const numbers = (await Promise.all(both)).map(({ sequence }) => sequence);
  expect(numbers).toEqual([setBack.sequence + 2, setBack.sequence + 3]);
});

test("another key is taken only when that is asked for, and then pinned", async () => {
  expect(await sync()).toMatchObject({ ok: true });
  const other = await openSigner(aSigningKey());
  const list = manifest();
  await showList(list, other);
  expect(await sync()).toMatchObject({ failure: { kind: "not_signed_by" } });
  const kid = other.publicKey.kid;
  expect(await sync({ acceptNewKey: true })).toMatchObject({ ok: true, value: { kid } });
  expect(await sync()).toMatchObject({ ok: true });
  await showList(list, signer);
  expect(await sync()).toMatchObject({ failure: { kind: "not_signed_by" } });
});

test("a key that is published under another's id is not taken for it", async () => {
  expect(await sync()).toMatchObject({ ok: true });
  const announced = (await openSigner(aSigningKey())).publicKey.kid;
  const pem = aSigningKey();
  const own = (await openSigner(pem)).publicKey;
  const list = new TextEncoder().encode(JSON.stringify(manifest()));
  const signing = new CompactSign(list).setProtectedHeader({ alg: "EdDSA", kid: announced });
  const [header, , signature] = (await signing.sign(createPrivateKey(pem))).split(".");
  writeFileSync(join(origin, feedPaths.manifest), list);
  writeFileSync(join(origin, feedPaths.signature), `${header}..${signature}`);
  writeFileSync(
    join(origin, feedPaths.keys),
    JSON.stringify({ keys: [{ ...own, kid: announced }] }),
  );
  const refused = { failure: { kind: "no_directory" } };
  expect(await sync({ acceptNewKey: true })).toMatchObject(refused);
});

test("what stands in place of a key's id is not repeated", () => {
  const header = (kid: string) =>
    `${Buffer.from(JSON.stringify({ alg: "EdDSA", kid })).toString("base64url")}..x`;
  expect(keyIdOf(header("\u001b[2Jgood"))).toBeNull();
  expect(keyIdOf(header(signer.publicKey.kid))).toBe(signer.publicKey.kid);
});

test("a new mirror takes no list without number and expiry", async () => {
  const { issue: _, ...unnumbered } = manifest();
  await showList(unnumbered);
  expect(await sync()).toMatchObject({ failure: { kind: "no_directory" } });
});

test("an origin that sends a byte now and then is given up", async () => {
  const dripping = () => {
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await Bun.sleep(20);
        controller.enqueue(new Uint8Array(1));
      },
    });
    return new Response(body);
  };
  server.meddle = dripping;
  const slow = openOrigin(server.url, { attemptsMax: 1, timeoutMs: 200 });
  expect(await sync({ origin: slow })).toMatchObject({ failure: { kind: "unreachable" } });
}, 3_000);

describe("what is odd ends in one clear failure or is repaired:", () => {
  const copy = (path: string) => join(base, "copy", path);

  test("the mirror's own state", async () => {
    expect(await sync()).toMatchObject({ ok: true });
    for (const text of ["{", '{"version":2}']) {
      writeFileSync(join(base, "copy.mirror/state.json"), text);
      expect(await sync()).toMatchObject({ failure: { kind: "damaged" } });
    }
  });

  test("the list and a part of it in the copy", async () => {
    expect(await sync()).toMatchObject({ ok: true });
    writeFileSync(copy(feedPaths.manifest), "{}");
    expect(await sync()).toMatchObject({ ok: true });
    await publish("Words after damage");
    show();
    for (const { path } of manifest().shards) {
      rmSync(copy(path));
      writeFileSync(copy(path), '{"shard":"00","files":[{"path":".x","sha256":"","size":0}]}');
    }
    expect(await sync()).toMatchObject({ ok: true });
    expect(tagline()).toContain("Words after damage");
  });

  test("a path in another's part, and one that is file and folder", async () => {
    await showFile("a/b");
    expect(await sync()).toMatchObject({ failure: { kind: "bad_list" } });
    show();
    await showFile("index.html/x", shardOf("index.html/x"));
    server.meddle = (path) => (path === "index.html/x" ? new Response("x") : null);
    const reason = '"index.html" is a file and a folder in it';
    expect(await sync()).toMatchObject({ failure: { kind: "bad_list", reason } });
  });
});

describe("a signed list that does harm is refused:", () => {
  test.each([
    ".htaccess",
    "a/.git/config",
    "../outside",
    "a/../../b",
    ".well-known/.x",
    "/etc/x",
    "a//b",
  ])("the path %s", async (path) => {
    await showFile(path);
    const outcome = await sync();
    expect(outcome).toMatchObject({ failure: { kind: "bad_list" } });
    expect(JSON.stringify(outcome)).toContain("a path that no mirror writes");
  });

  test("more files or bytes than the mirror takes, or than its parts have", async () => {
    const { files, bytes } = manifest();
    const limits = { bytesMax: 1e9, filesMax: files - 1 };
    expect(await sync({ limits })).toMatchObject({ failure: { kind: "too_large" } });
    const small = { bytesMax: bytes, filesMax: 10_000 };
    expect(await sync({ limits: small })).toMatchObject({ failure: { kind: "too_large" } });
    await showList({ ...manifest(), files: 1, bytes: 1 });
    expect(await sync()).toMatchObject({ failure: { kind: "bad_list" } });
  });

  test("with one clear line for each look while watching", async () => {
    await showFile(".htaccess");
    const script = join(import.meta.dirname, "../../scripts/mirror.ts");
    const child = Bun.spawn(
      [process.execPath, script, server.url, join(base, "watched"), "--watch", "1"],
      { stderr: "pipe" },
    );
    let said = "";
    const startedMs = performance.now();
    for await (const part of child.stderr.pipeThrough(new TextDecoderStream())) {
      said += part;
      if (said.split("REFUSED").length > 2) break;
    }
    expect(performance.now() - startedMs).toBeGreaterThan(1_000);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(1);
    expect(said.trim().split("\n").slice(0, 2)).toEqual(
      Array<string>(2).fill(
        'REFUSED: the signed list of files cannot be followed: it lists ".htaccess", a path that no mirror writes. Nothing was replaced.',
      ),
    );
  });
});
