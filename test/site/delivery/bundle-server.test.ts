import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inSegmentBytesMax } from "#site/bundle/blobs.ts";
import { type BundleReader, openBundleReader } from "#site/delivery/bundle-reader.ts";
import { type BundleServer, createBundleServer } from "#site/delivery/bundle-server.ts";
import { measured } from "#test/support/measured.ts";
import { aContract } from "#test/support/contract.ts";
import { aBundle, accepted, flipBit } from "#test/support/bundle.ts";
import { aDirectory, type Directory } from "#test/support/publisher.ts";

let directory: Directory;
let reader: BundleReader;
let server: BundleServer;
const wallet = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
const served: string[] = [];

beforeAll(async () => {
  directory = await aDirectory([
    { slug: "oak-trust", name: "Oak Trust", mission: "Trees for schools. ".repeat(80) },
  ]);
  await directory.publisher.buildAll({ processes: 1 });
  reader = openBundleReader(join(directory.dataDir, "bundle"));
  server = createBundleServer(reader, { onServed: (path) => served.push(path) });
});
afterAll(() => {
  reader.close();
  directory.close();
});

const ask = (path: string, init: RequestInit = {}) =>
  server.answer(new Request(`http://localhost${path}`, init));

test("a part of a list that there is not is no part", () => {
  expect(ask("/causes/education?cause=health&page=2")?.headers.get("location")).toBe(
    "/browse?cause=education&page=2",
  );
  expect(ask("/causes/nothing-11")).toBeNull();
});

test("a list as a file is the service's, and its first page in JSON says that there is one", () => {
  const list = (accept: string) => ask("/api/nonprofits", { headers: { accept } });
  expect([list("text/csv"), list("application/x-ndjson, */*;q=0.1")]).toEqual([null, null]);
  expect(list("application/json, text/csv;q=0.5")?.status).toBe(200);
  expect(list("*/*")?.headers.get("vary")).toBe("accept, accept-encoding");
  expect(ask("/api/nonprofits?format=csv")).toBeNull();
});

describe("markdown in the place of a page", () => {
  const form = (path: string, accept: string) =>
    ask(path, { headers: { accept } })?.headers.get("content-type")?.slice(5, 9);

  const found = (path: string, headers: Record<string, string>): Response => {
    const answer = ask(path, { headers });
    if (answer === null) throw new Error(`${path} is not in the bundle`);
    return answer;
  };

  test.each(accepted)("Accept: %s is answered by %s", (accept, expected) => {
    expect(form("/nonprofits/oak-trust", accept)).toBe(expected === "md" ? "mark" : "html");
  });

  test.each([
    ["/", "index.md", "# Find a nonprofit"],
    ["/browse", "browse.md", "# All nonprofits"],
    ["/causes", "causes.md", "# Causes"],
    ["/causes/education", "causes/education.md", "# Education"],
    ["/countries/KE", "countries/ke.md", "# Kenya"],
    ["/methodology", "methodology.md", "# Method"],
    ["/statistics", "statistics.md", "# Statistics"],
    ["/onboard", "onboard.md", "# Claim"],
    ["/onboard/status", "onboard/status.md", "# "],
    ["/corrections", "corrections.md", "# "],
    ["/receipt", "receipt.md", "# "],
    ["/widget", "widget.md", "# "],
    ["/agents", "leaderboard.md", "# Agents"],
    ["/nonprofits/oak-trust", "nonprofits/oak-trust.md", "# Oak Trust"],
  ])("%s is %s, and names it to who reads the page", async (path, file, title) => {
    const answer = found(path, { accept: "text/markdown" });
    const text = await answer.text();
    expect(text).toContain(`\n${title}`.trim());
    expect(text).not.toContain("<p>");
    expect(answer.headers.get("content-location")).toBe(`/${file}`);
    expect(answer.headers.get("cache-control")).toBe("private, max-age=60");
    expect(answer.headers.get("vary")).toStartWith("accept");
    const etag = answer.headers.get("etag") ?? "";
    const again = found(path, { accept: "text/markdown", "if-none-match": etag });
    expect(again.status).toBe(304);
    const page = found(path, { accept: "text/html" });
    expect(page.headers.get("vary")).toStartWith("accept");
    expect(page.headers.get("etag")).not.toBe(etag);
    expect(await page.text()).toContain(`type="text/markdown" href="/${file}"`);
    // By its own name it is a file like any other.
    expect(ask(`/${file}`)?.headers.get("cache-control")).toStartWith("public");
  });
});

describe("the bundle's files over HTTP", () => {
  test.each([
    ["/", "text/html"],
    ["/nonprofits/oak-trust", "text/html"],
    ["/nonprofits/oak-trust.html", "text/html"],
    ["/api/nonprofits/oak-trust", "application/json"],
    ["/api/nonprofits", "application/json"],
    ["/countries/KE", "text/html"],
    ["/sitemap.xml", "application/xml"],
    ["/snapshot/nonprofits.ndjson.gz", "application/gzip"],
  ])("%s is %s, for any origin", (path, type) => {
    const answer = ask(path);
    expect(answer?.status).toBe(200);
    expect(answer?.headers.get("content-type")).toStartWith(type);
    expect(answer?.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer?.headers.get("set-cookie")).toBeNull();
  });

  test.each([
    ...["/api/nonprofits", "/api/nonprofits/oak-trust", "/api/causes", "/nonprofits/oak-trust.md"],
    ...["/changes/state.json", "/changes/1.json"],
  ])("%s is as the description says, also to who has it", async (path) => {
    const contract = aContract("https://almoner.example");
    const answer = ask(path);
    if (answer === null) throw new Error("the bundle does not hold it");
    const etag = answer.headers.get("etag") ?? "";
    expect(await contract.problemsOf("GET", path, answer)).toEqual([]);
    const again = ask(path, { headers: { "if-none-match": etag } });
    expect(await contract.problemsOf("GET", path, again ?? answer)).toEqual([]);
  });

  test("an ETag that still holds is answered by 304, another by the file", () => {
    const etag = ask("/nonprofits/oak-trust")?.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    for (const held of [etag, `W/${etag}`, `"old", ${etag}`, "*"]) {
      const answer = ask("/nonprofits/oak-trust", { headers: { "if-none-match": held } });
      expect(answer?.status).toBe(304);
    }
    expect(ask("/nonprofits/oak-trust", { headers: { "if-none-match": '"old"' } })?.status).toBe(
      200,
    );
  });

  test("brotli is sent to who understands it, with an ETag of its own", async () => {
    const plain = await ask("/nonprofits/oak-trust")?.text();
    const answer = ask("/nonprofits/oak-trust", { headers: { "accept-encoding": "gzip, br" } });
    expect(answer?.headers.get("content-encoding")).toBe("br");
    expect(answer?.headers.get("etag")).toEndWith('-br"');
    expect(brotliDecompressSync((await answer?.arrayBuffer()) ?? "").toString()).toBe(plain ?? "");
  });

  test("gzip is sent to who understands only that, and nothing to who refuses both", async () => {
    const path = "/nonprofits/oak-trust";
    const plain = await ask(path)?.text();
    const answer = ask(path, { headers: { "accept-encoding": "deflate, gzip, br;q=0" } });
    expect(answer?.headers.get("content-encoding")).toBe("gzip");
    expect(answer?.headers.get("etag")).toEndWith('-gzip"');
    expect(gunzipSync((await answer?.arrayBuffer()) ?? "").toString()).toBe(plain ?? "");
    const refused = ask(path, { headers: { "accept-encoding": "br;q=0, gzip;q=0" } });
    expect(refused?.headers.get("content-encoding")).toBeNull();
    expect(refused?.headers.get("vary")).toBe("accept, accept-encoding");
  });

  test("HEAD tells the length and sends nothing", async () => {
    const answer = ask("/nonprofits/oak-trust", { method: "HEAD" });
    const length = (await ask("/nonprofits/oak-trust")?.arrayBuffer())?.byteLength;
    expect(answer?.headers.get("content-length")).toBe(String(length));
    expect(await answer?.text()).toBe("");
  });

  test("a slash at the end is redirected, a lost person sees a page, a program is left to the service", () => {
    const moved = ask("/nonprofits/oak-trust/");
    expect(moved?.headers.get("location")).toBe("/nonprofits/oak-trust");
    expect(moved?.headers.get("access-control-allow-origin")).toBe("*");
    const lost = ask("/nowhere", { headers: { accept: "text/html" } });
    expect([lost?.status, lost?.headers.get("content-type")]).toEqual([
      404,
      "text/html; charset=utf-8",
    ]);
    expect(ask("/nowhere")).toBeNull();
    expect(ask("/api/nonprofits/none", { headers: { accept: "text/html" } })).toBeNull();
    // The service knows whose name it is, and redirects.
    for (const name of ["Oak-Trust", "4711", "99-0305781", "US-EIN-990305781"]) {
      expect([name, ask(`/nonprofits/${name}`, { headers: { accept: "text/html" } })]).toEqual([
        name,
        null,
      ]);
    }
    expect(ask("/nonprofits/none", { headers: { accept: "text/html" } })?.status).toBe(404);
    for (const path of ["/history/oak-trust", "/nonprofits/oak-trust/history"]) {
      expect(ask(path, { headers: { accept: "text/html" } })).toBeNull();
    }
  });

  test("a page for donations is there with the wallet; before and after, the profile stands in", async () => {
    const giving = () => ask("/donate/oak-trust?amount=5");
    expect(giving()?.status).toBe(302);
    expect(giving()?.headers.get("location")).toBe("/nonprofits/oak-trust#give");
    expect(giving()?.headers.get("cache-tag")).toBe("profile:oak-trust,profiles,all");
    await directory.edit("oak-trust", { usdc_wallet: wallet });
    await directory.drain();
    expect(giving()?.status).toBe(200);
    expect(await giving()?.text()).toContain(wallet);
    await directory.edit("oak-trust", { usdc_wallet: null });
    await directory.drain();
    expect(giving()?.status).toBe(302);
    // A CDN's second origin is asked by the key that its function made of the address.
    expect(ask("/donate/oak-trust.html")?.headers.get("location")).toBe(
      "/nonprofits/oak-trust#give",
    );
    expect(ask("/donate/nobody")).toBeNull();
    expect(ask("/donate/oak-trust", { method: "POST" })).toBeNull();
  });

  test("what the service must answer is left to it", () => {
    expect(ask("/api/stats")).toBeNull();
    expect(ask("/api/needs-enrichment")).toBeNull();
    for (const path of [
      "/api/agents/leaderboard",
      "/api/agents/exemplars",
      "/api/enrichments/stats",
    ]) {
      expect(ask(path)).toBeNull();
      // The file is for readers of the bundle alone.
      expect(ask(`${path}.json`)?.status).toBe(200);
    }
    expect(ask("/api/nonprofits?limit=3")).toBeNull();
    expect(ask("/browse?city=Oslo")).toBeNull();
    expect(ask("/browse")?.status).toBe(200);
    expect(ask("/nonprofits/oak-trust", { method: "POST" })).toBeNull();
  });

  test("500 ways up lead to no file", () => {
    const steps = ["../", "%2e%2e/", "..%2f", "..%5c", "..\\", "%252e%252e/", "....//", "..;/"];
    const targets = ["store.db", "secrets/signing-key.pem", "etc/passwd", "packs.db", "proc/self"];
    const ways = [...steps, "./../", "%2e%2e%2f"].flatMap((step) =>
      Array.from({ length: 10 }, (_, depth) => `/nonprofits/${step.repeat(depth + 1)}`),
    );
    const paths = [
      ...ways.flatMap((way) => targets.map((target) => way + target)),
      ...["/../store.db", "/%2e%2e/store.db", "/%", "/\0", "//etc/passwd"],
    ];
    const reached = paths.filter((path) => {
      const request = { method: "GET", url: `http://localhost${path}`, headers: new Headers() };
      return server.answer(request as Request) !== null;
    });
    expect(reached).toEqual([]);
    measured(`${paths.length} traversals find nothing`);
  });

  test("a change is served as soon as it is published, and served files are told", async () => {
    await directory.edit("oak-trust", { tagline: "Shade for all" });
    expect(await ask("/nonprofits/oak-trust")?.text()).not.toContain("Shade for all");
    await directory.drain();
    expect(await ask("/nonprofits/oak-trust")?.text()).toContain("Shade for all");
    expect(served.at(-1)).toBe("/nonprofits/oak-trust");
  });
});

describe("content that is not what its digest says", () => {
  const reports: string[] = [];
  const paths = ["nonprofits/oak-trust.html", "api/nonprofits/oak-trust.json"];
  const found = (path: string) => {
    const file = reader.find(`/${path}`);
    if (file === null) throw new Error(`${path} is in the bundle`);
    return file;
  };
  test.each([
    [
      "is damaged",
      () => {
        const { manifest } = directory.publisher.context;
        for (const path of paths) flipBit(manifest, found(path).digest);
      },
    ],
    ["is gone", () => rmSync(join(directory.dataDir, "bundle/packs"), { recursive: true })],
  ])("and %s is not served, is told, and is back after a full build", async (_what, harm) => {
    reports.length = 0;
    server = createBundleServer(reader, { onLost: (path) => reports.push(path) });
    harm();
    const lost = ask("/nonprofits/oak-trust");
    expect([lost?.status, lost?.headers.get("retry-after")]).toEqual([503, "30"]);
    expect(ask("/api/nonprofits/oak-trust")).toBeNull();
    expect(ask("/nonprofits/no-such")).toBeNull();
    expect(new Set(reports)).toEqual(new Set(paths));
    await directory.publisher.buildAll({ processes: 1 });
    await directory.publisher.tidy({ first: false });
    expect(await ask("/nonprofits/oak-trust")?.text()).toContain("Shade for all");
    expect(await ask("/api/nonprofits/oak-trust")?.json()).toMatchObject({ slug: "oak-trust" });
  });
});

test("a file too large to be kept is compared while it is sent for the first time", async () => {
  const bundle = aBundle();
  const large = {
    "changes/large.ndjson": "x".repeat(inSegmentBytesMax + 1),
    "changes/whole.ndjson": "y".repeat(inSegmentBytesMax + 1),
  };
  bundle.publish(large);
  const inside = openBundleReader(bundle.folder);
  const file = inside.find("/changes/large.ndjson");
  if (file === null) throw new Error("it is in the bundle");
  flipBit(bundle.manifest, file.digest);
  const lost = Promise.withResolvers<string>();
  const reports: string[] = [];
  const onLost = (path: string) => {
    reports.push(path);
    lost.resolve(path);
  };
  const over = createBundleServer(inside, { onLost });
  for (const path of Object.keys(large)) {
    await over.answer(new Request(`http://localhost/${path}`))?.arrayBuffer();
  }
  expect(await lost.promise).toBe("changes/large.ndjson");
  await Bun.sleep(50);
  expect(reports).toEqual(["changes/large.ndjson"]);
  inside.close();
  bundle.close();
});

describe("a file that cannot be read", () => {
  const file = { path: "x.txt", digest: `ab${"0".repeat(62)}`, size: 1, release: 1 };
  test("is not there when its content went", () => {
    expect(reader.read(file)).toBeNull();
  });
  test("is an error for any other reason, and not a missing page", () => {
    const { manifest, blobs } = directory.publisher.context;
    const segment = blobs.pathOf("", 999_999);
    mkdirSync(segment);
    manifest.db.run(`INSERT INTO blobs VALUES (unhex('${file.digest}'), 999999, 0, 1)`);
    expect(() => reader.read(file)).toThrow("EISDIR");
    blobs.remove(file.digest);
    rmSync(segment, { recursive: true });
  });
});
