import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { aBundle, sampleFiles, type TestBundle } from "#test/support/bundle.ts";
import { anEchoService } from "#test/support/echo.ts";
import { hasNginx, startNginx, type TestNginx } from "#test/support/nginx.ts";
import { hasVarnish, startVarnish, type TestVarnish } from "#test/support/varnish.ts";
import { type PurgeMode, purgeRelease } from "#site/delivery/purge.ts";

const ready = hasVarnish && hasNginx;
if (!ready) process.stderr.write("skipped: varnish, its modules or nginx are not installed\n");

let bundle: TestBundle;
let nginx: TestNginx;
let varnish: TestVarnish;
let service: ReturnType<typeof anEchoService>;

const get = (path: string, init: RequestInit = {}) =>
  fetch(varnish.origin + path, { redirect: "manual", ...init });

const textOf = async (path: string) => (await get(path)).text();
const cached = async (path: string) => (await get(path)).headers.get("x-cache");

/** Publishes and tells Varnish, as the publisher does. */
const publishAndPurge = (files: Record<string, string | null>, mode: PurgeMode) => {
  const { changed, removed } = bundle.publish(files);
  return purgeRelease([...changed.map(({ path }) => path), ...removed], {
    urls: [varnish.origin],
    mode,
    log: (event, detail) => {
      throw new Error(`${event} ${JSON.stringify(detail)}`);
    },
  });
};

describe.skipIf(!ready)("Varnish in front of nginx", () => {
  beforeAll(async () => {
    bundle = aBundle();
    service = anEchoService();
    nginx = await startNginx({ root: bundle.exported.folder, servicePort: service.port });
    varnish = await startVarnish(nginx.port);
  });
  afterAll(async () => {
    await varnish?.close();
    await nginx?.close();
    await service?.stop();
    bundle?.close();
  });
  beforeEach(() => void bundle.publish(sampleFiles));
  afterEach(async () => {
    await get("/", { method: "PURGE", headers: { "xkey-purge": "all" } });
  });

  test("keeps a file, whatever its query, and tells no one its keys", async () => {
    const first = await get("/causes/education?utm_source=x");
    expect(first.headers.get("x-cache")).toBe("miss");
    const second = await get("/causes/education");
    expect(second.headers.get("x-cache")).toBe("hit");
    expect(second.headers.get("cache-tag")).toBeNull();
    expect(second.headers.get("cache-control")).toBe(
      "public, max-age=60, stale-while-revalidate=600",
    );
    expect(await second.text()).toBe(sampleFiles["causes/education.html"] ?? "");
    await get("/countries/KE");
    expect(await cached("/countries/ke")).toBe("hit");
  });

  test("answers 304 by itself", async () => {
    const etag = (await get("/api/causes")).headers.get("etag") ?? "";
    const again = await get("/api/causes", { headers: { "if-none-match": etag } });
    expect([again.status, again.headers.get("x-cache")]).toEqual([304, "hit"]);
  });

  test("asks each time what must not be kept", async () => {
    // Which addresses these are: edges.test.ts.
    for (const path of ["/api/search?q=a", "/es/history/water-for-all", "/readyz"]) {
      const before = service.asked.length;
      await get(path);
      await get(path);
      expect([path, service.asked.length - before]).toEqual([path, 2]);
    }
    await get("/api/enrich/water-for-all", { method: "POST", body: "{}" });
    expect(service.asked.at(-1)).toMatchObject({
      method: "POST",
      body: "{}",
      forwardedFor: "127.0.0.1, 127.0.0.1",
    });
  });

  test.each(["xkey", "url"] as const)("a release purged by %s is seen at once", async (mode) => {
    const changed = {
      "nonprofits/water-for-all.html": `new page by ${mode}`,
      "api/nonprofits/water-for-all.json": `new data by ${mode}`,
      "causes/education.html": `new list by ${mode}`,
    };
    const readAll = () =>
      Promise.all(Object.keys(changed).map((path) => textOf(`/${path.replace(/\.\w+$/, "")}`)));
    await readAll();
    await get("/causes");
    await publishAndPurge(changed, mode);
    expect(await readAll()).toEqual(Object.values(changed));
    // What did not change stays.
    expect(await cached("/causes")).toBe("hit");
  });

  test("without a purge the old stays: the purge is what makes it new", async () => {
    await get("/causes");
    bundle.publish({ "causes.html": "unpurged" });
    expect(await textOf("/causes")).toBe(sampleFiles["causes.html"] ?? "");
  });

  test("a soft purge shows the old once more, and fetches the new meanwhile", async () => {
    await get("/causes/education");
    await publishAndPurge({ "causes/education.html": "softly new" }, "xkey-soft");
    expect(await textOf("/causes/education")).toBe(sampleFiles["causes/education.html"] ?? "");
    let shown = "";
    for (let look = 0; look < 100 && shown !== "softly new"; look++) {
      await Bun.sleep(10);
      shown = await textOf("/causes/education");
    }
    expect(shown).toBe("softly new");
  });

  test("a page that comes or goes is seen at once", async () => {
    for (const path of ["/nonprofits/fresh", "/causes/education-2"]) await get(path);
    expect(await cached("/nonprofits/fresh")).toBe("hit");
    const files = { "nonprofits/fresh.html": "here now", "causes/education-2.html": null };
    await publishAndPurge(files, "xkey");
    expect(await textOf("/nonprofits/fresh")).toBe("here now");
    expect((await get("/causes/education-2")).status).toBe(404);
  });

  test("only the publisher may purge", async () => {
    await get("/causes");
    const headers = { "xkey-purge": "all", "x-forwarded-for": "127.0.0.1" };
    expect((await get("/", { method: "PURGE", headers })).status).toBe(403);
    expect(await cached("/causes")).toBe("hit");
  });
});
