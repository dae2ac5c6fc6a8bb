import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { operations } from "#content/openapi/document.ts";
import { sampleFiles } from "#test/support/bundle.ts";
import { headersOf, urlPathsOf } from "#site/delivery/http-headers.ts";

const service = "https://service.almoner.example";

const edgeFile = (name: string) => readFileSync(`site/delivery/edge/${name}`, "utf8");

/** `*` at the end and `:name` for one segment: what such hosts understand. */
const fits = (pattern: string, path: string): RegExpExecArray | null =>
  new RegExp(
    `^${pattern
      .replace(/[.+]/g, "\\$&")
      .replace(/\*$/, "(?<splat>.*)")
      .replace(/:(\w+)/g, "(?<$1>[^/]+)")}$`,
  ).exec(path);

describe("the headers of a static host", () => {
  const rules = edgeFile("_headers")
    .split(/\n(?=\/)/)
    .slice(1)
    .map((text) => {
      const [pattern = "", ...lines] = text.trim().split("\n");
      return { pattern, headers: lines.map((line) => line.trim().split(/: (.*)/)) };
    });
  const valuesOf = (url: string, name: string) =>
    rules
      .filter(({ pattern }) => fits(pattern, url) !== null)
      .flatMap(({ headers }) => headers.filter(([key]) => key?.toLowerCase() === name))
      .map(([, value]) => value ?? "");
  const { others: ofPage } = headersOf("index.html");
  const everywhere = [
    "access-control-allow-origin",
    "access-control-expose-headers",
    "referrer-policy",
    "content-security-policy",
    "x-content-type-options",
  ];
  const maxAge = (value: string) => Number(/max-age=(\d+)/.exec(value)?.[1] ?? 0);

  test.each(Object.keys(sampleFiles))("%s is kept no longer than the publisher says", (path) => {
    const expected = headersOf(path);
    for (const url of urlPathsOf(path)) {
      const [cacheControl = "", ...more] = valuesOf(url, "cache-control");
      expect(more).toEqual([]);
      expect(maxAge(cacheControl)).toBeLessThanOrEqual(maxAge(expected.cacheControl));
      if (path.startsWith("_astro/")) expect(cacheControl).toBe(expected.cacheControl);
      const [type] = valuesOf(url, "content-type");
      if (type !== undefined) expect(type).toBe(expected.contentType);
      const [link, ...others] = valuesOf(url, "link");
      expect(others).toEqual([]);
      if (link !== undefined) expect(link).toBe(ofPage["link"] ?? "");
      for (const name of everywhere) expect(valuesOf(url, name)).toEqual([ofPage[name] ?? ""]);
    }
  });
});

describe("the addresses of a static host that can proxy", () => {
  const rules = edgeFile("_redirects")
    .split("\n")
    .filter((line) => line.startsWith("/"))
    .map((line) => {
      const parts = line.split(/\s+/);
      const [from = "", ...rest] = parts;
      return { from, named: rest.slice(0, -2), to: rest.at(-2) ?? "", status: rest.at(-1) ?? "" };
    });

  /** Where a request ends: a file, or the service. */
  function answeredBy(target: string): string {
    const url = new URL(target, "https://almoner.example");
    const asked = new Map(url.searchParams);
    for (const { from, named, to, status } of rules) {
      const match = fits(from, url.pathname);
      const names = named.map((one) => one.split("=")[0] ?? "");
      if (match === null || names.some((name) => !asked.has(name))) continue;
      const file = urlPathsOfFiles.get(url.pathname);
      if (file !== undefined && !status.endsWith("!")) return file;
      return to.replace(/:(\w+)/g, (whole, name: string) => {
        return match.groups?.[name] ?? asked.get(name) ?? whole;
      });
    }
    return urlPathsOfFiles.get(url.pathname) ?? "404";
  }
  const urlPathsOfFiles = new Map(Object.keys(sampleFiles).map((path) => [`/${path}`, path]));

  test.each([
    ["/api/search?q=a", `${service}/api/search`],
    ["/api/nonprofits?limit=2&offset=4", `${service}/api/nonprofits`],
    ["/api/nonprofits?city=Hilo", `${service}/api/nonprofits`],
    ["/browse?city=Hilo", `${service}/browse`],
    ["/api/needs-enrichment?limit=2&field=mission", `${service}/api/needs-enrichment`],
    ["/api/nonprofits/water-for-all", "/api/nonprofits/water-for-all.json"],
    ["/api/history/water-for-all", "/api/history/water-for-all.json"],
    ["/api/nonprofits/pages/2.json", "api/nonprofits/pages/2.json"],
    ["/api/causes", "/api/causes.json"],
    ["/changes/1.json", "changes/1.json"],
    ["/healthz", `${service}/healthz`],
    ["/mcp", `${service}/mcp`],
    ["/desk", `${service}/desk`],
    ["/desk/login", `${service}/desk/login`],
    ["/es/nonprofits/water-for-all", `${service}/es/nonprofits/water-for-all`],
    ["/pt-br/search?q=a", `${service}/pt-br/search`],
    ["/donate/no-wallet", "/nonprofits/no-wallet#give"],
    ["/donate/water-for-all.html", "donate/water-for-all.html"],
    ["/causes/education/2", "/causes/education-2"],
    ["/pictures/countries/ke.png", "/pictures/home.png"],
    ["/pictures/causes/education.png", "pictures/causes/education.png"],
  ])("%s ends at %s", (target, end) => {
    expect(answeredBy(target)).toBe(end);
  });

  // What a release holds.
  const inFiles = [
    "getNonprofit",
    "getNonprofitHistory",
    "listCauses",
    "getChangeState",
    "getChanges",
  ];
  const ofService = operations.filter(
    ({ operationId, tag }) => tag !== "Files" && !inFiles.includes(operationId),
  );
  test.each(ofService.map(({ method, path }) => [method, path] as const))(
    "%s %s is asked of the service",
    (_, path) => {
      const target = path.replaceAll(/\{\w+\}/g, "water-for-all");
      expect(answeredBy(target)).toBe(`${service}${target}`);
      expect(rules.find(({ from }) => fits(from, target) !== null)?.status).toMatch(/^200/);
    },
  );
});
