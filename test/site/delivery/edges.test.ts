import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { movedRoutes } from "#api/directory/routes.ts";
import { type BundleReader, openBundleReader } from "#site/delivery/bundle-reader.ts";
import { addressForms } from "#content/language/address-pattern.ts";
import { translations } from "#content/language/languages.ts";
import { createBundleServer } from "#site/delivery/bundle-server.ts";
import { givingProfileOf, urlPathsOf } from "#site/delivery/http-headers.ts";
import { aBundle, sampleFiles, type TestBundle } from "#test/support/bundle.ts";
import { hasNginx, startNginx, type TestNginx } from "#test/support/nginx.ts";
import { hasVarnish, startVarnish } from "#test/support/varnish.ts";
import { serveHere } from "#test/support/serve-here.ts";
import { forTests } from "#test/support/at-file-top.ts";

// One table of requests, and what answers each, whichever server is asked.

type End = { file: string } | { service: string } | { location: string } | { missing: string };
type EdgeRequest = { path: string; method?: string; accept?: string };

const file = (path: string, name: string, more: Partial<EdgeRequest> = {}) =>
  [{ path, ...more }, { file: name }] as const;
const toService = (path: string, more: Partial<EdgeRequest> = {}) =>
  [{ path, ...more }, { service: path }] as const;
const moved = (path: string, location: string) => [{ path }, { location }] as const;
const missing = (path: string, page: string) => [{ path }, { missing: page }] as const;

const table: readonly (readonly [EdgeRequest, End])[] = [
  file("/", "index.html"),
  file("/?utm_source=x", "index.html"),
  file("/", "index.md", { accept: "text/markdown" }),
  file("/nonprofits/water-for-all", "nonprofits/water-for-all.html"),
  file("/nonprofits/water-for-all.html", "nonprofits/water-for-all.html"),
  file("/nonprofits/water%2Dfor%2Dall", "nonprofits/water-for-all.html"),
  file("/nonprofits/water-for-all?utm_source=x", "nonprofits/water-for-all.html"),
  file("/nonprofits/water-for-all", "nonprofits/water-for-all.html", { method: "HEAD" }),
  file("/nonprofits/water-for-all", "nonprofits/water-for-all.md", { accept: "text/markdown" }),
  file("/nonprofits/water-for-all.md", "nonprofits/water-for-all.md"),
  moved("/nonprofits/water-for-all/", "/nonprofits/water-for-all"),
  moved("/nonprofits/water-for-all/history", "/history/water-for-all"),
  moved("/api/nonprofits/water-for-all/history", "/api/history/water-for-all"),
  moved("/es/nonprofits/water-for-all/history", "/es/history/water-for-all"),
  toService("/nonprofits/Water-For-All"),
  toService("/nonprofits/050258954"),
  toService("/nonprofits/241.md"),
  toService("/nonprofits/us-ein-050258954"),
  toService("/donate/05-0258954"),
  toService("/donate/gb-chc-1089464"),
  missing("/nonprofits/nobody", "404.html"),
  missing("/es/about/nothing", "es/404.html"),
  file("/donate/water-for-all", "donate/water-for-all.html"),
  file("/donate/water-for-all.html", "donate/water-for-all.html"),
  moved("/donate/no-wallet", "/nonprofits/no-wallet#give"),
  moved("/donate/no-wallet.html", "/nonprofits/no-wallet#give"),
  moved("/donate/no-wallet-2", "/nonprofits/no-wallet-2#give"),
  toService("/history/water-for-all"),
  toService("/es/history/water-for-all"),
  toService("/es/nonprofits/water-for-all"),
  toService("/fr/donate/water-for-all"),
  toService("/organisations/GB-CHC-1089464"),
  toService("/fr/organisations/GB-CHC-1089464"),
  file("/es", "es.html"),
  file("/es/about", "es/about.html"),
  file("/browse", "browse.html"),
  file("/browse", "browse.md", { accept: "text/markdown" }),
  toService("/browse?city=Hilo"),
  toService("/es/browse"),
  toService("/es/browse?city=Hilo&page=2"),
  toService("/search?q=water"),
  toService("/es/search?q=water"),
  toService("/onboard?claim=water-for-all"),
  toService("/fr/corrections?q=water"),
  file("/causes/education", "causes/education.html"),
  file("/causes/education-2", "causes/education-2.html"),
  file("/causes/education?utm_source=x", "causes/education.html"),
  file("/countries/KE", "countries/ke.html"),
  file("/countries/kE-2", "countries/ke-2.html"),
  file("/countries/KE", "countries/ke.md", { accept: "text/markdown" }),
  file("/countries/KE.md", "countries/ke.md"),
  file("/countries/KE.html", "countries/ke.html", { accept: "text/markdown" }),
  file("/donate/water-for-all.html", "donate/water-for-all.html", { accept: "text/markdown" }),
  file("/causes/education", "causes/education.md", { accept: "text/markdown" }),
  moved("/causes/education/", "/causes/education"),
  moved("/causes/education/?region=Hawaii", "/causes/education?region=Hawaii"),
  moved("/donate/no-wallet/", "/donate/no-wallet"),
  moved("/causes/education?region=Hawaii&page=2", "/browse?region=Hawaii&page=2&cause=education"),
  moved("/causes/education-2?region=Hawaii", "/browse?region=Hawaii&cause=education&page=2"),
  moved("/countries/KE-2?region=", "/browse?region=&country=ke&page=2"),
  moved("/es/causes/education?region=Hawaii", "/es/browse?region=Hawaii&cause=education"),
  moved("/countries/ke?region=Nairobi", "/browse?region=Nairobi&country=ke"),
  moved("/countries/KE?region=Nairobi", "/browse?region=Nairobi&country=KE"),
  moved("/causes/education-11", "/browse?cause=education&page=11"),
  moved("/countries/KE-11", "/browse?country=KE&page=11"),
  moved("/causes/education/2", "/causes/education-2"),
  moved("/es/causes/education/2", "/es/causes/education-2"),
  toService("/es/causes/education"),
  file("/api/nonprofits", "api/nonprofits.json"),
  file("/api/nonprofits", "api/nonprofits.json", { accept: "application/json" }),
  toService("/api/nonprofits", { accept: "text/csv" }),
  toService("/api/nonprofits", { accept: "application/x-ndjson" }),
  toService("/api/nonprofits?limit=2"),
  file("/api/nonprofits/water-for-all", "api/nonprofits/water-for-all.json"),
  file("/api/nonprofits/pages/2.json", "api/nonprofits/pages/2.json"),
  toService("/api/nonprofits/nobody"),
  toService("/api/nothing"),
  toService("/api"),
  toService("/api/enrichments/stats"),
  toService("/api/agents/exemplars?field=city"),
  toService("/api/stats"),
  toService("/api/needs-enrichment"),
  file("/api/stats.json", "api/stats.json"),
  toService("/api/agents/leaderboard"),
  toService("/api/donations/water-for-all"),
  file("/api/donations/water-for-all.json", "api/donations/water-for-all.json"),
  toService("/api/donations/water-for-all/7"),
  toService("/api/search?q=water"),
  toService("/api/enrich/water-for-all", { method: "POST" }),
  toService("/api/admin/reviews?limit=2"),
  toService("/desk"),
  toService("/desk/queues/prose?after=prose-12"),
  toService("/reconcile"),
  toService("/reconcile/v1/suggest/entity?prefix=wat"),
  toService("/mcp", { method: "POST" }),
  toService("/healthz"),
  toService("/readyz"),
  file("/.well-known/api-catalog", ".well-known/api-catalog"),
  file("/changes/1.json", "changes/1.json"),
  file("/pictures/causes/education.png", "pictures/causes/education.png"),
  moved("/pictures/nonprofits/water-for-all-0123456789ab.png", "/pictures/home.png"),
  moved("/pictures/countries/ke.png", "/pictures/home.png"),
];

const nameOf = new Map(Object.entries(sampleFiles).map(([path, body]) => [body, path]));

/** A place with its parameters in one order, and countries in small letters, which all servers may write. */
function place(location: string): string {
  const { pathname, searchParams, hash } = new URL(location, "http://directory.example");
  const country = searchParams.get("country");
  if (country !== null) searchParams.set("country", country.toLowerCase());
  searchParams.sort();
  const query = searchParams.toString();
  return `${pathname}${query === "" ? "" : `?${query}`}${hash}`;
}

const inOneOrder = (end: End): End => ("location" in end ? { location: place(end.location) } : end);

async function endOf(origin: string, { path, method = "GET", accept = "text/html" }: EdgeRequest) {
  const headers = { accept, "accept-encoding": "identity" };
  const answer = await fetch(origin + path, { method, headers, redirect: "manual" });
  const location = answer.headers.get("location");
  if (location !== null) return { location: place(location) };
  let body = await answer.text();
  if (answer.headers.has("x-service")) return { service: body };
  if (method === "HEAD") {
    expect(body).toBe("");
    body = await fetch(origin + path, { headers }).then((whole) => whole.text());
    expect(answer.headers.get("content-length")).toBe(String(Buffer.byteLength(body)));
  }
  const known = nameOf.get(body);
  return answer.status === 404 ? { missing: known } : { file: known };
}

/** Pages of lists and profiles are kept, in any language; so is that there is no such path of the API. */
const isNeverKept = (path: string) =>
  !/^(?:\/\w\w)?\/(?:nonprofits|donate|causes|browse$)|^\/api\/no/.test(path);

let bundle: TestBundle;
let reader: BundleReader;
let directory: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  bundle = aBundle();
  bundle.publish(sampleFiles);
  reader = openBundleReader(bundle.folder);
  const files = createBundleServer(reader);
  const elsewhere = movedRoutes();
  // The embedded server, what redirects behind it, and a service that says what it was asked.
  directory = serveHere(async (request) => {
    const found = files.answer(request);
    if (found !== null) return found;
    const redirect = await elsewhere.handle(request);
    if (redirect.status === 308) return redirect;
    const target = request.url.slice(request.url.indexOf("/", "http://".length));
    const headers = { "x-service": "1", "cache-control": "public, max-age=60" };
    return new Response(target, { headers });
  });
});
afterAll(async () => {
  await directory.stop(true);
  reader.close();
  bundle.close();
});

const nameOfRow = ({ path, method = "GET", accept = "" }: EdgeRequest) =>
  `${method} ${path} ${accept}`;
const rows = table.map(([asked, end]) => [nameOfRow(asked), asked, end] as const);

test.each(rows)("the embedded server: %s", async (_, asked, end) => {
  expect(await endOf(directory.url.origin, asked)).toEqual(inOneOrder(end));
});

describe.skipIf(!hasNginx)("nginx", () => {
  let nginx: TestNginx;
  beforeAll(async () => {
    const servicePort = directory.port ?? 0;
    nginx = await startNginx({ root: bundle.exported.folder, servicePort });
  });
  afterAll(() => nginx.close());

  test.each(rows)("%s", async (_, asked, end) => {
    expect(await endOf(nginx.origin, asked)).toEqual(inOneOrder(end));
  });
});

describe.skipIf(!hasVarnish)("Varnish", () => {
  const varnish = forTests(() => startVarnish(directory.port ?? 0));

  test.each(rows)("%s", async (_, asked, end) => {
    // Whoever comes second may be given what the first was.
    await endOf(varnish.origin, { ...asked, path: asked.path.replace(/\?.*/, "?utm_source=y") });
    expect(await endOf(varnish.origin, asked)).toEqual(inOneOrder(end));
  });

  test.each(rows.filter(([, { path }, end]) => "service" in end && isNeverKept(path)))(
    "keeps nothing of %s",
    async (_, asked) => {
      const headers = { accept: asked.accept ?? "text/html" };
      const ask = () =>
        fetch(varnish.origin + asked.path, { method: asked.method ?? "GET", headers });
      await ask();
      expect((await ask()).headers.get("x-cache")).toBe("miss");
    },
  );
});

/** The first parts of the addresses of the bundle and the service. */
const folders = new Set(addressForms.flatMap(({ path }) => /^\/([^/{*]+)\//.exec(path)?.[1] ?? []));
const configured = (...files: string[]) =>
  [
    ...files
      .map((name) => readFileSync(`site/delivery/edge/${name}`, "utf8"))
      .join("\n")
      .matchAll(/\[a-z\]\{2\}(?:\([^)]*\)\?)?/g),
  ].map(([pattern]) => new RegExp(`^${pattern}$`));
const inGuide = readFileSync("docs/cdn.md", "utf8").matchAll(/`\/(\?\?[^/`]*)\/\*`/g);

// Configurations of other servers cannot read which languages there are: they know them by their form.
test.each<[server: string, patterns: RegExp[], isEach: boolean]>([
  ["nginx", configured("nginx/server.conf", "nginx/http.conf"), true],
  ["Varnish", configured("varnish.vcl"), true],
  [
    "CloudFront",
    [...inGuide].map(
      ([, form = ""]) => new RegExp(`^${form.replaceAll("?", ".").replace("*", ".*")}$`),
    ),
    false,
  ],
])("%s knows every language, and takes no folder for one", (_, patterns, isEach) => {
  const isLanguage = (name: string) => {
    const fits = patterns.filter((pattern) => pattern.test(name)).length;
    return isEach ? fits === patterns.length : fits > 0;
  };
  const languages = translations.map(({ language }) => language);
  expect(patterns.length).toBeGreaterThan(0);
  expect([...languages, "pt-br", "zh-hant"].filter((name) => !isLanguage(name))).toEqual([]);
  expect(folders.size).toBeGreaterThan(10);
  const isTaken = (name: string) => patterns.some((pattern) => pattern.test(name));
  expect([...folders].filter((name) => !languages.includes(name) && isTaken(name))).toEqual([]);
});

describe("CloudFront", () => {
  type Viewed = { uri?: string; statusCode?: number; headers?: { location?: { value: string } } };
  const source = readFileSync("site/delivery/edge/cloudfront-function.js", "utf8");
  // It is no module: CloudFront calls a global function.
  // oxlint-disable-next-line no-implied-eval
  const handler = new Function(`${source}; return handler;`)() as (event: unknown) => Viewed;
  /** The paths that docs/cdn.md gives to the service. */
  const guide = readFileSync("docs/cdn.md", "utf8");
  const behaviours = [
    ...(/Give the service its own behaviours[^]*?\n- Let/.exec(guide)?.[0] ?? "").matchAll(
      /`(\/[^`{}…]*)`/g,
    ),
  ].map(
    ([, pattern = ""]) =>
      new RegExp(
        `^${pattern
          .replaceAll(/[.]/g, String.raw`\.`)
          .replaceAll("?", "[^/]")
          .replaceAll("*", ".*")}$`,
      ),
  );
  const asks = rows.filter(
    ([, { method, accept }]) => method === undefined && accept === undefined,
  );

  test.each(asks)("%s", (_, { path }, end) => {
    const [uri = "", query = ""] = path.split("?");
    const querystring = Object.fromEntries(
      [...new URLSearchParams(query)].map(([name, value]) => [name, { value }]),
    );
    if (behaviours.some((pattern) => pattern.test(uri))) {
      // The service has the files, too.
      return;
    }
    const { uri: key, headers } = handler({ request: { uri, querystring, headers: {} } });
    // What has no page for donations is the next origin's to answer.
    if ("location" in end && !uri.startsWith("/donate/"))
      expect(place(headers?.location?.value ?? "/")).toBe(place(end.location));
    else if ("file" in end) expect(decodeURIComponent(key ?? "")).toBe(`/${end.file}`);
    else expect(Object.keys(sampleFiles)).not.toContain((key ?? "").slice(1));
  });

  const viewed = (uri: string) => handler({ request: { uri, querystring: {}, headers: {} } });

  test("every address of a file leads to its key, country codes in any letter case", () => {
    for (const path of Object.keys(sampleFiles))
      for (const url of urlPathsOf(path)) expect(viewed(url).uri).toBe(`/${path}`);
    expect(viewed("/countries/KE-2").uri).toBe("/countries/ke-2.html");
  });

  // Source: AWS, "JavaScript runtime 2.0 features for CloudFront Functions".
  test("its function takes nothing apart, which its runtime is not said to know", () => {
    expect(source).not.toMatch(/const [[{]|\.\.\.|\(\(\[/);
  });

  test("a slash at the end leads to no other host", () => {
    expect(viewed("/causes/").statusCode).toBe(301);
    for (const uri of ["//evil.example/", "/\\evil.example/"]) {
      expect(viewed(uri).statusCode).toBeUndefined();
    }
  });

  test("what the bucket does not have of /donate is asked of the service by its key", () => {
    expect(viewed("/donate/no-wallet").uri).toBe("/donate/no-wallet.html");
    expect(givingProfileOf("/donate/no-wallet.html")).toEqual(givingProfileOf("/donate/no-wallet"));
  });
});
