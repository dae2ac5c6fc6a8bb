import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { aBundle, type TestBundle } from "#test/support/bundle.ts";
import { type PurgeConfig, purgeRelease, startPurger } from "#site/delivery/purge.ts";

type Heard = {
  method: string;
  path: string;
  host: string;
  keys: string | null;
  soft: string | null;
};

let heard: Heard[];
let answers: number[];
let cache: Bun.Server<undefined>;
let logged: string[];

beforeEach(() => {
  heard = [];
  answers = [];
  logged = [];
  cache = Bun.serve({
    port: 0,
    fetch: (request) => {
      heard.push({
        method: request.method,
        path: new URL(request.url).pathname,
        host: request.headers.get("host") ?? "",
        keys: request.headers.get("xkey-purge"),
        soft: request.headers.get("xkey-softpurge"),
      });
      return new Response("", { status: answers.shift() ?? 200 });
    },
  });
});
afterEach(() => cache.stop(true));

const config = (parts: Partial<PurgeConfig> = {}): PurgeConfig => ({
  urls: [`http://127.0.0.1:${cache.port}`],
  mode: "url",
  retry: { triesMax: 3, firstMs: 1 },
  log: (event) => void logged.push(event),
  ...parts,
});

const profile = { path: "nonprofits/water-for-all.html" };

const pathsOf = (files: readonly { path: string }[]) => files.map(({ path }) => path);

describe("by URL", () => {
  test("every address of every file that changed or went is purged", async () => {
    const committed = {
      changed: [profile, { path: "api/nonprofits/water-for-all.json" }, { path: "index.html" }],
      removed: ["causes/education-2.html"],
    };
    const outcome = await purgeRelease(
      [...pathsOf(committed.changed), ...committed.removed],
      config({ host: "almoner.example" }),
    );
    expect(heard.map(({ path }) => path).sort()).toEqual([
      "/",
      "/api/nonprofits/water-for-all",
      "/api/nonprofits/water-for-all.json",
      "/causes/education-2",
      "/causes/education-2.html",
      "/index.html",
      "/nonprofits/water-for-all",
      "/nonprofits/water-for-all.html",
    ]);
    expect(new Set(heard.map(({ method }) => method))).toEqual(new Set(["PURGE"]));
    expect(new Set(heard.map(({ host }) => host))).toEqual(new Set(["almoner.example"]));
    expect(outcome).toEqual({ requests: 8, failed: 0, leftToExpire: 0 });
  });

  test("a huge release leaves the rest to expire, and says so", async () => {
    const changed = Array.from({ length: 2_600 }, (_, at) => ({ path: `nonprofits/n${at}.html` }));
    const outcome = await purgeRelease(pathsOf(changed), config());
    expect(outcome).toEqual({ requests: 5_000, failed: 0, leftToExpire: 200 });
    expect(logged).toEqual(["caches hold old files until their max-age"]);
  });
});

describe("by surrogate key", () => {
  test("the narrowest key of each file is purged, and what said that nothing is there", async () => {
    const changed = [
      profile,
      { path: "api/nonprofits/water-for-all.json" },
      { path: "causes/education-2.html" },
      { path: "countries/ke.html" },
      { path: "api/nonprofits.json" },
      { path: "sitemap.xml" },
    ];
    await purgeRelease(pathsOf(changed), config({ mode: "xkey" }));
    expect(heard.map(({ keys }) => keys)).toEqual([
      "missing profile:water-for-all list:cause:education/2 list:country:ke/1 list:all/1 file:sitemap.xml",
    ]);
  });

  test("softly when asked to", async () => {
    await purgeRelease([profile.path], config({ mode: "xkey-soft" }));
    expect(heard[0]).toMatchObject({ keys: null, soft: "missing profile:water-for-all" });
  });

  test("many keys are spread over requests of a bounded length", async () => {
    const changed = Array.from({ length: 500 }, (_, at) => ({
      path: `nonprofits/name-${at}.html`,
    }));
    await purgeRelease(pathsOf(changed), config({ mode: "xkey" }));
    const texts = heard.map(({ keys }) => keys ?? "");
    expect(texts.length).toBeGreaterThan(1);
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(4_000);
    expect(texts.flatMap((text) => text.split(" "))).toHaveLength(501);
  });

  test("a release of thousands purges all", async () => {
    const changed = Array.from({ length: 2_001 }, (_, at) => ({ path: `nonprofits/n${at}.html` }));
    await purgeRelease(pathsOf(changed), config({ mode: "xkey" }));
    expect(heard.map(({ keys }) => keys)).toEqual(["all"]);
  });
});

describe("a cache in trouble", () => {
  test("is asked again, a bounded number of times", async () => {
    answers = [503, 503, 200];
    expect(await purgeRelease([profile.path], config({ mode: "xkey" }))).toMatchObject({
      failed: 0,
    });
    expect(heard).toHaveLength(3);
    answers = [503, 503, 503, 503];
    expect(await purgeRelease([profile.path], config({ mode: "xkey" }))).toMatchObject({
      failed: 1,
    });
    expect(heard).toHaveLength(6);
  });

  test("that refuses is not asked again, and is named in the log", async () => {
    answers = [403];
    const outcome = await purgeRelease([profile.path], config({ mode: "xkey" }));
    expect(outcome).toEqual({ requests: 1, failed: 1, leftToExpire: 0 });
    expect(logged[0]).toBe("a cache was not purged");
  });

  test("that cannot be reached throws nothing, and the others are purged", async () => {
    const urls = ["http://127.0.0.1:1", `http://127.0.0.1:${cache.port}`];
    const outcome = await purgeRelease([profile.path], config({ mode: "xkey", urls }));
    expect(outcome).toEqual({ requests: 2, failed: 1, leftToExpire: 0 });
    expect(heard).toHaveLength(1);
  });
});

describe("the purger", () => {
  let bundle: TestBundle;
  beforeEach(() => {
    bundle = aBundle();
  });
  afterEach(() => bundle.close());

  test("purges what releases changed, added and removed since it last did, once", async () => {
    const purger = startPurger(bundle.manifest, config({ mode: "xkey" }));
    bundle.publish({ "causes/health.html": "one", "nonprofits/a.html": "one" });
    purger.notice();
    await purger.idle();
    bundle.publish({ "causes/health.html": "two", "nonprofits/a.html": null });
    bundle.publish({ "causes/health.html": "three" });
    purger.notice();
    purger.notice();
    await purger.idle();
    expect(heard.map(({ keys }) => keys)).toEqual([
      "missing list:cause:health/1 profile:a",
      "missing list:cause:health/1 profile:a",
    ]);
  });

  test("purges again what the folder for other web servers did not show yet", async () => {
    const purger = startPurger(bundle.manifest, config({ mode: "xkey" }));
    const noticed = async (exported_release: number) => {
      bundle.manifest.setState({ exported_release });
      heard.length = 0;
      purger.notice();
      await purger.idle();
      return heard.map(({ keys }) => keys);
    };
    bundle.publish({ "nonprofits/a.html": "one" });
    expect(await noticed(1)).toEqual(["missing profile:a"]);
    bundle.publish({ "nonprofits/b.html": "one" });
    expect(await noticed(1)).toEqual(["missing profile:b"]);
    bundle.publish({ "nonprofits/c.html": "one" });
    expect(await noticed(1)).toEqual(["missing profile:c"]);
    expect(await noticed(3)).toEqual(["missing profile:b profile:c"]);
    expect(await noticed(3)).toEqual([]);
  });

  test("takes up after a restart what was not purged", async () => {
    bundle.publish({ "nonprofits/a.html": "one" });
    const before = startPurger(bundle.manifest, config({ mode: "xkey" }));
    before.notice();
    await before.idle();
    bundle.publish({ "nonprofits/b.html": "one" });
    const after = startPurger(bundle.manifest, config({ mode: "xkey" }));
    after.notice();
    await after.idle();
    expect(heard.map(({ keys }) => keys)).toEqual(["missing profile:a", "missing profile:b"]);
  });

  test("without caches does nothing", async () => {
    const purger = startPurger(bundle.manifest, config({ urls: [] }));
    bundle.publish({ "nonprofits/a.html": "one" });
    purger.notice();
    await purger.idle();
    expect(heard).toEqual([]);
  });
});
