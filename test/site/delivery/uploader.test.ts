import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { feedPaths } from "#content/contract/feed.ts";
import { draftManifest } from "#site/bundle/signed-list.ts";
import { aBundle, type TestBundle } from "#test/support/bundle.ts";
import { anS3Store, s3AccessTo, type TestStore } from "#test/support/s3.ts";
import { type ObjectStore, openS3Target } from "#site/delivery/upload-target.ts";
import { startUploader } from "#site/delivery/upload.ts";

let store: TestStore;
let bundle: TestBundle;
let target: ObjectStore;
let mine: boolean;
let asked: string[];
let logged: string[];
let purged: string[];
let cache: Bun.Server<undefined>;
let busy = false;

beforeAll(async () => {
  store = await anS3Store("almoner-uploader");
  cache = Bun.serve({
    port: 0,
    fetch: (request) => {
      purged.push(request.headers.get("xkey-purge") ?? "");
      return new Response("");
    },
  });
});
afterAll(async () => {
  await cache.stop(true);
  await store.close();
});
beforeEach(() => {
  bundle = aBundle();
  [asked, logged, purged] = [[], [], []];
  const opened = openS3Target("s3://almoner-uploader/site", s3AccessTo(store.endpoint));
  if (!opened.ok) throw new Error(opened.failure);
  const real = opened.value;
  mine = true;
  target = {
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
});
afterEach(() => bundle.close());

const start = (retryAfterMs?: number, from = bundle, isMine = () => mine) => {
  const log = (event: string) => void logged.push(event);
  const urls = [`http://127.0.0.1:${cache.port}`];
  return startUploader(
    { ...from, clock: () => new Date("2026-06-01T12:00:00Z"), log },
    {
      ...{ target, isMine, purge: { urls, mode: "xkey", log } },
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
  );
};

test("each release is uploaded to the bucket, and caches are purged once it is there", async () => {
  const uploader = start();
  bundle.publish({ "nonprofits/a.html": "one", "causes/health.html": "one" });
  uploader.notice();
  await uploader.idle();
  bundle.publish({ "nonprofits/a.html": null, "nonprofits/b.html": "b", "index.html": "home" });
  bundle.publish({ "causes/health.html": "two" });
  asked.length = 0;
  uploader.notice();
  uploader.notice();
  await uploader.idle();
  expect(asked.sort()).toEqual([
    "put causes/health.html",
    "put index.html",
    "put nonprofits/b.html",
    "remove nonprofits/a.html",
  ]);
  expect(await store.keys("site/")).toEqual([
    "site/causes/health.html",
    "site/index.html",
    "site/nonprofits/b.html",
  ]);
  expect(purged.map((keys) => keys.split(" ").sort())).toEqual([
    ["list:cause:health/1", "missing", "profile:a"],
    ["file:index.html", "list:cause:health/1", "missing", "profile:a", "profile:b"],
  ]);
});

test("what failed comes with the next release", async () => {
  const uploader = start();
  bundle.publish({ "nonprofits/a.html": "one" });
  uploader.notice();
  await uploader.idle();
  busy = true;
  bundle.publish({ "nonprofits/a.html": "two" });
  uploader.notice();
  await uploader.idle();
  expect(logged).toContain("a file could not be uploaded");
  busy = false;
  bundle.publish({ "causes/health.html": "new" });
  uploader.notice();
  await uploader.idle();
  expect(await (await store.find("site/nonprofits/a.html"))?.text()).toBe("two");
  expect(await (await store.find("site/causes/health.html"))?.text()).toBe("new");
});

test("what failed is tried again without another release", async () => {
  const uploader = start(20);
  busy = true;
  bundle.publish({ "nonprofits/a.html": "three" });
  uploader.notice();
  await uploader.idle();
  expect(logged).toContain("a file could not be uploaded");
  busy = false;
  for (let look = 0; look < 100 && purged.length === 0; look++) await Bun.sleep(10);
  expect(await (await store.find("site/nonprofits/a.html"))?.text()).toBe("three");
});

/** Adds the list of all files to a bundle, as the feed's job does; shards that list nothing are left out. */
function publishList(of: TestBundle): void {
  const { manifest, blobs } = of;
  const { files, root } = draftManifest({ manifest, blobs }, { full: true, own: [] });
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
  const other = aBundle();
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
  expect(await broughtWhenNoticed()).toEqual(["a", "b", "c"].map((name) => `put ${page(name)}`));

  turn.of = "second";
  expect(await broughtWhenNoticed()).toEqual([`put ${page("b")}`, `remove ${page("c")}`]);
  expect(await (await store.find(`site/${page("b")}`))?.text()).toBe("two");

  // What the first remembers of the bucket is no longer so.
  turn.of = "first";
  bundle.publish({ [page("b")]: "two" });
  publishList(bundle);
  expect(await broughtWhenNoticed()).toEqual([`put ${page("c")}`]);
  expect(await (await store.find(`site/${page("c")}`))?.text()).toBe("one");
  other.close();
});

test("releases that are forgotten meanwhile are no gap", async () => {
  const uploader = start();
  bundle.publish({ "nonprofits/a.html": "one", "nonprofits/b.html": "one" });
  uploader.notice();
  await uploader.idle();
  bundle.publish({ "nonprofits/a.html": null });
  bundle.publish({ "nonprofits/b.html": "two" });
  bundle.publish({ "nonprofits/c.html": "new" });
  // As pruning does: the release in which a file went is not kept any more.
  bundle.manifest.db.run("DELETE FROM history WHERE release < 4");
  bundle.manifest.db.run("DELETE FROM releases WHERE id < 4");
  asked.length = 0;
  uploader.notice();
  await uploader.idle();
  expect(asked.sort()).toEqual([
    "put nonprofits/b.html",
    "put nonprofits/c.html",
    "remove nonprofits/a.html",
  ]);
});
