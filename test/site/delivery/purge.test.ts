import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { aBundle } from "#test/support/bundle.ts";
import { type PurgeConfig, purgeRelease, startPurger } from "#site/delivery/purge.ts";
import { awsClient } from "#site/delivery/upload-target.ts";
import { serveHere } from "#test/support/serve-here.ts";
import { forEachTest } from "#test/support/at-file-top.ts";

type Purge = Record<"method" | "path" | "host" | "body", string> & {
  keys: string | null;
  headers: Headers;
};

let purges: Purge[];
let answers: number[];
let cache: Bun.Server<undefined>;
let logged: string[];

beforeEach(() => {
  [purges, answers, logged] = [[], [], []];
  cache = serveHere(async (request) => {
    const { headers, method } = request;
    purges.push({
      method,
      headers,
      body: await request.text(),
      path: new URL(request.url).pathname,
      host: headers.get("host") ?? "",
      keys: headers.get("xkey-purge"),
    });
    return new Response("", { status: answers.shift() ?? 200 });
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

const profile = "nonprofits/water-for-all.html";
const many = (count: number) => Array.from({ length: count }, (_, at) => `nonprofits/n${at}.html`);
const keysSent = () => purges.map(({ keys }) => keys);

describe("by URL", () => {
  test("every address of every file that changed or went is purged", async () => {
    const outcome = await purgeRelease(
      [profile, "api/nonprofits/water-for-all.json", "index.html", "causes/education-2.html"],
      config({ host: "almoner.example" }),
    );
    expect(purges.map(({ path }) => path).sort()).toEqual([
      "/",
      "/api/nonprofits/water-for-all",
      "/api/nonprofits/water-for-all.json",
      "/causes/education-2",
      "/causes/education-2.html",
      "/index.html",
      "/nonprofits/water-for-all",
      "/nonprofits/water-for-all.html",
    ]);
    const lines = new Set(purges.map(({ method, host }) => `${method} ${host}`));
    expect([...lines]).toEqual(["PURGE almoner.example"]);
    expect(outcome).toEqual({ requests: 8, failed: 0, leftToExpire: 0 });
  });

  test("a huge release leaves the rest to expire, and says so", async () => {
    const outcome = await purgeRelease(many(2_600), config());
    expect(outcome).toEqual({ requests: 5_000, failed: 0, leftToExpire: 200 });
    expect(logged).toEqual(["caches hold old files until their max-age"]);
  });
});

describe("by surrogate key", () => {
  test.each([
    [
      [profile, "api/nonprofits/water-for-all.json", "causes/education-2.html", "sitemap.xml"],
      "missing profile:water-for-all list:cause:education/2 file:sitemap.xml",
    ],
    [["countries/ke.html", "api/nonprofits.json"], "missing list:country:ke/1 list:all/1"],
    [many(2_001), "all"],
  ])("%j are purged by %s", async (paths, keys) => {
    await purgeRelease(paths, config({ mode: "xkey" }));
    expect(keysSent()).toEqual([keys]);
  });

  test("softly when asked to", async () => {
    await purgeRelease([profile], config({ mode: "xkey-soft" }));
    expect(keysSent()).toEqual([null]);
    expect(purges[0]?.headers.get("xkey-softpurge")).toBe("missing profile:water-for-all");
  });

  test("many keys are spread over requests of a bounded length", async () => {
    await purgeRelease(many(500), config({ mode: "xkey" }));
    const texts = keysSent().map((keys) => keys ?? "");
    expect(texts.length).toBeGreaterThan(1);
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(4_000);
    expect(texts.flatMap((text) => text.split(" "))).toHaveLength(501);
  });
});

describe("a CDN", () => {
  // Of a snapshot every cache asks each time whether it is new.
  const snapshot = "snapshot/manifest.json";
  const files = [profile, "api/nonprofits/water-for-all.json", "causes/education-2.html", snapshot];

  test("of Cloudflare is told the tags of what changed, with its token", async () => {
    const authorization = "Bearer of-the-zone";
    await purgeRelease(files, {
      ...config({ mode: "cloudflare", host: "almoner.example", headers: { authorization } }),
      urls: [`http://127.0.0.1:${cache.port}/client/v4/zones/z1`],
    });
    expect(purges).toMatchObject([
      {
        method: "POST",
        path: "/client/v4/zones/z1/purge_cache",
        host: `127.0.0.1:${cache.port}`,
        body: '{"tags":["missing","profile:water-for-all","list:cause:education/2"]}',
      },
    ]);
    expect(purges[0]?.headers.get("authorization")).toBe(authorization);
    expect(purges[0]?.headers.get("content-type")).toBe("application/json");
  });

  test("of Cloudflare takes a hundred tags in a request: beyond, all is purged", async () => {
    await purgeRelease(many(99), config({ mode: "cloudflare" }));
    await purgeRelease(many(100), config({ mode: "cloudflare" }));
    const tags = purges.map(({ body }) => (JSON.parse(body) as { tags: string[] }).tags);
    expect(tags.map(({ length }) => length)).toEqual([100, 1]);
    expect(tags[1]).toEqual(["all"]);
  });

  test("of Amazon gets a signed invalidation of tags, the same one when it is tried again", async () => {
    answers = [503, 201];
    const keys = { accessKeyId: "AKID", secretAccessKey: "secret", sessionToken: undefined };
    const client = awsClient({ ...keys, region: "eu-north-1" }, "cloudfront");
    await purgeRelease(files, {
      ...config({ mode: "cloudfront", host: "almoner.example" }),
      urls: [`http://127.0.0.1:${cache.port}/2020-05-31/distribution/E1`],
      sign: async (url, init) => (await client?.sign(url, init)) ?? new Request(url),
    });
    const invalidation = "POST /2020-05-31/distribution/E1/invalidation";
    const lines = purges.map(({ method, path }) => `${method} ${path}`);
    expect(lines).toEqual([invalidation, invalidation]);
    const { headers, body = "" } = purges[1] ?? {};
    expect(headers?.get("authorization")).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/us-east-1\/cloudfront\/aws4_request, SignedHeaders=/,
    );
    expect(body).toContain(
      "<Paths><Quantity>3</Quantity><Items><Path>#missing</Path><Path>#profile:water-for-all</Path><Path>#list:cause:education/2</Path></Items></Paths>",
    );
    expect(body).toMatch(/<CallerReference>[\da-f-]{36}<\/CallerReference>/);
    expect(purges[0]?.body).toBe(body);
  });

  test("that knows no such zone has failed: only a PURGE may meet nothing", async () => {
    answers = [404];
    const outcome = await purgeRelease(files, config({ mode: "cloudflare" }));
    expect(outcome).toMatchObject({ failed: 1 });
  });
});

describe("a cache in trouble", () => {
  test.each([
    ["fails twice", [503, 503, 200], 3, 0],
    ["goes on failing", [503, 503, 503, 503], 3, 1],
    ["refuses", [403], 1, 1],
  ])("that %s is asked as often as may help", async (_, statuses, asked, failed) => {
    answers = statuses;
    const outcome = await purgeRelease([profile], config({ mode: "xkey" }));
    expect(outcome).toEqual({ requests: 1, failed, leftToExpire: 0 });
    expect(purges).toHaveLength(asked);
    expect(logged[0]).toBe(failed === 0 ? undefined : "a cache was not purged");
  });

  test("that cannot be reached throws nothing, and the others are purged", async () => {
    const urls = ["http://127.0.0.1:1", `http://127.0.0.1:${cache.port}`];
    const outcome = await purgeRelease([profile], config({ mode: "xkey", urls }));
    expect(outcome).toEqual({ requests: 2, failed: 1, leftToExpire: 0 });
    expect(purges).toHaveLength(1);
  });
});

describe("the purger", () => {
  const purge = async (purger = startPurger(bundle.manifest, config({ mode: "xkey" }))) => {
    purger.notice();
    purger.notice();
    await purger.idle();
  };
  const bundle = forEachTest(aBundle);

  test("purges what releases changed, added and removed since it last did, after a restart too", async () => {
    bundle.publish({ "causes/health.html": "one", "nonprofits/a.html": "one" });
    await purge();
    bundle.publish({ "causes/health.html": "two", "nonprofits/a.html": null });
    bundle.publish({ "causes/health.html": "three" });
    await purge();
    await purge();
    expect(keysSent()).toEqual([
      "missing list:cause:health/1 profile:a",
      "missing list:cause:health/1 profile:a",
    ]);
  });

  test("purges again what the folder for other web servers did not show yet", async () => {
    const purger = startPurger(bundle.manifest, config({ mode: "xkey" }));
    const noticed = async (exported_release: number) => {
      bundle.manifest.setState({ exported_release });
      purges.length = 0;
      await purge(purger);
      return keysSent();
    };
    for (const name of ["a", "b", "c"]) {
      bundle.publish({ [`nonprofits/${name}.html`]: "one" });
      expect(await noticed(1)).toEqual([`missing profile:${name}`]);
    }
    expect(await noticed(3)).toEqual(["missing profile:b profile:c"]);
    expect(await noticed(3)).toEqual([]);
  });

  test("tells a CDN at once, then of several releases together", async () => {
    const purger = startPurger(bundle.manifest, config({ mode: "cloudflare", gatherMs: 500 }));
    for (const name of ["a", "b", "c"]) {
      bundle.publish({ [`nonprofits/${name}.html`]: "one" });
      purger.notice();
    }
    await purger.idle();
    expect(purges.map(({ body }) => body)).toEqual([
      '{"tags":["missing","profile:a"]}',
      '{"tags":["missing","profile:b","profile:c"]}',
    ]);
  });
});
