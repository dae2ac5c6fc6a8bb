import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { accepted, aBundle, sampleFiles, type TestBundle } from "#test/support/bundle.ts";
import { anEchoService } from "#test/support/echo.ts";
import { hasNginx, startNginx, type TestNginx } from "#test/support/nginx.ts";
import { openExport } from "#site/bundle/export-folder.ts";
import { negotiatedCacheControl } from "#site/delivery/encoded-file.ts";
import { headersOf, urlPathsOf } from "#site/delivery/http-headers.ts";

let bundle: TestBundle;
let nginx: TestNginx;
/** Another one, whose service does not answer. */
let away: TestNginx;
let service: ReturnType<typeof anEchoService>;

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(nginx.origin + path, { method, headers, redirect: "manual", decompress: false });

const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
/** What comes compressed like this, and its headers. */
async function decoded(path: string, encoding: keyof typeof decoders) {
  const answer = await get(path, { "accept-encoding": encoding === "br" ? "br, gzip" : encoding });
  expect(answer.headers.get("content-encoding")).toBe(encoding);
  const text = decoders[encoding](await answer.bytes()).toString();
  return { text, headers: answer.headers };
}

/** Bytes as written, where fetch would tidy the path up before sending it. */
function rawAnswer(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(nginx.port, "127.0.0.1", () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
    );
    socket.on("data", (part) => void (text += part.toString("latin1")));
    socket.on("end", () => resolve(text));
    socket.on("error", reject);
  });
}

if (!hasNginx) process.stderr.write("skipped: nginx with its brotli modules is not installed\n");

describe.skipIf(!hasNginx)("nginx in front of bundle and service", () => {
  beforeAll(async () => {
    bundle = aBundle();
    bundle.publish(sampleFiles);
    service = anEchoService();
    const root = bundle.exported.folder;
    nginx = await startNginx({ root, servicePort: service.port });
    away = await startNginx({ root, servicePort: 1 });
  });
  afterAll(async () => {
    await away?.close();
    await nginx?.close();
    await service?.stop();
    bundle?.close();
  });

  describe("every file of the bundle", () => {
    const live = new Set([
      "/api/stats",
      "/api/needs-enrichment",
      "/api/agents/leaderboard",
      "/api/donations/water-for-all",
    ]);
    const addresses = Object.keys(sampleFiles).flatMap((path) =>
      urlPathsOf(path)
        .filter((url) => !live.has(url))
        .map((url): [string, string] => [url, path]),
    );

    test.each(addresses)("%s is %s, sent by the publisher's rules", async (url, path) => {
      const answer = await get(url);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe(sampleFiles[path] ?? "");
      const { contentType, cacheControl, others } = headersOf(path);
      expect(answer.headers.get("content-type")).toBe(contentType);
      expect(answer.headers.get("cache-control")).toBe(cacheControl);
      for (const [name, value] of Object.entries(others)) {
        expect([name, answer.headers.get(name)]).toEqual([name, value]);
      }
      const guarded = answer.headers.has("content-security-policy");
      expect(guarded).toBe("content-security-policy" in others);
      expect(answer.headers.get("x-served-by")).toBeNull();
    });

    test("has a strong ETag, and 304 for who has it already", async () => {
      const first = await get("/api/nonprofits/water-for-all");
      const etag = first.headers.get("etag") ?? "";
      expect(etag).toMatch(/^"[\w-]+"$/);
      const again = await get("/api/nonprofits/water-for-all", { "if-none-match": etag });
      expect(again.status).toBe(304);
      expect(again.headers.get("cache-control")).toBe(headersOf("x.html").cacheControl);
    });
  });

  describe("markdown in the place of a page", () => {
    test.each(accepted)("Accept: %s is answered by %s", async (accept, form) => {
      const answer = await get("/nonprofits/water-for-all", { accept });
      expect(await answer.text()).toBe(sampleFiles[`nonprofits/water-for-all.${form}`] ?? "");
    });

    // Which addresses have it: edges.test.ts.
    test.each([
      ["/causes/education", "causes/education.md"],
      ["/agents", "leaderboard.md"],
      ["/donate/water-for-all", "nonprofits/water-for-all.md"],
    ])("%s is %s, which no cache keeps", async (url, path) => {
      const answer = await get(url, { accept: "text/markdown" });
      expect(await answer.text()).toBe(sampleFiles[path] ?? "");
      expect(answer.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
      expect(answer.headers.get("vary")).toContain("Accept");
      expect(answer.headers.get("cache-control")).toBe(negotiatedCacheControl);
      expect(answer.headers.get("content-location")).toBe(`/${path}`);
      const page = await get(url, { accept: "text/html" });
      expect(page.headers.get("content-location")).toBeNull();
    });

    test("pages vary by it, and what was asked for by its name is what it is", async () => {
      expect((await get("/causes")).headers.get("vary")).toContain("Accept");
      const page = await get("/nonprofits/water-for-all.html", { accept: "text/markdown" });
      expect(page.headers.get("content-type")).toStartWith("text/html");
      const markdown = await get("/nonprofits/water-for-all.md", { accept: "text/html" });
      expect(markdown.headers.get("cache-control")).toBe(headersOf("x.md").cacheControl);
      expect(markdown.headers.get("content-location")).toBeNull();
      // A page that is there in one form only.
      const only = await get("/causes", { accept: "text/markdown" });
      expect(only.headers.get("content-type")).toStartWith("text/html");
    });
  });

  describe("addresses", () => {
    test("a slash at the end leads to the address without, of this host", async () => {
      for (const [url, found] of [
        ["/causes/", "/causes"],
        ["//almoner.example/", "/almoner.example"],
      ] as const) {
        const answer = await get(url);
        expect([answer.status, answer.headers.get("location")]).toEqual([308, found]);
      }
    });

    test.each([
      ["/nothing", "404.html"],
      ["/nonprofits/nobody", "404.html"],
      ["/donate/nobody", "404.html"],
      ["/countries/XX", "404.html"],
      ["/causes/education-9", "404.html"],
      ["/es/nothing", "es/404.html"],
      ["/es/about/nothing", "es/404.html"],
      ["/zz/nothing", "404.html"],
      ["/pictures/nothing.png", "404.html"],
    ])("%s is not found, in the language of the address: %s", async (url, path) => {
      const answer = await get(url, { accept: "text/html" });
      expect([answer.status, await answer.text()]).toEqual([404, sampleFiles[path] ?? ""]);
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.headers.get("cache-tag")).toBe(headersOf(path).others["cache-tag"] ?? "");
      // A program gets the service's words.
      expect((await get(url)).headers.get("x-served-by")).toBe("service");
    });

    test.each([
      "/../packs.db",
      "/%2e%2e/packs.db",
      "/nonprofits/..%2f..%2fpacks.db",
      "/nonprofits/%2e%2e/%2e%2e/packs.db",
      "/api/..%2f..%2fpacks.db",
      "/countries/../../packs.db",
      "/api/%00",
    ])("%s does not lead out of the bundle", async (path) => {
      writeFileSync(join(bundle.folder, "packs.db.json"), "secret");
      const text = await rawAnswer(path);
      expect(text).toMatch(/^HTTP\/1\.1 (400|404|200)/);
      expect(text).not.toMatch(/SQLite format|secret/);
    });

    test.each([
      "/%5Cevil.example/",
      "/a%0d%0aSet-Cookie:x/",
      "/\\evil.example/",
      "/nonprofits/x%0d%0aX-Injected:1/history",
      "/donate/x%0d%0aX-Injected:1",
      "/pictures/countries/x%0d%0aX-Injected:1",
      "/%0d%0aX-Injected:1",
      "/x%0aX-Injected:1.md",
    ])("%s is no redirect to elsewhere, and makes no header", async (path) => {
      const [head = ""] = (await rawAnswer(path)).split("\r\n\r\n");
      if (path.endsWith("/")) expect(head).toMatch(/^HTTP\/1\.1 (400|404)/);
      expect(head).not.toMatch(/^(?:set-cookie|x-injected):|^location: .*evil/im);
    });

    test("files being written are not shown", async () => {
      writeFileSync(join(bundle.exported.folder, ".1-1.draft"), "half");
      expect((await get("/.1-1.draft")).status).toBe(404);
    });

    test("another origin's script may ask for any of them", async () => {
      for (const path of ["/", "/changes/state.json", "/countries/KE", "/donate/water-for-all"]) {
        const { status, headers } = await get(path, { origin: "https://x.example" }, "OPTIONS");
        const allowed = ["origin", "methods"].map((of) =>
          headers.get(`access-control-allow-${of}`),
        );
        expect([status, ...allowed]).toEqual([204, "*", "GET, HEAD, OPTIONS"]);
      }
      // Also where it is led elsewhere.
      const moved = await get("/api/nonprofits/water-for-all/history");
      expect([moved.status, moved.headers.get("access-control-allow-origin")]).toEqual([308, "*"]);
    });
  });

  describe("compression", () => {
    test("happens while sending where there is no sibling", async () => {
      const brotli = await decoded("/causes", "br");
      expect(brotli.headers.get("vary")).toBe("Accept-Encoding, Accept");
      for (const { text } of [brotli, await decoded("/causes", "gzip")])
        expect(text).toBe(sampleFiles["causes.html"] ?? "");
      const etag = brotli.headers.get("etag") ?? "";
      expect((await get("/causes", { "if-none-match": etag })).status).toBe(304);
    });

    test("siblings are sent as they are", async () => {
      const exported = openExport(bundle.exported.folder, { precompress: true });
      const page = sampleFiles["causes.html"] ?? "";
      bundle.publish({ "sib.html": page }, exported);
      const { text, headers } = await decoded("/sib", "br");
      expect([text, (await decoded("/sib", "gzip")).text]).toEqual([page, page]);
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      // What is compressed while sending has no length and only a weak ETag.
      expect(Number(headers.get("content-length"))).toBeGreaterThan(0);
      expect(headers.get("etag")).toMatch(/^"/);
      expect(headers.get("cache-tag")).toBe("file:sib.html,all");
    });

    test("what is compressed already is left alone", async () => {
      const answer = await get("/snapshot/nonprofits.ndjson.gz", { "accept-encoding": "br, gzip" });
      expect(answer.headers.get("content-encoding")).toBeNull();
    });
  });

  test("a second version of the same second and length is no 304", async () => {
    const etags = new Set<string>();
    for (const body of ["aaaa", "bbbb", "cccc", "aaaa", "dddd"]) {
      bundle.publish({ "quick.html": body });
      const answer = await get("/quick", { "if-none-match": [...etags].join(", ") });
      expect([answer.status, await answer.text()]).toEqual([200, body]);
      etags.add(answer.headers.get("etag") ?? "");
    }
  });

  // Which addresses are its: edges.test.ts.
  describe("the service is asked", () => {
    test.each([
      ["GET", "/api/recommend?cause=education&limit=3"],
      ["GET", "/pt-br/causes/education-2"],
      ["GET", "/nonprofits/Water-For-All?utm_source=a"],
      ["GET", "/donate/Water-For-All"],
      ["POST", "/api/donate/water-for-all?amount=1.5"],
      ["OPTIONS", "/api/enrich/water-for-all"],
      ["OPTIONS", "/api/nonprofits"],
      ["OPTIONS", "/browse"],
      ["DELETE", "/api/causes"],
    ])("%s %s", async (method, target) => {
      const body = method === "POST" ? '{"a":"Ünïcode"}' : "";
      const answer = await fetch(nginx.origin + target, {
        method,
        headers: { "x-forwarded-for": "203.0.113.9", host: "almoner.example" },
        ...(body === "" ? {} : { body }),
      });
      expect(answer.headers.get("x-served-by")).toBe("service");
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("cache-tag")).toBeNull();
      expect(service.asked.at(-1)).toEqual({
        method,
        target,
        body,
        forwardedFor: "203.0.113.9, 127.0.0.1",
        host: "almoner.example",
      });
    });

    test("about what the bundle does not have, and about files by who says how far it has seen", async () => {
      const answer = await get("/api/nonprofits/unknown");
      expect([answer.status, answer.headers.get("x-served-by")]).toEqual([404, "service"]);
      const seen = await get("/api/nonprofits/water-for-all", { "almoner-sequence": "1" });
      expect(seen.headers.get("x-served-by")).toBe("service");
    });

    test("not about lists without a query, nor files with one that means nothing", async () => {
      const before = service.asked.length;
      for (const path of ["/api/nonprofits", "/api/causes?utm=1", "/?q=1"]) {
        expect((await get(path)).status).toBe(200);
      }
      expect(service.asked).toHaveLength(before);
    });
  });

  describe("while the service is away", () => {
    test("the newest numbers are those of a while ago", async () => {
      for (const path of ["api/stats", "api/agents/leaderboard", "api/donations/water-for-all"]) {
        const answer = await fetch(`${away.origin}/${path}`);
        expect([answer.status, answer.headers.get("content-type")]).toEqual([
          200,
          "application/json",
        ]);
        expect(await answer.text()).toBe(sampleFiles[`${path}.json`] ?? "");
      }
    });

    test("a search gets the page whose script finds the words in the bundle's index", async () => {
      for (const method of ["GET", "HEAD"]) {
        const answer = await fetch(`${away.origin}/search?q=water`, { method });
        expect([answer.status, answer.headers.get("content-type")]).toEqual([
          200,
          "text/html; charset=utf-8",
        ]);
        const page = method === "GET" ? sampleFiles["search.html"] : "";
        expect(await answer.text()).toBe(page ?? "");
      }
    });

    test("a body that nginx itself refuses is refused in the service's form", async () => {
      const text = "x".repeat(10_000_000);
      // A stream has no length that could be refused beforehand.
      const stream = new ReadableStream({
        start: (controller) => {
          controller.enqueue(text);
          controller.close();
        },
      });
      for (const body of [text, stream]) {
        const answer = await fetch(`${away.origin}/api/enrich/water-for-all`, {
          method: "POST",
          body,
        });
        expect(answer.status).toBe(413);
        expect(answer.headers.get("content-type")).toBe("application/problem+json");
        expect(await answer.json()).toMatchObject({ status: 413, code: "body_too_large" });
      }
    });

    test("a person reads a page, also after sending a form", async () => {
      for (const [path, method] of [
        ["/onboard?claim=water-for-all", "GET"],
        ["/nonprofits/us-ein-050258954", "GET"],
        ["/donate/050258954", "GET"],
        ["/api/onboard", "POST"],
      ] as const) {
        const headers = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
        const answer = await fetch(away.origin + path, { method, headers });
        const types = ["content-type", "retry-after"].map((name) => answer.headers.get(name));
        expect([answer.status, ...types]).toEqual([503, "text/html; charset=utf-8", "5"]);
        expect(await answer.text()).toContain("<h1>Temporarily unavailable</h1>");
      }
      // What is searched for says nothing of who asks.
      const words = "/browse?q=text/html";
      const answer = await fetch(away.origin + words, { headers: { accept: "*/*" } });
      expect(answer.headers.get("content-type")).toBe("application/problem+json");
    });

    test("what only the service answers says when to ask again", async () => {
      const sequence = { "almoner-sequence": "1" };
      for (const [path, more] of [
        ["/api/search?q=water", {}],
        ["/mcp", {}],
        ["/api/nonprofits/unknown", {}],
        ["/api/nonprofits/water-for-all", sequence],
      ] as const) {
        // Varnish in front asks for a file in no other way.
        const answer = await fetch(away.origin + path, {
          headers: { accept: "text/html", ...more },
        });
        const headers = ["content-type", "retry-after", "cache-control"];
        expect([answer.status, ...headers.map((name) => answer.headers.get(name))]).toEqual([
          503,
          "application/problem+json",
          "5",
          "no-store",
        ]);
        const type = "urn:almoner:problem:service_away";
        expect(await answer.json()).toMatchObject({ type, status: 503, code: "service_away" });
      }
    });
  });
});
