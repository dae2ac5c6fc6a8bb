import { describe, expect, test } from "bun:test";
import { load } from "cheerio";
import { type FacetCounts, noFilters } from "#content/contract/browse.ts";
import { NonprofitList } from "#content/contract/nonprofit.ts";
import { renderPage } from "#site/documents/document.ts";
import { listPage } from "#site/documents/list-page.ts";
import { type ListPage, listPageView, pageNumbers } from "#site/lists/list-view.ts";
import { listPath } from "#site/parts/address.ts";
import { sitemap } from "#site/documents/sitemap.ts";
import { aRichNonprofit, theSite, siteBaseUrl, textOf } from "#test/support/compiled-site.ts";
import { expectPage, textsAt } from "#test/support/page-table.ts";
import { aNonprofit } from "#test/support/records.ts";

const noCounts: FacetCounts = {
  cause: [],
  country: [],
  region: [],
  city: [],
  claimed: [],
  accepts: [],
  has_website: [],
  income: [],
};

const site = await theSite();
await site.save([
  ...Array.from({ length: 203 }, (_, at) =>
    aNonprofit({ slug: `n-${at}`, name: `N ${at}`, beneficiaries_per_year: 1_000 - at }),
  ),
  aRichNonprofit({ slug: "gone", status: "withdrawn" }),
]);

const linksOf = async (key: string) => textsAt((await site.page(key)).$, ".list a@href");

describe("a cause", () => {
  test("stands on pages of 100, in the order of the list", async () => {
    for (const [key, path] of [
      ["list-page cause:education 1", "causes/education"],
      ["list-page cause:education 3", "causes/education-3"],
    ] as const)
      expect(Object.keys(await site.files(key))).toEqual([`${path}.html`, `${path}.md`]);
    const pages = [1, 2, 3].map((page) => linksOf(`list-page cause:education ${page}`));
    const links = (await Promise.all(pages)).flat();
    expect(links).toEqual(Array.from({ length: 203 }, (_, at) => `/nonprofits/n-${at}`));
  });

  test("links its pages to each other", async () => {
    const next = ["/causes/education-2", "/causes/education-3", "/causes/education-2"];
    expectPage((await site.page("list-page cause:education 1")).$, [
      [".pager a@href", next],
      ['.pager [aria-current="page"]', ["1"]],
    ]);
    expectPage((await site.page("list-page cause:education 3")).$, [
      ['a[rel="next"]', 0],
      ['a[rel="prev"]@href', ["/causes/education-2"]],
      ['link[rel="canonical"]@href', [`${siteBaseUrl}/causes/education-3`]],
    ]);
  });

  test("tells its total on the first page alone, so that others need not change with it", async () => {
    expect((await site.page("list-page cause:education 1")).html).toContain("203 nonprofits");
    expect((await site.page("list-page cause:education 2")).html).not.toContain("203");
  });

  test("can be narrowed without a script, with counts of its own list", async () => {
    const options = (name: string) => `.narrow select[name="${name}"] option`;
    expectPage((await site.page("list-page cause:education 1")).$, [
      [".narrow form@action", ["/browse"]],
      ['.narrow input[name="cause"]@value', ["education"]],
      [options("country"), ["Any country", "Kenya (203)"]],
      [options("has_website"), ["With or without", "No website known (203)"]],
      ['meta[name="robots"]', 0],
    ]);
    expectPage((await site.page("list-page cause:education 2")).$, [[".narrow", 0]]);
  });

  test("without any nonprofit still has its first page", async () => {
    const { $ } = await site.page("list-page cause:animals 1");
    expectPage($, [["main", "No nonprofits here yet"]]);
  });
});

test("pages beyond the end of a list must not exist", async () => {
  for (const [list, path] of [
    ["cause:education 4", "causes/education-4"],
    ["country:KE 4", "countries/ke-4"],
    ["country:NO 1", "countries/no"],
  ]) {
    const gone = { [`${path}.html`]: null, [`${path}.md`]: null };
    expect(await site.files(`list-page ${list}`)).toEqual(gone);
  }
  expect(await site.files("list-page all 6")).toEqual({ "api/nonprofits/pages/6.json": null });
});

test("the whole list is JSON in pages of 50, as the service would answer", async () => {
  const page = async (key: string, path: string) =>
    NonprofitList.parse(JSON.parse((await site.files(key))[path] ?? ""));
  const first = await page("list-page all 1", "api/nonprofits.json");
  expect(first).toMatchObject({ total: 203, count: 50, limit: 50, offset: 0, prev: null });
  // Links lead from file to file.
  expect(first.next).toBe(`${siteBaseUrl}/api/nonprofits/pages/2.json`);
  const last = await page("list-page all 5", "api/nonprofits/pages/5.json");
  expect(last).toMatchObject({ total: 203, count: 3, offset: 200, next: null });
  expect(last.prev).toBe(`${siteBaseUrl}/api/nonprofits/pages/4.json`);
  expect(last.nonprofits.map(({ slug }) => slug)).toEqual(["n-200", "n-201", "n-202"]);
});

test("the whole list has a first page for people, too, also at the address that they guess", async () => {
  const files = await site.files("list-page all 1");
  expectPage(load(files["browse.html"] ?? ""), [
    [".list li", 100],
    ['link[rel="canonical"]@href', [`${siteBaseUrl}/browse`]],
    [".pager a@href", ["/browse?page=2", "/browse?page=3", "/browse?page=2"]],
  ]);
  expect(files["nonprofits.html"]).toBe(files["browse.html"] ?? "");
});

describe("a list of the United States", () => {
  const facets = {
    ...noCounts,
    cause: [
      { value: "education", count: 6 },
      { value: "health", count: 3 },
    ],
    region: [{ value: "Hawaii", count: 9 }],
  };
  const filters = { ...noFilters, country: "US" };
  const view = listPageView({ filters, sort: "relevance", page: 1, total: 9, items: [], facets });

  test("has its states as a map and as a table", async () => {
    const href = "/browse?country=US&region=Hawaii";
    expect(view.states).toEqual([{ text: "Hawaii", count: 9, chosen: false, href }]);
    const $ = load(textOf(await renderPage(site, "/browse", { view })));
    expectPage($, [
      [`.map a[href="${href}"]@aria-label`, ["Hawaii: 9 nonprofits"]],
      [".states td", ["9"]],
    ]);
    expect($(".map").toString().length).toBeLessThan(30_000);
  });

  test("links causes with what each would leave, and orders", () => {
    expect(view.groups.map(({ label, links }) => [label, links.length])).toEqual([["Cause", 2]]);
    const education = { text: "Education", count: 6, chosen: false };
    const href = "/browse?cause=education&country=US";
    expect(view.groups[0]?.links[0]).toEqual({ ...education, href });
    expect(view.sorts.find(({ chosen }) => chosen)?.text).toBe("Best known first");
  });
});

test("a list of one state is titled by it", () => {
  const list = { sort: "relevance", page: 1, total: 0, facets: null, items: [] } as const;
  const us = { ...noFilters, country: "US", region: "Rhode Island" };
  expect(listPageView({ ...list, filters: us }).title).toBe("Rhode Island · Almoner");
  const inState = listPageView({ ...list, filters: { ...us, cause: "education" } });
  expect(inState.name).toBe("Education in Rhode Island");
});

describe("a list that was narrowed", () => {
  const narrowed = (parts: Partial<ListPage> = {}) =>
    listPageView({
      filters: { ...noFilters, cause: "education", region: "<Hawaii>" },
      sort: "name",
      page: 12,
      total: 123_456,
      facets: { ...noCounts, region: [{ value: "Oahu", count: 7 }] },
      items: [],
      ...parts,
    });

  test("names what narrows it, each with a link to the list without", () => {
    expect(narrowed().chips).toEqual([
      { text: "Education", href: "/browse?region=%3CHawaii%3E&sort=name" },
      { text: "<Hawaii>", href: "/browse?cause=education&sort=name" },
    ]);
    const one = narrowed({ sort: "relevance", filters: { ...noFilters, region: "Oahu" } });
    expect(one.chips).toEqual([{ text: "Oahu", href: "/browse" }]);
    expect(narrowed().noindex).toBe(true);
  });

  test("leads from a value that no one knows to the nearest", () => {
    const filters = { ...noFilters, cause: "education", country: "Kenja" };
    expect(narrowed({ filters, total: 0 })).toMatchObject({
      none: "list.meant",
      meant: [{ text: "Kenya", href: "/browse?cause=education&country=Kenya&sort=name" }],
    });
    expect(narrowed().meant).toEqual([]);
  });

  test("keeps what was chosen in its form, also what nothing matches", () => {
    const region = narrowed().form?.fields.find(({ name }) => name === "region");
    expect(region?.options).toEqual([
      { value: "<Hawaii>", text: "<Hawaii>", selected: true },
      { value: "Oahu", text: "Oahu (7)", selected: false },
    ]);
    expect(narrowed().form?.sorts.filter(({ selected }) => selected)).toEqual([
      { value: "name", text: "Name", selected: true },
    ]);
  });

  test.each([
    [1, "/api/nonprofits?cause=education&region=%3CHawaii%3E&sort=name"],
    [3, "/api/nonprofits?cause=education&region=%3CHawaii%3E&sort=name&limit=100&offset=200"],
  ])("names the JSON of its own page %d", (page, json) => {
    expect(narrowed({ page }).json).toBe(json);
  });

  test("goes back to the files where it can", () => {
    const whole = { filters: { ...noFilters, country: "KE" }, sort: "relevance" } as const;
    expect([1, 10, 11].map((page) => listPath(whole, page))).toEqual([
      "/countries/ke",
      "/countries/ke-10",
      "/browse?country=KE&page=11",
    ]);
  });

  test.each([
    [1, 1, []],
    [1, 3, [1, 2, 3]],
    [1, 99, [1, 2, 3, 4, 5, 6, 7, 8, 99]],
    [50, 99, [1, 47, 48, 49, 50, 51, 52, 53, 99]],
    [99, 99, [1, 92, 93, 94, 95, 96, 97, 98, 99]],
    [200, 99, [1, 92, 93, 94, 95, 96, 97, 98, 99]],
  ])("page %d of %d has at most nine links", (page, pages, links) => {
    expect(pageNumbers(page, pages)).toEqual(links);
  });
});

test("pages rendered together are those rendered alone", async () => {
  const keys: string[] = [];
  for await (const batch of listPage.all(site)) keys.push(...batch);
  expect(keys.length).toBe(29 + 2 + 3 + 5); // 29 first pages, two more of education, Kenya, all.
  const together = await listPage.render(keys.toReversed(), site);
  const alone = keys.toReversed().map((key) => listPage.render([key], site));
  expect((await Promise.all(alone)).flat()).toEqual(together);
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
    const paths = ["/", "/causes/education-3", "/causes/animals", "/countries/ke", "/agents"];
    for (const path of paths) expect(pages).toContain(`<loc>${siteBaseUrl}${path}</loc>`);
  });

  test("drops a file whose profiles are all withdrawn", async () => {
    expect(await site.files("sitemap 2")).toEqual({ "sitemaps/2.xml": null });
  });
});
