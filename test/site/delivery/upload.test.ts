import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { feedPaths } from "#content/contract/feed.ts";
import { draftManifest } from "#site/bundle/signed-list.ts";
import { aBundle, sampleFiles, type TestBundle } from "#test/support/bundle.ts";
import { clientsInstalled } from "#test/support/clients.ts";
import { anS3Store, s3AccessTo } from "#test/support/s3.ts";
import { headersOf } from "#site/delivery/http-headers.ts";
import { startUploader, uploadRelease } from "#site/delivery/upload.ts";
import { type ObjectStore, openS3Target, type UploadTarget } from "#site/delivery/upload-target.ts";
import { serveHere } from "#test/support/serve-here.ts";
import { forEachTest, forTests } from "#test/support/at-file-top.ts";

const bucket = "almoner-test";
const now = new Date("2026-06-01T12:00:00Z");
describe.skipIf(!clientsInstalled)("uploads to a bucket", () => {
  let prefix = 0;
  /** Whether the store takes nothing. */
  let busy = false;

  const store = forTests(() => anS3Store(bucket));
  const bundle = forEachTest(aBundle);
  beforeEach(() => void prefix++);

  /** The real target, with a list of what was asked of it. */
  function aTarget(path = `site-${prefix}`, keyId?: string) {
    const access = s3AccessTo(store.endpoint);
    const opened = openS3Target(
      `s3://${bucket}/${path}`,
      { ...access, accessKeyId: keyId ?? access.accessKeyId },
      { retry: { triesMax: 3, firstMs: 5 } },
    );
    if (!opened.ok) throw new Error(opened.failure);
    const real = opened.value;
    const asked: string[] = [];
    const target: ObjectStore = {
      ...real,
      put: (key, body, headers) => {
        asked.push(`put ${key}`);
        if (busy) return Promise.resolve({ kind: "unreachable", message: "busy" });
        return real.put(key, body, headers);
      },
      remove: (key) => {
        asked.push(`remove ${key}`);
        return real.remove(key);
      },
    };
    return { target, asked };
  }

  type UploadOptions = Partial<Parameters<typeof uploadRelease>[0]>;
  const upload = (target: UploadTarget, options: UploadOptions = {}) =>
    uploadRelease({ ...bundle, target, now, ...options });

  const keysHeld = async () =>
    (await store.keys(`site-${prefix}/`)).map((key) => key.slice(`site-${prefix}/`.length));
  /** What the bucket holds at a path; undefined for nothing. */
  const textAt = async (path: string) => (await store.find(`site-${prefix}/${path}`))?.text();

  test("a first upload brings every file as it is to be sent, those first that others name", async () => {
    bundle.publish(sampleFiles);
    const { target, asked } = aTarget();
    const names = Object.keys(sampleFiles);
    const progress: string[] = [];
    const onProgress = (done: number, total: number) => void progress.push(`${done}/${total}`);
    const outcome = await upload(target, { onProgress });
    expect(outcome).toMatchObject({ release: 1, uploaded: names.length, failed: [] });
    expect(progress).toEqual(names.map((_, at) => `${at + 1}/${names.length}`));
    expect(await keysHeld()).toEqual(names.toSorted());
    for (const [path, body] of Object.entries(sampleFiles)) {
      const answer = await store.find(`site-${prefix}/${path}`);
      const { contentType, cacheControl, surrogateKeys } = headersOf(path);
      const sent = ["content-type", "cache-control", "x-amz-meta-cache-tag", "x-amz-meta-digest"];
      expect([path, ...sent.map((name) => answer?.headers.get(name))]).toEqual([
        path,
        contentType,
        cacheControl,
        surrogateKeys.join(","),
        bundle.manifest.find(path)?.digest,
      ]);
      expect(await answer?.text()).toBe(body);
    }
    const at = (path: string) => asked.indexOf(`put ${path}`);
    const lastAsset = Math.max(at("_astro/site.Ab12Cd34.css"), at("_astro/search.Zz99.js"));
    const profiles = [at("nonprofits/water-for-all.html"), at("api/nonprofits/water-for-all.json")];
    expect(lastAsset).toBeLessThan(Math.min(...profiles));
    expect(Math.max(...profiles)).toBeLessThan(at("causes/education.html"));
    expect(Math.max(...profiles)).toBeLessThan(at("sitemap.xml"));
    expect(asked.at(-1)).toBe("put changes/state.json");
  });

  describe("a later upload", () => {
    test("brings only what changed, and deletes last", async () => {
      bundle.publish(sampleFiles);
      const { target, asked } = aTarget();
      await upload(target);
      asked.length = 0;
      expect(await upload(target)).toMatchObject({ release: 1, uploaded: 0, removed: 0 });
      expect(asked).toEqual([]);
      bundle.publish({
        "causes/education-2.html": null,
        "causes/education.html": "<!doctype html><p>One page now",
        "nonprofits/water-for-all.html": "<!doctype html><p>New words",
      });
      const outcome = await upload(target);
      expect(asked).toEqual([
        "put nonprofits/water-for-all.html",
        "put causes/education.html",
        "remove causes/education-2.html",
      ]);
      expect(outcome).toMatchObject({ release: 2, uploaded: 2, removed: 1 });
      expect(outcome.touched).toHaveLength(3);
      for (const path of outcome.touched) expect(asked.join()).toContain(path);
      expect(await textAt("causes/education-2.html")).toBeUndefined();
    });

    test("remembers each target on its own", async () => {
      bundle.publish({ "index.html": "<p>Home" });
      await upload(aTarget().target);
      const other = aTarget(`other-${prefix}`);
      await upload(other.target);
      expect(other.asked).toEqual(["put index.html"]);
    });

    test("goes on where it was cut off", async () => {
      bundle.publish(sampleFiles);
      const { target, asked } = aTarget();
      const stopping = new AbortController();
      const cut = await upload(target, {
        concurrency: 2,
        signal: stopping.signal,
        onProgress: (done) => void (done === 10 && stopping.abort()),
      });
      expect(cut.release).toBe(0);
      expect(cut.uploaded).toBeLessThan(15);
      asked.length = 0;
      const rest = await upload(target);
      expect(rest.uploaded).toBe(Object.keys(sampleFiles).length - cut.uploaded);
      expect(asked).toHaveLength(rest.uploaded);
    });
  });

  test("what is published during an upload comes in another pass, and the newer for content that is gone", async () => {
    const first = bundle.publish(sampleFiles);
    const { target } = aTarget();
    const profile = "nonprofits/water-for-all.html";
    let published = false;
    const outcome = await upload(
      {
        ...target,
        put: (key, body, headers) => {
          if (!published) {
            published = true;
            bundle.publish({ [profile]: "<p>Newer", "causes/health.html": "<p>Health" });
            // As pruning does with what no kept release names.
            bundle.blobs.remove(first.changed.find(({ path }) => path === profile)?.digest ?? "");
          }
          return target.put(key, body, headers);
        },
      },
      { concurrency: 1 },
    );
    expect(outcome).toMatchObject({ release: 2, failed: [] });
    expect(await textAt(profile)).toBe("<p>Newer");
    expect(await textAt("causes/health.html")).toBe("<p>Health");
  });

  describe("an upload that fails", () => {
    test("tries again, and keeps lists back when a page cannot be brought", async () => {
      bundle.publish(sampleFiles);
      const { target, asked } = aTarget();
      const failing: UploadTarget = {
        ...target,
        put: (key, body, headers) =>
          key === "nonprofits/water-for-all.html"
            ? Promise.resolve({ kind: "unreachable", message: "busy" })
            : target.put(key, body, headers),
      };
      const failed = [{ path: "nonprofits/water-for-all.html", error: "busy" }];
      expect(await upload(failing)).toMatchObject({ release: 0, failed });
      expect(asked).toContain("put api/nonprofits/water-for-all.json");
      expect(asked).not.toContain("put causes/education.html");
      expect((await upload(target)).release).toBe(1);
      expect(asked.at(-1)).toBe("put changes/state.json");
    });

    test("stops at once when the store refuses the key", async () => {
      bundle.publish(sampleFiles);
      const { target, asked } = aTarget(undefined, "unknown-key");
      const outcome = await upload(target, { concurrency: 1 });
      expect(outcome.failed).toEqual([
        { path: expect.any(String), error: "the store answered 403 InvalidAccessKeyId" },
      ]);
      expect(asked).toHaveLength(1);
    });

    test("is over a passing trouble by itself", async () => {
      let calls = 0;
      using flaky = serveHere(() => new Response("", { status: ++calls < 3 ? 503 : 200 }));
      bundle.publish({ "index.html": "<p>Home" });
      const access = s3AccessTo(`http://127.0.0.1:${flaky.port}`);
      const opened = openS3Target(`s3://${bucket}`, access, { retry: { triesMax: 3, firstMs: 1 } });
      if (!opened.ok) throw new Error(opened.failure);
      expect(await upload(opened.value)).toMatchObject({ release: 1, uploaded: 1, failed: [] });
      expect(calls).toBe(3);
    });
  });

  test("extensionless keys stand beside the files", async () => {
    bundle.publish(sampleFiles);
    const { target } = aTarget();
    await upload(target, { extensionless: true });
    const beside = ["nonprofits/water-for-all", "api/nonprofits", "api/nonprofits/water-for-all"];
    expect(await keysHeld()).toEqual(expect.arrayContaining(beside));
    const answer = await store.find(`site-${prefix}/api/nonprofits/water-for-all`);
    expect(answer?.headers.get("content-type")).toBe("application/json");
    bundle.publish({ "nonprofits/water-for-all.html": null });
    await upload(target, { extensionless: true });
    expect(await textAt("nonprofits/water-for-all")).toBeUndefined();
  });

  describe("an uploader", () => {
    let purged: string[];
    let logged: string[];
    let asked: string[];
    let target: ObjectStore;
    let cache: Bun.Server<undefined>;
    beforeAll(() => {
      cache = serveHere((request) => {
        purged.push(request.headers.get("xkey-purge") ?? "");
        return new Response("");
      });
    });
    afterAll(() => cache.stop(true));
    beforeEach(() => {
      [logged, purged] = [[], []];
      ({ target, asked } = aTarget());
    });

    const start = (retryAfterMs = 60_000, from = bundle, isMine = () => true) => {
      const log = (event: string) => void logged.push(event);
      const purge = { urls: [`http://127.0.0.1:${cache.port}`], mode: "xkey", log } as const;
      return startUploader(
        { ...from, clock: () => now, log },
        { target, isMine, purge, retryAfterMs },
      );
    };
    /** Tells it of releases, twice, as happens, and waits until it has done all. */
    const noticed = async (uploader: ReturnType<typeof start>) => {
      uploader.notice();
      uploader.notice();
      await uploader.idle();
    };

    test("each release is uploaded to the bucket, and caches are purged once it is there", async () => {
      const uploader = start();
      bundle.publish({ "nonprofits/a.html": "one", "causes/health.html": "one" });
      await noticed(uploader);
      bundle.publish({ "nonprofits/a.html": null, "nonprofits/b.html": "b", "index.html": "home" });
      bundle.publish({ "causes/health.html": "two" });
      asked.length = 0;
      await noticed(uploader);
      expect(asked.sort()).toEqual([
        "put causes/health.html",
        "put index.html",
        "put nonprofits/b.html",
        "remove nonprofits/a.html",
      ]);
      expect(await keysHeld()).toEqual(["causes/health.html", "index.html", "nonprofits/b.html"]);
      expect(purged.map((keys) => keys.split(" ").sort())).toEqual([
        ["list:cause:health/1", "missing", "profile:a"],
        ["file:index.html", "list:cause:health/1", "missing", "profile:a", "profile:b"],
      ]);
    });

    /** An uploader that could not bring a page, which is then no longer busy. */
    const failedUploader = async (retryAfterMs?: number) => {
      const uploader = start(retryAfterMs);
      busy = true;
      bundle.publish({ "nonprofits/a.html": "two" });
      await noticed(uploader);
      expect(logged).toContain("a file could not be uploaded");
      busy = false;
      return uploader;
    };

    test("what failed comes with the next release", async () => {
      const uploader = await failedUploader();
      bundle.publish({ "causes/health.html": "new" });
      await noticed(uploader);
      expect(await textAt("nonprofits/a.html")).toBe("two");
      expect(await textAt("causes/health.html")).toBe("new");
    });

    test("what failed is tried again without another release", async () => {
      await failedUploader(20);
      for (let look = 0; look < 100 && purged.length === 0; look++) await Bun.sleep(10);
      expect(await textAt("nonprofits/a.html")).toBe("two");
    });

    /** Adds the list of all files to a bundle, as the feed's job does; shards that list nothing are left out. */
    function publishList(of: TestBundle): void {
      const { manifest, blobs } = of;
      const { files, root } = draftManifest({ manifest, blobs }, { full: true, ownFiles: [] });
      const shards = root.shards.filter((shard) => shard.files > 0);
      const texts = files
        .filter(({ path }) => shards.some((shard) => shard.path === path))
        .map(({ path, digest }) => [path, blobs.read(digest).toString()]);
      of.publish({
        ...Object.fromEntries(texts),
        [feedPaths.manifest]: JSON.stringify({ ...root, shards }),
      });
    }

    test("one of two publishers fills the bucket, and the next one brings only what the list there has not", async () => {
      using other = aBundle();
      const turn = { of: "first" };
      const [first, second] = [
        start(undefined, bundle, () => turn.of === "first"),
        start(undefined, other, () => turn.of === "second"),
      ];
      const broughtWhenNoticed = async () => {
        asked.length = 0;
        for (const uploader of [first, second]) uploader.notice();
        await Promise.all([first.idle(), second.idle()]);
        return asked.filter((request) => !request.includes(" snapshot/")).sort();
      };
      const page = (name: string) => `nonprofits/${name}.html`;
      bundle.publish({ [page("a")]: "one", [page("b")]: "one", [page("c")]: "one" });
      publishList(bundle);
      other.publish({ [page("a")]: "one", [page("b")]: "two" });
      publishList(other);
      expect(await broughtWhenNoticed()).toEqual(
        ["a", "b", "c"].map((name) => `put ${page(name)}`),
      );

      turn.of = "second";
      expect(await broughtWhenNoticed()).toEqual([`put ${page("b")}`, `remove ${page("c")}`]);
      expect(await textAt(page("b"))).toBe("two");

      // What the first remembers of the bucket is no longer so.
      turn.of = "first";
      bundle.publish({ [page("b")]: "two" });
      publishList(bundle);
      expect(await broughtWhenNoticed()).toEqual([`put ${page("c")}`]);
      expect(await textAt(page("c"))).toBe("one");
    });

    test("releases that are forgotten meanwhile are no gap", async () => {
      const uploader = start();
      bundle.publish({ "nonprofits/a.html": "one", "nonprofits/b.html": "one" });
      await noticed(uploader);
      bundle.publish({ "nonprofits/a.html": null });
      bundle.publish({ "nonprofits/b.html": "two" });
      bundle.publish({ "nonprofits/c.html": "new" });
      // As pruning does: the release in which a file went is not kept any more.
      bundle.manifest.db.run("DELETE FROM history WHERE release < 4");
      bundle.manifest.db.run("DELETE FROM releases WHERE id < 4");
      asked.length = 0;
      await noticed(uploader);
      expect(asked.sort()).toEqual([
        "put nonprofits/b.html",
        "put nonprofits/c.html",
        "remove nonprofits/a.html",
      ]);
    });
  });
});
