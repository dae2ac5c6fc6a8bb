import { sha256Of } from "#content/runtime/digest.ts";
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import {
  BundleManifest,
  FeedFile,
  FeedState,
  feedPaths,
  isManifestPath,
  ManifestShard,
} from "#content/contract/feed.ts";
import { closeFeedFiles } from "#content/feed/store.ts";
import { runProfileJob } from "#site/publisher/profile-job.ts";
import { type FeedJob, openFeedJob } from "#site/publisher/feed-job.ts";
import { rollBackTo } from "#site/publisher/requests.ts";
import { isSignatureOf, KeySet, openSigner } from "#content/feed/signing-keys.ts";
import { theBuiltDirectory, aSigningKey } from "#test/support/publisher.ts";

const directory = await theBuiltDirectory(
  Array.from({ length: 110 }, (_, at) => ({ slug: `trust-${at}`, name: `Trust ${at}` })),
);

const bytesOf = (path: string): Buffer => {
  const { manifest, blobs } = directory.publisher.context;
  const file = manifest.find(path);
  if (file === null) throw new Error(`the bundle has no ${path}`);
  return blobs.read(file.digest);
};
const json = (path: string): unknown => JSON.parse(bytesOf(path).toString());
const state = () => FeedState.parse(json(feedPaths.state));
const feedFile = (number: number) => FeedFile.parse(json(feedPaths.file(number)));
const snapshot = () =>
  gunzipSync(bytesOf(feedPaths.snapshot))
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** The signed list, looked at as a stranger would: the signature, each shard, each file. */
async function listedFiles(): Promise<Map<string, string>> {
  const [key] = KeySet.parse(json(feedPaths.keys)).keys;
  if (key === undefined) throw new Error("no key is published");
  const root = bytesOf(feedPaths.manifest);
  const signature = bytesOf(feedPaths.signature).toString();
  expect(await isSignatureOf(signature, root, key)).toBe(true);
  const list = BundleManifest.parse(JSON.parse(root.toString()));
  const files = new Map<string, string>();
  for (const { path, sha256 } of list.shards) {
    const bytes = bytesOf(path);
    expect(sha256Of(bytes)).toBe(sha256);
    for (const file of ManifestShard.parse(JSON.parse(bytes.toString())).files ?? []) {
      files.set(file.path, file.sha256);
    }
  }
  expect(files.size).toBe(list.files);
  return files;
}

/** The signed list tells the digest of every file, and of no other. */
async function expectListed(): Promise<void> {
  const held = directory.publisher.context.manifest.db
    .query<{ path: string; digest: string }, []>(
      "SELECT path, lower(hex(digest)) AS digest FROM files",
    )
    .all()
    .filter(({ path }) => !isManifestPath(path))
    .map(({ path, digest }) => [path, digest]);
  expect(Object.fromEntries(await listedFiles())).toEqual(Object.fromEntries(held));
}

const isDue = (job: FeedJob): boolean => {
  const atMs = job.dueAtMs();
  return atMs !== null && atMs <= performance.now();
};

describe("the change feed", () => {
  test("begins with a file for what the first build holds", () => {
    expect(state()).toMatchObject({ sequence: 1, change_sequence: 110, snapshot: { sequence: 1 } });
    expect(feedFile(1).entries).toHaveLength(110);
  });
  test("closes a file with each publication and never changes one", async () => {
    const first = bytesOf(feedPaths.file(1)).toString();
    await directory.edit("trust-3", { tagline: "New words" });
    await directory.publish("trust-4", { status: "withdrawn" });
    expect(state()).toMatchObject({ sequence: 2, change_sequence: 112, snapshot: { sequence: 2 } });
    expect(feedFile(2).entries).toMatchObject([
      { sequence: 111, slug: "trust-3", kind: "changed", fields: ["tagline"] },
      { sequence: 112, slug: "trust-4", kind: "withdrawn", fields: ["status"] },
    ]);
    expect(bytesOf(feedPaths.file(1)).toString()).toBe(first);
  });
  test("publishes a file that was closed before the publisher was killed", async () => {
    const { sequence, change_sequence } = state();
    await directory.edit("trust-3", { tagline: "Newer words" });
    await runProfileJob(directory.publisher.context);
    const closing = { after: change_sequence, upTo: change_sequence + 1, now: new Date() };
    await closeFeedFiles(directory.store, closing);
    await directory.drain();
    expect(state()).toMatchObject({ sequence: sequence + 1 });
    expect(feedFile(sequence + 1).entries).toMatchObject([{ slug: "trust-3" }]);
  });
});

describe("the snapshot", () => {
  test("holds each profile as its JSON file does, by id, withdrawn ones too", () => {
    const profiles = snapshot();
    expect(profiles.map(({ id }) => id)).toEqual(
      Array.from({ length: 110 }, (_, at) => `${at + 1}`),
    );
    expect(profiles[4]).toMatchObject({ slug: "trust-4", status: "withdrawn" });
    expect(profiles[7]).toEqual(json("api/nonprofits/trust-7.json"));
  });
  test("is its parts one after the other, and a change rewrites one", async () => {
    const parts = () => [1, 2].map((part) => bytesOf(feedPaths.snapshotPart(part)));
    const before = parts();
    await directory.publish("trust-105", { tagline: "New words" });
    const after = parts();
    expect(after[0]?.toHex()).toBe(before[0]?.toHex());
    expect(after[1]?.toHex()).not.toBe(before[1]?.toHex());
    expect(Buffer.concat(after).toHex()).toBe(bytesOf(feedPaths.snapshot).toHex());
    expect(state().snapshot).toMatchObject({ parts: 2, sequence: state().sequence });
  });
  test("has every change of a part, however many there are", async () => {
    const slugs = [10, 20, 30, 40, 50].map((at) => `trust-${at}`);
    for (const slug of slugs) await directory.edit(slug, { tagline: `Words of ${slug}` });
    await directory.drain();
    const changed = snapshot().filter(({ slug }) => slugs.includes(slug));
    expect(changed).toEqual(slugs.map((slug) => json(`api/nonprofits/${slug}.json`)));
    expect(changed[4]).toMatchObject({ tagline: "Words of trust-50" });
  });
  test("leaves no older copies behind", async () => {
    const { context } = directory.publisher;
    const before =
      context.blobs.placeOf(context.manifest.find(feedPaths.snapshot)?.digest ?? "") ?? "";
    await directory.publish("trust-5", { tagline: "Three" });
    expect(existsSync(before)).toBe(true);
    const later = () => new Date(Date.now() + 120_000);
    await openFeedJob({ ...context, clock: later }, await openSigner(aSigningKey())).run();
    expect(existsSync(before)).toBe(false);
    await expectListed();
  });
});

describe("the signed list", () => {
  test("tells the digest of every file, and of no other", async () => {
    await expectListed();
    for (const [path, sha256] of await listedFiles()) expect(sha256Of(bytesOf(path))).toBe(sha256);
  });
  test("is rewritten only where paths changed", async () => {
    const before = BundleManifest.parse(json(feedPaths.manifest)).shards;
    await directory.publish("trust-9", { contact_email: "someone@charity.example" });
    const after = BundleManifest.parse(json(feedPaths.manifest)).shards;
    const rewritten = after.filter(({ sha256 }, at) => sha256 !== before[at]?.sha256);
    expect(rewritten.length).toBeGreaterThan(3);
    expect(rewritten.length).toBeLessThan(40);
    await expectListed();
  });
  test("with nothing new is left alone", async () => {
    const { manifest } = directory.publisher.context;
    const { current_release } = manifest.state();
    expect(isDue(directory.publisher.feedJob)).toBe(false);
    await directory.publisher.feedJob.run();
    expect(manifest.state().current_release).toBe(current_release);
  });
  test("is made again when it is lost, and when the key is another", async () => {
    const { context } = directory.publisher;
    const [shard] = BundleManifest.parse(json(feedPaths.manifest)).shards;
    context.blobs.remove(shard?.sha256 ?? "");
    await directory.publisher.feedJob.run();
    await expectListed();
    const other = openFeedJob(context, await openSigner(aSigningKey()));
    expect(isDue(other)).toBe(true);
    await other.run();
    expect(isDue(other)).toBe(false);
    await expectListed();
  });
  test("follows a rollback, and the way back", async () => {
    const { context, feedJob } = directory.publisher;
    const { current_release } = context.manifest.state();
    const { sequence } = state();
    await directory.edit("trust-9", { tagline: "Later" });
    await directory.add({ slug: "latecomer" });
    await directory.drain();
    expect(rollBackTo(context, current_release)).not.toBeNull();
    await feedJob.run();
    expect(state()).toMatchObject({ sequence, snapshot: { sequence } });
    expect(snapshot()).toHaveLength(110);
    await expectListed();
    context.manifest.setState({ held_at: 0 });
    await directory.drain();
    expect(state()).toMatchObject({ sequence: sequence + 1 });
    expect(snapshot()).toHaveLength(111);
    await expectListed();
  });
});

test("after many edits, additions and withdrawals a full rebuild finds nothing that differs", async () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  for (let step = 0; step < 20; step++) {
    const slug = `trust-${random(110)}`;
    const kind = random(4);
    if (kind === 0) await directory.add({ name: `Newcomer ${step}` });
    else if (kind === 1) await directory.edit(slug, { status: random(2) ? "withdrawn" : "listed" });
    else
      await directory.edit(slug, { tagline: `Words ${step}`, beneficiaries_per_year: random(9) });
    if (random(5) === 0) await directory.drain();
  }
  await directory.drain();
  await expectListed();
  expect(await directory.rebuilt()).toEqual([]);
});

test("a snapshot of more than 50,000 profiles is there in parts alone", async () => {
  const { context, feedJob } = directory.publisher;
  const part = context.manifest.find(feedPaths.snapshotPart(1));
  const adding = context.manifest.db.query(
    "INSERT INTO files SELECT ?, digest, size, release, as_of, doomed_at FROM files WHERE path = ?",
  );
  const extra = Array.from({ length: 1_001 }, (_, at) => feedPaths.snapshotPart(1_000 + at));
  for (const path of extra) adding.run(path, part?.path ?? "");
  await feedJob.run({ full: true, paced: true });
  expect(state().snapshot).toMatchObject({ path: null, parts: 1_003 });
  expect(directory.read(feedPaths.snapshot)).toBeNull();
  await expectListed();
  const removing = context.manifest.db.query("DELETE FROM files WHERE path = ?");
  for (const path of extra) removing.run(path);
  await feedJob.run({ full: true, paced: true });
  expect(state().snapshot).toMatchObject({ path: `/${feedPaths.snapshot}` });
  await expectListed();
});
