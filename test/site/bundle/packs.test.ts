import { describe, expect, test } from "bun:test";
import { readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { openBlobs } from "#site/bundle/blobs.ts";
import { openCompaction, collectDead } from "#site/bundle/garbage-collection.ts";
import { type NewFile, openManifest } from "#site/bundle/manifest.ts";
import { commitRelease, storeFiles } from "#site/bundle/release.ts";
import type { Location } from "#site/bundle/segments.ts";
import { openBundleReader } from "#site/delivery/bundle-reader.ts";
import { aBundle, flipBit } from "#test/support/bundle.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

const bundle = forEachTest(aBundle);

const bytes = (text: string) => new TextEncoder().encode(text);
const page = (at: number) =>
  `<title>Page ${at}</title>${Array.from({ length: 300 }, (_, word) => `<p>word ${(word * 7_919) % 997}`).join("")}`;
const pages = (from: number, to: number) =>
  Object.fromEntries(
    Array.from({ length: to - from }, (_, at) => [`pages/${from + at}.html`, page(from + at)]),
  );
const later = () => new Date(Date.now() + 2 * 60 * 60 * 1_000);
const segments = () =>
  readdirSync(bundle.blobs.folder)
    .filter((name) => name.endsWith(".pack"))
    .sort();
const bytesOf = (names: readonly string[]) =>
  names.reduce((sum, name) => sum + statSync(join(bundle.blobs.folder, name)).size, 0);
/** What is published afterwards goes into another segment. */
const anotherProcess = () => bundle.blobs.close();
const digestAt = (path: string) => bundle.manifest.find(path)?.digest ?? "";
const collect = (clock = later) => {
  const step = openCompaction({ ...bundle, clock });
  while (step());
};
/** Files are made a release, by this process or with blobs of another. */
const commit = (files: NewFile[]) =>
  commitRelease(bundle.manifest, { reason: "test", asOf: 9, state: {}, now: new Date(0), files });

describe("content", () => {
  test("is kept once, and not again while a release names it", () => {
    const first = bundle.blobs.put(bytes("once"), "a.txt");
    expect(first.at).toBeDefined();
    expect(bundle.blobs.put(bytes("once"), "b.txt")).toEqual(first);
    bundle.publish({ "a.txt": "once" });
    const { digest, size } = first;
    expect(bundle.blobs.put(bytes("once"), "c.txt")).toEqual({ digest, size });
    expect(bundle.blobs.read(first.digest).toString()).toBe("once");
  });

  test("of one kind is compressed by what its documents have in common", () => {
    const alone = bundle.blobs.put(bytes(page(1)), "pages/1.html").at?.length ?? 0;
    const samples = Array.from({ length: 10 }, (_, at) => ({
      path: `pages/${100 + at}.html`,
      body: bytes(page(100 + at)),
    }));
    bundle.blobs.dictionaries.learn(samples);
    const { digest, at } = bundle.blobs.put(bytes(page(2)), "pages/2.html");
    expect(at?.length).toBeLessThan(alone / 5);
    expect(bundle.blobs.put(bytes(page(3)), "others/3.html").at?.length).toBeGreaterThan(alone / 2);
    // A newer site learns others; what was compressed before is read as it was written.
    bundle.blobs.dictionaries.learn(
      samples.map((one) => ({ ...one, body: bytes("x".repeat(99)) })),
    );
    bundle.publish({ "pages/1.html": page(1), "pages/2.html": page(2) });
    using manifest = openManifest(bundle.folder, { readonly: true });
    const elsewhere = openBlobs(manifest);
    expect(elsewhere.read(digest).toString()).toBe(page(2));
    expect(elsewhere.read(digestAt("pages/1.html")).toString()).toBe(page(1));
    elsewhere.close();
  });

  test("of another process is found once a release names it", () => {
    using manifest = openManifest(bundle.folder, { readonly: true });
    const worker = openBlobs(manifest);
    const body = "from a worker";
    const { files } = storeFiles({ blobs: worker }, [{ path: "a.txt", body }]);
    const [{ digest } = { digest: "" }] = files;
    expect([worker.has(digest), bundle.blobs.has(digest)]).toEqual([true, false]);
    commit(files);
    expect(bundle.blobs.read(digest).toString()).toBe(body);
    worker.close();
  });

  test("that went before it was published makes no release", () => {
    bundle.publish({ "a.txt": "one" });
    const { files } = storeFiles(bundle, [{ path: "a.txt", body: "two" }]);
    const placeless = files.map(({ path, digest, size }) => ({ path, digest, size }));
    expect(() => commit(placeless)).toThrow("went before");
    rmSync(bundle.blobs.folder, { recursive: true });
    expect(() => commit(files)).toThrow("went before");
    expect(bundle.manifest.state().current_release).toBe(1);
  });

  test("with a flipped bit is found, named and written again", () => {
    bundle.publish(pages(0, 3));
    const digest = digestAt("pages/1.html");
    flipBit(bundle.manifest, digest);
    expect([0, 1, 2].map((at) => bundle.blobs.find(digestAt(`pages/${at}.html`)) !== null)).toEqual(
      [true, false, true],
    );
    expect(bundle.blobs.placeOf(digest)).toBe(join(bundle.blobs.folder, segments()[0] ?? ""));
    const damaged: string[] = [];
    const looking = openBlobs(bundle.manifest, { onDamaged: (bad) => damaged.push(bad) });
    const bodies = Object.entries(pages(0, 3)).map(([path, body]) => ({ path, body }));
    const { files } = storeFiles({ blobs: looking }, bodies);
    expect(commit(files).changed).toEqual([]);
    expect(damaged).toEqual([digest]);
    expect(bundle.blobs.read(digest).toString()).toBe(page(1));
    looking.close();
  });
});

describe("garbage collection", () => {
  test("leaves young segments alone, and removes old ones that nothing names", () => {
    bundle.publish({ "a.txt": "one" });
    anotherProcess();
    const { digest } = bundle.blobs.put(bytes("of a process that was killed"), "b.txt");
    anotherProcess();
    collect(() => new Date());
    expect(segments()).toHaveLength(2);
    collect();
    expect(segments()).toHaveLength(1);
    expect(bundle.blobs.has(digest)).toBe(false);
    expect(bundle.blobs.read(digestAt("a.txt")).toString()).toBe("one");
  });

  test("removes large files that nothing names", () => {
    const large = bytes("x".repeat(5_000_000));
    bundle.publish({ "large.txt": new TextDecoder().decode(large) });
    const own = bundle.blobs.ownFile(digestAt("large.txt"));
    const longAgo = new Date("2020-01-01");
    const { digest } = bundle.blobs.put(large.fill(0x79), "other.txt");
    for (const name of [digestAt("large.txt"), digest])
      utimesSync(join(bundle.blobs.folder, name), longAgo, longAgo);
    collect(() => new Date());
    expect(bundle.blobs.has(digest)).toBe(false);
    expect(own).toEndWith(digestAt("large.txt"));
    expect(bundle.blobs.has(digestAt("large.txt"))).toBe(true);
  });

  test("copies what lives in mostly dead segments, and readers see all of it meanwhile", () => {
    bundle.publish(pages(0, 400));
    anotherProcess();
    bundle.publish(
      Object.fromEntries(Object.keys(pages(0, 300)).map((path) => [path, `${path} 2`])),
    );
    bundle.manifest.db.run("DELETE FROM history");
    bundle.manifest.db.run(
      "DELETE FROM blobs WHERE NOT EXISTS (SELECT 1 FROM files WHERE files.digest = blobs.digest)",
    );
    anotherProcess();
    const [before = ""] = segments();
    const sizeBefore = bytesOf([before]);
    const reader = openBundleReader(bundle.folder);
    const readsAll = () => {
      for (const path of Object.keys(pages(0, 400))) {
        const file = reader.find(`/${path.replace(".html", "")}`);
        const body = file && reader.read(file)?.toString();
        const at = Number(/\d+/.exec(path));
        if (body !== (at < 300 ? `${path} 2` : page(at))) throw new Error(`${path}: ${body}`);
      }
    };
    const step = openCompaction({ ...bundle, clock: later });
    readsAll();
    // A reader that looked a record up before still finds it for a minute.
    const old = bundle.manifest.db
      .query<Location, [string]>("SELECT pack, start, length FROM blobs WHERE digest = unhex(?)")
      .get(digestAt("pages/350.html"));
    while (step()) readsAll();
    readsAll();
    expect(old).not.toBeNull();
    if (old !== null) expect(bundle.blobs.find(digestAt("pages/350.html"), old)).not.toBeNull();
    const muchLater = () => new Date(later().getTime() + 120_000);
    openCompaction({ ...bundle, clock: muchLater })();
    expect(segments()).not.toContain(before);
    expect(bytesOf(segments())).toBeLessThan(sizeBefore / 2);
    readsAll();
    reader.close();
  });

  test("joins many small segments", () => {
    for (let at = 0; at < 20; at++) {
      bundle.publish(pages(at, at + 1));
      anotherProcess();
    }
    expect(segments()).toHaveLength(20);
    collect();
    collect(() => new Date(later().getTime() + 120_000));
    expect(segments()).toHaveLength(1);
    for (let at = 0; at < 20; at++)
      expect(bundle.blobs.read(digestAt(`pages/${at}.html`)).toString()).toBe(page(at));
  });
});

test("what a build that failed has left goes at once, and nothing that a release names", () => {
  bundle.publish({ "a.txt": "one" });
  anotherProcess();
  const { digest } = bundle.blobs.put(bytes("of a build that failed"), "b.txt");
  anotherProcess();
  collectDead({ ...bundle, clock: () => new Date(Date.now() + 10) }, 0);
  expect([bundle.blobs.has(digest), segments().length]).toEqual([false, 1]);
  expect(bundle.blobs.read(digestAt("a.txt")).toString()).toBe("one");
});
