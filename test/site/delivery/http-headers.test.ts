import { describe, expect, test } from "bun:test";
import { sampleFiles } from "#test/support/bundle.ts";
import {
  browseAddressOf,
  filePathsFor,
  headersOf,
  redirectOf,
  urlPathsOf,
} from "#site/delivery/http-headers.ts";

describe("how a file is sent", () => {
  test.each([
    ["index.html", "text/html; charset=utf-8", "public, max-age=60, stale-while-revalidate=600"],
    ["_astro/a.B1.css", "text/css; charset=utf-8", "public, max-age=31536000, immutable"],
    ["changes/12.json", "application/json", "public, max-age=31536000, immutable"],
    ["changes/state.json", "application/json", "public, max-age=5"],
    ["snapshot/nonprofits.ndjson.gz", "application/gzip", "public, no-cache"],
    [
      "pagefind/3/index/en_ab12cd3.pf_index",
      "application/octet-stream",
      "public, max-age=604800, immutable",
    ],
  ])("%s as %s, %s", (path, contentType, cacheControl) => {
    expect(headersOf(path)).toMatchObject({ contentType, cacheControl });
  });

  test.each([
    [".well-known/security.txt", "text/plain; charset=utf-8"],
    ["skill.md", "text/markdown; charset=utf-8"],
    [".well-known/x402", "application/json"],
    ["agents.arazzo.yaml", "application/yaml"],
  ])("%s as %s, kept a minute", (path, contentType) => {
    const { cacheControl } = headersOf("index.html");
    expect(headersOf(path)).toMatchObject({ contentType, cacheControl });
  });

  test("a page loads nothing from other hosts, pictures neither", () => {
    const policy = headersOf("index.html").others["content-security-policy"];
    expect(policy).toContain("default-src 'self';");
    expect(policy).not.toContain("https:");
  });

  test("the API catalogue says what it is and where it is linked", () => {
    const { contentType, others } = headersOf(".well-known/api-catalog");
    expect(contentType).toStartWith("application/linkset+json");
    expect(others["link"]).toContain('rel="api-catalog"');
  });

  test("what programs read links to the descriptions of what can be asked, the rest does not", () => {
    const isLinked = (path: string) =>
      headersOf(path).others["link"]?.includes('rel="service-desc"') ?? false;
    const files = ["index.html", "api/nonprofits/a-b.json", "changes/state.json"];
    const more = ["search/index.json", "nonprofits/a-b.md"];
    expect([...files, ...more].filter((path) => !isLinked(path))).toEqual([]);
    expect(["nonprofits/a-b.html", "_astro/api/x.css"].filter(isLinked)).toEqual([]);
  });

  test.each([
    ["nonprofits/a-b.html", "profile:a-b profiles all"],
    ["api/nonprofits/a-b.json", "profile:a-b profiles all"],
    ["donate/a-b.html", "profile:a-b profiles all"],
    ["api/nonprofits.json", "list:all/1 list:all lists all"],
    ["api/nonprofits/pages/7.json", "list:all/7 list:all lists all"],
    ["causes/health.html", "list:cause:health/1 list:cause:health lists all"],
    ["countries/ke-2.html", "list:country:ke/2 list:country:ke lists all"],
    ["sitemaps/1.xml", "file:sitemaps/1.xml all"],
    ["404.html", "missing all"],
  ])("%s is cached under %s", (path, keys) => {
    expect(headersOf(path).surrogateKeys.join(" ")).toBe(keys);
  });
});

describe("from addresses to files", () => {
  test.each([
    ["/", "index.html"],
    ["/causes", "causes.html"],
    ["/nonprofits/a-b", "nonprofits/a-b.html"],
    ["/nonprofits/a-b.html", "nonprofits/a-b.html"],
    ["/api/nonprofits/a-b", "api/nonprofits/a-b.json"],
    ["/countries/KE-2", "countries/ke-2.html"],
    ["/.well-known/api-catalog", ".well-known/api-catalog"],
    ["/caf%C3%A9", "café.html"],
  ])("%s may be %s", (url, path) => {
    expect(filePathsFor(url)).toContain(path);
  });

  test.each([
    "/..",
    "/../a",
    "/a/../b",
    "/%2e%2e/a",
    "/a%2f..%2fb",
    "//a",
    "/a//b",
    "/a/",
    "/%",
    "/%zz",
    "/a%00b",
    "/a\\b",
    `/${"a".repeat(2_000)}`,
  ])("%s is none", (url) => {
    expect(filePathsFor(url)).toEqual([]);
  });

  test("every address of a file leads back to it, before any other", () => {
    for (const path of Object.keys(sampleFiles))
      for (const url of urlPathsOf(path)) {
        expect(filePathsFor(url).find((name) => name in sampleFiles)).toBe(path);
      }
  });

  test.each([
    ["/causes/", "/causes"],
    ["//a.example//", "/a.example"],
    ["/causes", null],
    ["/", null],
    ["//", null],
    ["/\\\\a.example/", null],
  ])("%s is found at %s", (url, found) => {
    expect(redirectOf(url)).toBe(found);
  });

  test.each([
    ["/causes/education?sort=name", "/browse?sort=name&cause=education"],
    ["/es/causes/education?region=x", "/es/browse?region=x&cause=education"],
    ["/fr/countries/ke-2?city=y", "/fr/browse?city=y&country=ke&page=2"],
    ["/es/causes/education", undefined],
    ["/es/causes?sort=name", undefined],
    ["/og/causes/education?sort=name", undefined],
  ])("%s is narrowed at %s", (url, location) => {
    const [path = "", query = ""] = url.split("?");
    expect(browseAddressOf(path, query)?.location).toBe(location);
  });
});
