import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { aBundle, sampleFiles, type TestBundle } from "#test/support/bundle.ts";
import { anS3Store, s3AccessTo, type TestStore } from "#test/support/s3.ts";
import { headersOf } from "#site/delivery/http-headers.ts";
import { uploadRelease } from "#site/delivery/upload.ts";
import { openS3Target, type UploadTarget } from "#site/delivery/upload-target.ts";

const bucket = "almoner-test";
const now = new Date("2026-06-01T12:00:00Z");
let store: TestStore;
let bundle: TestBundle;
let prefix = 0;

beforeAll(async () => {
  store = await anS3Store(bucket);
});
afterAll(() => store.close());
beforeEach(() => {
  bundle = aBundle();
  prefix += 1;
});
afterEach(() => bundle.close());

/** The real target, with a list of what was asked of it. */
function aTarget(path = `site-${prefix}`, keyId?: string) {
  const access = s3AccessTo(store.endpoint);
  const opened = openS3Target(
    `s3://${bucket}/${path}`,
    { ...access, accessKeyId: keyId ?? access.accessKeyId },
    { retry: { triesMax: 3, firstMs: 5 } },
  );
  if (!opened.ok) throw new Error(opened.failure);
  const target = opened.value;
  const asked: string[] = [];
  const recorded: UploadTarget = {
    name: target.name,
    put: (key, body, headers) => {
      asked.push(`put ${key}`);
      return target.put(key, body, headers);
    },
    remove: (key) => {
      asked.push(`remove ${key}`);
      return target.remove(key);
    },
  };
  return { target: recorded, asked };
}

const upload = (
  target: UploadTarget,
  extra: { extensionless?: boolean; concurrency?: number } = {},
) => uploadRelease({ ...bundle, target, now, ...extra });

describe("a first upload", () => {
  test("brings every file with its type, cache rule and digest", async () => {
    bundle.publish(sampleFiles);
    const { target } = aTarget();
    const outcome = await upload(target);
    expect(outcome).toMatchObject({ release: 1, uploaded: Object.keys(sampleFiles).length });
    expect(outcome.failed).toEqual([]);
    expect(await store.keys(`site-${prefix}/`)).toEqual(
      Object.keys(sampleFiles)
        .map((path) => `site-${prefix}/${path}`)
        .sort(),
    );
    for (const [path, body] of Object.entries(sampleFiles)) {
      const answer = await store.find(`site-${prefix}/${path}`);
      const { contentType, cacheControl, surrogateKeys } = headersOf(path);
      expect([path, answer?.headers.get("content-type")]).toEqual([path, contentType]);
      expect([path, answer?.headers.get("cache-control")]).toEqual([path, cacheControl]);
      expect(answer?.headers.get("x-amz-meta-cache-tag")).toBe(surrogateKeys.join(","));
      expect(answer?.headers.get("x-amz-meta-digest")).toBe(
        bundle.manifest.find(path)?.digest ?? "",
      );
      expect(await answer?.text()).toBe(body);
    }
  });

  test("brings assets, then pages, then lists, and the feed's state last", async () => {
    bundle.publish(sampleFiles);
    const { target, asked } = aTarget();
    await upload(target);
    const at = (path: string) => asked.indexOf(`put ${path}`);
    const lastAsset = Math.max(at("_astro/site.Ab12Cd34.css"), at("_astro/search.Zz99.js"));
    const profiles = [at("nonprofits/water-for-all.html"), at("api/nonprofits/water-for-all.json")];
    expect(lastAsset).toBeLessThan(Math.min(...profiles));
    expect(Math.max(...profiles)).toBeLessThan(at("causes/education.html"));
    expect(Math.max(...profiles)).toBeLessThan(at("sitemap.xml"));
    expect(asked.at(-1)).toBe("put changes/state.json");
  });

  test("tells how far it is", async () => {
    bundle.publish(sampleFiles);
    const seen: string[] = [];
    await uploadRelease({
      ...bundle,
      target: aTarget().target,
      now,
      onProgress: (done, total) => void seen.push(`${done}/${total}`),
    });
    const total = Object.keys(sampleFiles).length;
    expect(seen).toHaveLength(total);
    expect(seen.at(-1)).toBe(`${total}/${total}`);
  });
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
    expect(outcome.touched.sort()).toEqual([
      "causes/education-2.html",
      "causes/education.html",
      "nonprofits/water-for-all.html",
    ]);
    expect(await store.find(`site-${prefix}/causes/education-2.html`)).toBeNull();
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
    const cut = await uploadRelease({
      ...bundle,
      target,
      now,
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

describe("publishing during an upload", () => {
  test("is brought in another pass, and content that is gone is replaced by the newer", async () => {
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
    expect(await (await store.find(`site-${prefix}/${profile}`))?.text()).toBe("<p>Newer");
    expect(await (await store.find(`site-${prefix}/causes/health.html`))?.text()).toBe("<p>Health");
  });
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
    const outcome = await upload(failing);
    expect(outcome.release).toBe(0);
    expect(outcome.failed).toEqual([{ path: "nonprofits/water-for-all.html", error: "busy" }]);
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
    using flaky = Bun.serve({
      port: 0,
      fetch: () => new Response("", { status: ++calls < 3 ? 503 : 200 }),
    });
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
  const keys = await store.keys(`site-${prefix}/`);
  for (const key of [
    "nonprofits/water-for-all",
    "api/nonprofits",
    "api/nonprofits/water-for-all",
  ]) {
    expect(keys).toContain(`site-${prefix}/${key}`);
  }
  const answer = await store.find(`site-${prefix}/api/nonprofits/water-for-all`);
  expect(answer?.headers.get("content-type")).toBe("application/json");
  bundle.publish({ "nonprofits/water-for-all.html": null });
  await upload(target, { extensionless: true });
  expect(await store.find(`site-${prefix}/nonprofits/water-for-all`)).toBeNull();
});
