import { afterAll, describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inSegmentBytesMax } from "#site/bundle/blobs.ts";
import { openBundleReader } from "#site/delivery/bundle-reader.ts";
import { type BundleServer, createBundleServer } from "#site/delivery/bundle-server.ts";
import { measured } from "#test/support/measured.ts";
import { aContract } from "#test/support/contract.ts";
import { aBundle, accepted, flipBit } from "#test/support/bundle.ts";
import { theBuiltDirectory } from "#test/support/publisher.ts";

let server: BundleServer;
const wallet = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
const served: string[] = [];

const directory = await theBuiltDirectory([
  { slug: "oak-trust", name: "Oak Trust", mission: "Trees for schools. ".repeat(80) },
]);
const reader = openBundleReader(join(directory.dataDir, "bundle"));
server = createBundleServer(reader, { onServed: (path) => served.push(path) });
afterAll(() => reader.close());

const ask = (path: string, init: RequestInit = {}) =>
  server.answer(new Request(`http://localhost${path}`, init));

/** An answer that must be there. */
const held = (path: string, headers: Record<string, string> = {}): Response => {
  const answer = ask(path, { headers });
  if (answer === null) throw new Error(`${path} is not in the bundle`);
  return answer;
};

describe("markdown in the place of a page", () => {
  const form = (path: string, accept: string) =>
    ask(path, { headers: { accept } })?.headers.get("content-type")?.slice(5, 9);

  test.each(accepted)("Accept: %s is answered by %s", (accept, expected) => {
    expect(form("/nonprofits/oak-trust", accept)).toBe(expected === "md" ? "mark" : "html");
  });

  test.each([
    ["/", "index.md", "# Find a nonprofit"],
    ["/browse", "browse.md", "# All nonprofits"],
    ["/causes/education", "causes/education.md", "# Education"],
    ["/countries/KE", "countries/ke.md", "# Kenya"],
    ["/onboard/status", "onboard/status.md", "# "],
    ["/agents", "leaderboard.md", "# Agents"],
    ["/nonprofits/oak-trust", "nonprofits/oak-trust.md", "# Oak Trust"],
  ])("%s is %s, and names it to who reads the page", async (path, file, title) => {
    const markdown = held(path, { accept: "text/markdown" });
    const text = await markdown.text();
    expect(text).toContain(`\n${title}`.trim());
    expect(text).not.toContain("<p>");
    expect(markdown.headers.get("content-location")).toBe(`/${file}`);
    expect(markdown.headers.get("cache-control")).toBe("private, max-age=60");
    const etag = markdown.headers.get("etag") ?? "";
    const again = held(path, { accept: "text/markdown", "if-none-match": etag });
    const page = held(path, { accept: "text/html" });
    expect([again.status, page.headers.get("etag") === etag]).toEqual([304, false]);
    for (const { headers } of [markdown, page]) expect(headers.get("vary")).toStartWith("accept");
    expect(await page.text()).toContain(`type="text/markdown" href="/${file}"`);
    // By its own name it is a file like any other.
    expect(held(`/${file}`).headers.get("cache-control")).toStartWith("public");
  });
});

describe("the bundle's files over HTTP", () => {
  test.each([
    ["/", "text/html"],
    ["/api/nonprofits", "application/json"],
    ["/snapshot/nonprofits.ndjson.gz", "application/gzip"],
  ])("%s is %s, for any origin", (path, type) => {
    const { status, headers } = held(path);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toStartWith(type);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("set-cookie")).toBeNull();
  });

  test("a file that is read from disk is saved under its own name, not its digest", () => {
    for (const method of ["GET", "HEAD"]) {
      const { headers } = ask("/snapshot/nonprofits.ndjson.gz", { method }) ?? {};
      expect(headers?.get("content-disposition")).toBe('inline; filename="nonprofits.ndjson.gz"');
    }
  });

  test.each([
    "/api/nonprofits",
    "/api/nonprofits/oak-trust",
    "/api/causes",
    "/nonprofits/oak-trust.md",
    "/changes/state.json",
    "/changes/1.json",
  ])("%s is as the description says, also to who has it", async (path) => {
    const contract = aContract("https://almoner.example");
    const answer = held(path);
    const etag = answer.headers.get("etag") ?? "";
    expect(await contract.problemsOf("GET", path, answer)).toEqual([]);
    const again = held(path, { "if-none-match": etag });
    expect(await contract.problemsOf("GET", path, again)).toEqual([]);
  });

  const profile = "/nonprofits/oak-trust";

  test("an ETag that still holds is answered by 304, another by the file", () => {
    const etag = held(profile).headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    for (const etags of [etag, `W/${etag}`, `"old", ${etag}`, "*"])
      expect(held(profile, { "if-none-match": etags }).status).toBe(304);
    expect(held(profile, { "if-none-match": '"old"' }).status).toBe(200);
  });

  test.each([
    ["gzip, br", "br", brotliDecompressSync],
    ["deflate, gzip, br;q=0", "gzip", gunzipSync],
  ])("who accepts %s gets %s, with an ETag of its own", async (accept, encoding, decode) => {
    const answer = held(profile, { "accept-encoding": accept });
    expect(answer.headers.get("content-encoding")).toBe(encoding);
    expect(answer.headers.get("etag")).toEndWith(`-${encoding}"`);
    expect(decode(await answer.arrayBuffer()).toString()).toBe(await held(profile).text());
  });

  test("who refuses both gets neither", () => {
    const { headers } = held(profile, { "accept-encoding": "br;q=0, gzip;q=0" });
    expect(headers.get("content-encoding")).toBeNull();
    for (const path of [profile, "/api/nonprofits"])
      expect(held(path).headers.get("vary")).toBe("accept, accept-encoding");
  });

  test("a slash at the end is redirected, for a script of another site, too", () => {
    const { headers } = held("/nonprofits/oak-trust/");
    expect(headers.get("location")).toBe(profile);
    expect(headers.get("access-control-allow-origin")).toBe("*");
  });

  test("a lost person sees a page, a program is left to the service", async () => {
    const accept = "text/html";
    const lost = held("/nowhere", { accept });
    const type = lost.headers.get("content-type");
    expect([lost.status, type]).toEqual([404, "text/html; charset=utf-8"]);
    expect(await lost.text()).toContain("What was added just now appears here in a moment.");
    for (const path of ["/nonprofits/none", "/data/41", "/es/api/wallets/41"])
      expect([path, held(path, { accept }).status]).toEqual([path, 404]);
    expect(ask("/nowhere")).toBeNull();
    // The service knows whose name it is, and redirects.
    for (const path of [
      "/api/nonprofits/none",
      "/history/oak-trust",
      "/history/oak-trust/",
      "/es/nonprofits/oak-trust/",
      "/nonprofits/oak-trust/history",
      "/nonprofits/Oak-Trust",
      "/nonprofits/4711",
      "/nonprofits/99-0305781",
      "/nonprofits/US-EIN-990305781",
    ])
      expect([path, ask(path, { headers: { accept } })]).toEqual([path, null]);
  });

  test("a page for donations is there with the wallet; before and after, the profile stands in", async () => {
    const giving = () => ask("/donate/oak-trust?amount=5");
    expect(giving()?.status).toBe(302);
    expect(giving()?.headers.get("cache-tag")).toBe("profile:oak-trust,profiles,all");
    await directory.publish("oak-trust", { usdc_wallet: wallet });
    expect(await giving()?.text()).toContain(wallet);
    await directory.publish("oak-trust", { usdc_wallet: null });
    // A CDN's second origin is asked by the key that its function made of the address.
    for (const answer of [giving(), ask("/donate/oak-trust.html")])
      expect(answer?.headers.get("location")).toBe("/nonprofits/oak-trust#give");
    expect(ask("/donate/nobody")).toBeNull();
    expect(ask("/donate/oak-trust", { method: "POST" })).toBeNull();
  });

  // Which addresses are the service's: edges.test.ts.
  test("the newest numbers are the service's, and files for readers of the bundle alone", () => {
    for (const path of [
      "/api/stats",
      "/api/needs-enrichment",
      "/api/agents/leaderboard",
      "/api/agents/exemplars",
      "/api/enrichments/stats",
    ])
      expect([ask(path), held(`${path}.json`).status]).toEqual([null, 200]);
    expect([ask("/causes/nothing-11"), ask(profile, { method: "POST" })]).toEqual([null, null]);
  });

  test("500 ways up lead to no file", () => {
    const steps = ["../", "%2e%2e/", "..%2f", "..%5c", "..\\", "%252e%252e/", "....//", "..;/"];
    const targets = ["store.db", "secrets/signing-key.pem", "etc/passwd", "packs.db", "proc/self"];
    const ways = [...steps, "./../", "%2e%2e%2f"].flatMap((step) =>
      Array.from({ length: 10 }, (_, depth) => `/nonprofits/${step.repeat(depth + 1)}`),
    );
    const paths = [
      ...ways.flatMap((way) => targets.map((target) => way + target)),
      "/../store.db",
      "/%2e%2e/store.db",
      "/%",
      "/\0",
      "//etc/passwd",
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
    await directory.publisher.buildAll();
    await directory.publisher.tidy({ first: false });
    expect(await ask("/nonprofits/oak-trust")?.text()).toContain("Shade for all");
    expect(await ask("/api/nonprofits/oak-trust")?.json()).toMatchObject({ slug: "oak-trust" });
  });
});

test("a file too large to be kept is compared while it is sent for the first time", async () => {
  using bundle = aBundle();
  const large = {
    "changes/large.ndjson": "x".repeat(inSegmentBytesMax + 1),
    "changes/whole.ndjson": "y".repeat(inSegmentBytesMax + 1),
  };
  bundle.publish(large);
  const inside = openBundleReader(bundle.folder);
  const file = inside.find("/changes/large.ndjson");
  if (file === null) throw new Error("it is in the bundle");
  flipBit(bundle.manifest, file.digest);
  const lost = Promise.withResolvers<void>();
  const reports: string[] = [];
  const onLost = (path: string) => (reports.push(path), lost.resolve());
  const over = createBundleServer(inside, { onLost });
  for (const path of Object.keys(large)) {
    await over.answer(new Request(`http://localhost/${path}`))?.arrayBuffer();
  }
  await lost.promise;
  await Bun.sleep(50);
  expect(reports).toEqual(["changes/large.ndjson"]);
  inside.close();
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
