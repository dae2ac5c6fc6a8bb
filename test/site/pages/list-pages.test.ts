import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NonprofitList } from "#content/contract/nonprofit.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { listPage } from "#site/documents/list-page.ts";
import { sitemap } from "#site/documents/sitemap.ts";
import { aRichNonprofit, aSite, siteBaseUrl, type TestSite } from "#test/support/compiled-site.ts";
import { aNonprofit } from "#test/support/records.ts";

let site: TestSite;
let stored: NonprofitRecord[];
beforeAll(async () => {
  site = await aSite();
  stored = await site.save([
    ...Array.from({ length: 203 }, (_, at) =>
      aNonprofit({ slug: `n-${at}`, name: `N ${at}`, beneficiaries_per_year: 1_000 - at }),
    ),
    aRichNonprofit({ slug: "gone", status: "withdrawn" }),
  ]);
});
afterAll(() => site.close());

const linksOf = async (key: string) => {
  const { $ } = await site.page(key);
  return $(".list a")
    .toArray()
    .map((link) => $(link).attr("href"));
};

describe("a cause", () => {
  test("stands on pages of 100, in the order of the list", async () => {
    expect(Object.keys(await site.files("list-page cause:education 1"))).toEqual([
      "causes/education.html",
    ]);
    expect(Object.keys(await site.files("list-page cause:education 3"))).toEqual([
      "causes/education/3.html",
    ]);
    const pages = [1, 2, 3].map((page) => linksOf(`list-page cause:education ${page}`));
    const links = (await Promise.all(pages)).flat();
    expect(links).toEqual(Array.from({ length: 203 }, (_, at) => `/nonprofits/n-${at}`));
  });

  test("links its pages to each other", async () => {
    const first = (await site.page("list-page cause:education 1")).$;
    expect(
      first(".pager a")
        .toArray()
        .map((a) => first(a).attr("href")),
    ).toEqual(["/causes/education/2", "/causes/education/3", "/causes/education/2"]);
    const last = (await site.page("list-page cause:education 3")).$;
    expect(last('a[rel="next"]').length).toBe(0);
    expect(last('a[rel="prev"]').attr("href")).toBe("/causes/education/2");
    expect(last('link[rel="canonical"]').attr("href")).toBe(`${siteBaseUrl}/causes/education/3`);
  });

  test("tells its total on the first page alone, so that others need not change with it", async () => {
    expect((await site.page("list-page cause:education 1")).html).toContain("203 nonprofits");
    expect((await site.page("list-page cause:education 2")).html).not.toContain("203");
  });

  test("without any nonprofit still has its first page", async () => {
    const { $ } = await site.page("list-page cause:animals 1");
    expect($("main").text()).toContain("No nonprofits here yet");
  });
});

test("pages beyond the end of a list must not exist", async () => {
  expect(await site.files("list-page cause:education 4")).toEqual({
    "causes/education/4.html": null,
  });
  expect(await site.files("list-page country:KE 4")).toEqual({ "countries/ke/4.html": null });
  expect(await site.files("list-page country:NO 1")).toEqual({ "countries/no.html": null });
  expect(await site.files("list-page all 6")).toEqual({ "api/nonprofits/pages/6.json": null });
});

test("the whole list is JSON in pages of 50, as the service would answer", async () => {
  const page = async (key: string, path: string) =>
    NonprofitList.parse(JSON.parse((await site.files(key))[path] ?? ""));
  const first = await page("list-page all 1", "api/nonprofits.json");
  expect(first).toMatchObject({ total: 203, count: 50, limit: 50, offset: 0, prev: null });
  expect(first.next).toBe(`${siteBaseUrl}/api/nonprofits?limit=50&offset=50`);
  const last = await page("list-page all 5", "api/nonprofits/pages/5.json");
  expect(last).toMatchObject({ total: 203, count: 3, offset: 200, next: null });
  expect(last.prev).toBe(`${siteBaseUrl}/api/nonprofits?limit=50&offset=150`);
  expect(last.nonprofits.map(({ slug }) => slug)).toEqual(["n-200", "n-201", "n-202"]);
});

test("pages rendered together are those rendered alone", async () => {
  const keys: string[] = [];
  for await (const batch of listPage.all(site)) keys.push(...batch);
  expect(keys.length).toBe(29 + 2 + 3 + 5); // 29 first pages, two more of education, Kenya, all.
  const together = await listPage.render(keys.toReversed(), site);
  for (const [at, key] of keys.toReversed().entries()) {
    expect(await listPage.render([key], site)).toEqual(together.slice(at, at + 1));
  }
});

describe("the sitemap", () => {
  test("names every listed profile once, and no withdrawn one", async () => {
    const keys: string[] = [];
    for await (const batch of sitemap.all(site)) keys.push(...batch);
    expect(keys).toEqual(["sitemap 1"]);
    const xml = (await site.files("sitemap 1"))["sitemaps/1.xml"] ?? "";
    const found = [...xml.matchAll(/<loc>([^<]*)<\/loc><lastmod>([^<]*)<\/lastmod>/g)];
    expect(found.map(([, address]) => address)).toEqual(
      Array.from({ length: 203 }, (_, at) => `${siteBaseUrl}/nonprofits/n-${at}`),
    );
    expect(new Set(found.map(([, , day]) => day))).toEqual(new Set(["2026-11-01T12:00:00Z"]));
  });

  test("has an index, and a file of the pages that are no profiles", async () => {
    const index = (await site.files("sitemap-index"))["sitemap.xml"] ?? "";
    expect(index).toContain(`<loc>${siteBaseUrl}/sitemaps/pages.xml</loc>`);
    expect(index).toContain(`<loc>${siteBaseUrl}/sitemaps/1.xml</loc>`);
    const pages = (await site.files("sitemap-pages"))["sitemaps/pages.xml"] ?? "";
    for (const path of [
      "/",
      "/causes/education/3",
      "/causes/animals",
      "/countries/ke",
      "/agents",
    ]) {
      expect(pages).toContain(`<loc>${siteBaseUrl}${path}</loc>`);
    }
  });

  test("drops a file whose profiles are all withdrawn", async () => {
    expect(await site.files("sitemap 2")).toEqual({ "sitemaps/2.xml": null });
  });
});

test("a nonprofit that is withdrawn leaves lists and sitemap, and keeps its profile", async () => {
  const [first] = stored;
  if (first === undefined) throw new Error("nothing was stored");
  const [withdrawn] = await site.save([{ ...first, status: "withdrawn" }], [first]);
  expect(await linksOf("list-page cause:education 1")).not.toContain("/nonprofits/n-0");
  expect((await site.files("sitemap 1"))["sitemaps/1.xml"]).not.toContain("/nonprofits/n-0<");
  const { "nonprofits/n-0.html": page, "api/nonprofits/n-0.json": json } =
    await site.files("profile 1");
  expect([page, json]).not.toContain(null);
  if (withdrawn !== undefined) await site.save([first], [withdrawn]);
});
