import { sha256Of } from "#content/runtime/digest.ts";
import { beforeEach, describe, expect, test } from "bun:test";
import { createPrivateKey } from "node:crypto";
import {
  cpSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { CompactSign } from "jose";
import {
  BundleManifest,
  feedPaths,
  ManifestShard,
  type ShardReference,
} from "#content/contract/feed.ts";
import { keyIdOf, keySetOf, openSigner } from "#content/feed/signing-keys.ts";
import { issueList } from "#content/feed/store.ts";
import { everyPath } from "#content/runtime/files.ts";
import { addressesOf, compareCopy } from "#scripts/verify/directory.ts";
import { readBytes, Unproven } from "#scripts/verify/source.ts";
import { commitRelease, storeFiles } from "#site/bundle/release.ts";
import { draftManifest, namesBelow } from "#site/bundle/signed-list.ts";
import { publishChanges } from "#site/publisher/list-job.ts";
import { openFeedJob } from "#site/publisher/feed-job.ts";
import { rollBackTo } from "#site/publisher/requests.ts";
import { theBuiltDirectory, aSigningKey, plainFolder } from "#test/support/publisher.ts";
import { serveFolder } from "#test/support/static-server.ts";
import { serveHere } from "#test/support/serve-here.ts";
import { aFolder, forEachTest } from "#test/support/at-file-top.ts";

const base = forEachTest(aFolder);

// Somebody between a directory and who copies it, or at the directory, shows an older state for the newest one, or a list that does harm.

const dayMs = 86_400_000;
let origin: string;

const directory = await theBuiltDirectory([{ slug: "well", name: "Well" }], { exported: true });
const exported = plainFolder(directory.dataDir);
const signer = directory.publisher.signer;
beforeEach(() => {
  origin = base("origin");
  show();
});

/** Copies a folder in place of another, by links: what is in a copy is replaced, never written into. */
const copy = (from: string, to: string) => {
  rmSync(to, { recursive: true, force: true });
  for (const path of everyPath(from)) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    linkSync(join(from, path), join(to, path));
  }
  return to;
};
/** The origin shows what is published now. */
const show = (from = exported) => copy(from, origin);
const replace = (path: string, body: string | Uint8Array) => {
  rmSync(path, { force: true });
  writeFileSync(path, body);
};
const manifest = (folder = origin) =>
  BundleManifest.parse(JSON.parse(readFileSync(join(folder, feedPaths.manifest), "utf8")));

/** The origin shows this list, signed. */
async function showList(list: object, by = signer): Promise<void> {
  const text = JSON.stringify(list);
  replace(join(origin, feedPaths.manifest), text);
  replace(join(origin, feedPaths.signature), await by.sign(new TextEncoder().encode(text)));
  replace(join(origin, feedPaths.keys), keySetOf(by));
}

/** The origin shows this list of a part; answers how the list above names it. */
function showPart(part: ManifestShard, totals: { files: number; bytes: number }): ShardReference {
  const text = JSON.stringify(part);
  const path = feedPaths.shard(part.shard);
  replace(join(origin, path), text);
  return { ...totals, path, sha256: sha256Of(text), size: Buffer.byteLength(text) };
}

/** The origin shows a list one part of which was changed, signed. */
async function showChanged(
  name: string,
  change: (part: ManifestShard, reference: ShardReference) => ShardReference,
): Promise<void> {
  const list = manifest();
  const shards = list.shards.map((shard) => {
    const isNamed = shard.path === feedPaths.shard(name);
    return isNamed ? change(partOf(shard.path), shard) : shard;
  });
  const sumOf = (of: "files" | "bytes") => shards.reduce((sum, shard) => sum + shard[of], 0);
  await showList({ ...list, files: sumOf("files"), bytes: sumOf("bytes"), shards });
}
const partOf = (path: string) =>
  ManifestShard.parse(JSON.parse(readFileSync(join(origin, path), "utf8")));

/** The origin shows a list with one more file, signed. */
const showFile = (path: string, name = "00") =>
  showChanged(name, ({ shard, files = [] }, totals) =>
    showPart(
      { shard, files: [...files, { path, sha256: sha256Of("x"), size: 1 }] },
      { files: totals.files + 1, bytes: totals.bytes + 1 },
    ),
  );

type Pins = { key?: string; after?: string; now?: Date };
const verify = ({ key, after, now = new Date() }: Pins = {}) =>
  compareCopy(origin, { key, after, now });
/** The addresses of all files, as who fetches them over HTTP reads them. */
async function served(): Promise<string[]> {
  const server = serveFolder(origin);
  const list = addressesOf(server.url, { key: undefined, after: undefined, now: new Date() });
  return (await list.finally(() => server.close())).addresses;
}
const whole = { missing: [], altered: [], extra: [] };
/** Keeps what the origin shows as the copy that was taken last. */
const taken = () => copy(origin, base("copy"));
/** Why it was refused. */
const refusalOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => ({ kind: "taken" }),
    (error: unknown) => error,
  );
const kindOf = async (work: Promise<unknown>) => {
  const refusal = await refusalOf(work);
  return refusal instanceof Unproven ? refusal.kind : refusal;
};
const publish = (words: string) => directory.publish("well", { tagline: words });

test("an older list is refused, and one without a number; an operator's rollback is newer, and taken", async () => {
  const { context, feedJob } = directory.publisher;
  await publish("Older words");
  const older = copy(exported, base("older"));
  const { current_release } = context.manifest.state();
  await publish("Newer words");
  show();
  const after = taken();
  expect(await verify({ after })).toMatchObject(whole);
  show(older);
  expect(await kindOf(verify({ after }))).toBe("rolled_back");
  expect(await kindOf(verify({ after, key: signer.publicKey.x }))).toBe("rolled_back");
  const { issue: _, ...unnumbered } = manifest();
  await showList(unnumbered);
  expect(await kindOf(verify())).toBe("no_directory");

  expect(rollBackTo(context, current_release)).not.toBeNull();
  await feedJob.run();
  show();
  expect(await verify({ after })).toMatchObject(whole);
  expect(readFileSync(join(origin, "api/nonprofits/well.json"), "utf8")).toContain("Older words");
  // The list that is compared with is proven, too.
  const list = join(after, feedPaths.manifest);
  replace(list, readFileSync(list, "utf8").replace(/"sequence":\d+/, '"sequence":1'));
  expect(await kindOf(verify({ after }))).toBe("damaged");
  context.manifest.setState({ held_at: 0 });
  await directory.drain();
});

test("a part of a list may name further lists, which are looked at, too", async () => {
  await showChanged("0f", ({ files = [] }, totals) => {
    const parts = namesBelow("0f").map((shard) => {
      const own = files.filter(({ path }) => sha256Of(path).startsWith(shard));
      const bytes = own.reduce((sum, { size }) => sum + size, 0);
      return showPart({ shard, files: own }, { files: own.length, bytes });
    });
    return showPart({ shard: "0f", parts }, totals);
  });
  expect(await verify()).toMatchObject(whole);
  const addresses = await served();
  const { files, shards } = manifest();
  const lists = addresses.slice(files);
  expect(lists).toHaveLength(16 + shards.length + 2);
  expect(lists).toContainEqual(expect.stringContaining(feedPaths.shard("0f0")));
  const leaf = join(origin, feedPaths.shard("0f0"));
  replace(leaf, readFileSync(leaf, "utf8").replace("0f0", "0f1"));
  expect(await kindOf(verify())).toBe("altered");
});

test("a list that is shown for too long is refused, though nothing changed", async () => {
  const after = (days: number) => new Date(Date.now() + days * dayMs);
  expect(await verify({ now: after(6) })).toMatchObject(whole);
  const { expires_at } = manifest().issue;
  const expired = { kind: "expired", details: { expires_at } };
  expect(await refusalOf(verify({ now: after(8) }))).toMatchObject(expired);
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

test("a restored store numbers its lists above those of before", async () => {
  const { store } = directory;
  const at = (time: string) => ({ digest: time, now: new Date(time) });
  const first = await issueList(store, at("2030-01-01T00:00:00Z"));
  const second = await issueList(store, at("2030-01-01T00:00:00.5Z"));
  expect(second.sequence).toBe(first.sequence + 500);
  // A backup of a day earlier, and a clock that was set back.
  const old = { ...first, sequence: first.sequence - dayMs };
  const sql = "UPDATE directory_facts SET value = ? WHERE name = 'signed_list'";
  await store.write((tx) => tx.raw.execute({ sql, args: [JSON.stringify(old)] }));
  const restored = await issueList(store, at("2030-01-01T01:00:00Z"));
  expect(restored.sequence).toBeGreaterThan(second.sequence);
  const setBack = await issueList(store, at("2026-01-01T00:00:00Z"));
  expect(setBack.sequence).toBe(restored.sequence + 1);
  // A list from the future would not be renewed for years.
  const digest = "2026-01-01T00:00:00Z";
  const earlier = { digest, now: new Date("2025-01-01T00:00:00Z") };
  const anew = { digest, sequence: setBack.sequence + 1, issued_at: earlier.now.getTime() };
  expect(await issueList(store, earlier)).toEqual(anew);
  const both = ["one", "two"].map((one) => issueList(store, { ...earlier, digest: one }));
  const numbers = (await Promise.all(both)).map(({ sequence }) => sequence);
  expect(numbers).toEqual([setBack.sequence + 2, setBack.sequence + 3]);
});

test("another key is taken only where it is named", async () => {
  const after = taken();
  const other = await openSigner(aSigningKey());
  await showList(manifest(), other);
  expect(await kindOf(verify({ after }))).toBe("not_signed_by");
  // Also where the older key is published still.
  replace(join(origin, feedPaths.keys), keySetOf(other, [signer.publicKey]));
  expect(await kindOf(verify({ after }))).toBe("not_signed_by");
  const named = await verify({ after, key: other.publicKey.x });
  expect(named.list).toMatchObject({ key: { kid: other.publicKey.kid }, pinned: true });
  const next = taken();
  expect((await verify({ after: next })).list.key.kid).toBe(other.publicKey.kid);
  await showList(manifest(), signer);
  expect(await kindOf(verify({ after: next }))).toBe("not_signed_by");
});

test("a key that is published under another's id is not taken for it", async () => {
  const announced = (await openSigner(aSigningKey())).publicKey.kid;
  const pem = aSigningKey();
  const own = (await openSigner(pem)).publicKey;
  const list = new TextEncoder().encode(JSON.stringify(manifest()));
  const signing = new CompactSign(list).setProtectedHeader({ alg: "EdDSA", kid: announced });
  const [header, , signature] = (await signing.sign(createPrivateKey(pem))).split(".");
  replace(join(origin, feedPaths.manifest), list);
  replace(join(origin, feedPaths.signature), `${header}..${signature}`);
  const keys = JSON.stringify({ keys: [{ ...own, kid: announced }] });
  replace(join(origin, feedPaths.keys), keys);
  expect(await kindOf(verify())).toBe("not_signed_by");
});

test("what stands in place of a key's id is not repeated", () => {
  const header = (kid: string) =>
    `${Buffer.from(JSON.stringify({ alg: "EdDSA", kid })).toString("base64url")}..x`;
  expect(keyIdOf(header("\u001b[2Jgood"))).toBeNull();
  expect(keyIdOf(header(signer.publicKey.kid))).toBe(signer.publicKey.kid);
});

test("an answer that comes a byte now and then, or never ends, is given up", async () => {
  const pieces = (bytes: number, pauseMs: number) =>
    new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await Bun.sleep(pauseMs);
        controller.enqueue(new Uint8Array(bytes));
      },
    });
  using server = serveHere(
    ({ url }) => new Response(url.endsWith("/slow") ? pieces(1, 20) : pieces(1_000_000, 0)),
  );
  const slow = readBytes(`${server.url.href}slow`, 1_000, 200);
  expect(await kindOf(slow)).toBe("unreachable");
  const endless = readBytes(`${server.url.href}endless`, 1_000_000);
  expect(String(await refusalOf(endless))).toContain("it has more than 1000000 bytes");
  expect(await kindOf(readBytes("/dev/zero", 1_000))).toBe("unreadable");
}, 3_000);

describe("a signed list that does harm is refused:", () => {
  test.each([
    ".htaccess",
    "a/.git/config",
    "../outside",
    "a/../../b",
    ".well-known/.x",
    "/etc/x",
    "a//b",
    "a\nhttps://elsewhere.example/b",
  ])("the path %j", (path) => {
    const shard = (to: string) => ({
      shard: "00",
      files: [{ path: to, sha256: sha256Of(""), size: 1 }],
    });
    expect(ManifestShard.safeParse(shard(path)).success).toBe(false);
    expect(ManifestShard.safeParse(shard("a/b")).success).toBe(true);
  });

  test.each(["../outside", feedPaths.manifest])(
    "%s, by a copy and by its addresses",
    async (path) => {
      await showFile(path, sha256Of(path).slice(0, 2));
      expect(await kindOf(verify())).toBe("bad_list");
      expect(await kindOf(served())).toBe("bad_list");
    },
  );

  test("a path in another's part", async () => {
    await showFile("a/b");
    expect(await kindOf(verify())).toBe("bad_list");
  });

  test("more or fewer files and bytes than its parts have, and a part without end", async () => {
    const list = manifest();
    const [first, second, ...others] = list.shards;
    if (first === undefined || second === undefined) throw new Error("a list has shards");
    const counted = [
      { ...first, files: first.files + 1 },
      { ...second, files: second.files - 1 },
    ];
    for (const changed of [
      { files: 1, bytes: 1 },
      { shards: [{ ...first, size: 2 ** 40 }, second, ...others] },
      { shards: [...counted, ...others] },
    ]) {
      await showList({ ...list, ...changed });
      expect(await kindOf(verify())).toBe("bad_list");
    }
  });
});

test("a file of the copy's own list that leads elsewhere is not read", async () => {
  const elsewhere = base("elsewhere");
  cpSync(join(origin, feedPaths.manifest), elsewhere);
  rmSync(join(origin, feedPaths.manifest));
  symlinkSync(elsewhere, join(origin, feedPaths.manifest));
  expect(await kindOf(verify())).toBe("unreadable");
});

// The last one: from here on nothing is exported, 4,000 lists least of all.
test("a list of many files changes as one made anew, and leaves nothing behind", async () => {
  await directory.restart({ publicDir: null });
  const { context } = directory.publisher;
  const draft = (full: boolean) => draftManifest(context, { full, ownFiles: [], perShard: 0.1 });
  const { files, root } = draft(true);
  const list = JSON.stringify({ version: 1, issue: manifest().issue, ...root });
  const own = storeFiles(context, [{ path: feedPaths.manifest, body: list }]).files;
  commitRelease(context.manifest, {
    reason: "lists",
    asOf: Number.MAX_SAFE_INTEGER,
    withoutHistory: "",
    now: new Date(),
    files: [...files, ...own],
    state: (release) => ({ listed_release: release }),
  });
  const lists = () => context.manifest.under(`${dirname(feedPaths.shard("00"))}/`);
  expect(lists()).toHaveLength(256 + 4_096);
  await directory.edit("well", { tagline: "In two levels" });
  await publishChanges(context);
  const patched = draft(false);
  expect(patched.files.length).toBeLessThan(200);
  expect(patched.root).toEqual(draft(true).root);
  // The next list is split as usual again.
  await directory.drain();
  expect(lists()).toHaveLength(256);
  const published = JSON.parse(directory.read(feedPaths.manifest) ?? "");
  expect(published.shards).toEqual(
    draftManifest(context, { full: true, ownFiles: [] }).root.shards,
  );
});
