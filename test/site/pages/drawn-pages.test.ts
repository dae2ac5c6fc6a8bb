import { expect, test } from "bun:test";
import { load } from "cheerio";
import { openDrawing } from "#scripts/start/drawing.ts";
import { aRenderer } from "#test/support/compiled-site.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theService } from "#test/support/service.ts";

const place = { dataDir: "", baseUrl: "https://almoner.example", network: "local" } as const;
const service = await theService({
  context: { draw: openDrawing(place, aRenderer) },
  records: [
    aNonprofit({ slug: "lantern", name: "Lantern Water", causes: ["education"], ghd_aligned: 1 }),
    aNonprofit({ slug: "river", name: "River Water", causes: ["education"] }),
  ],
});

const browser = { accept: "text/html,*/*;q=0.8" };
const ask = async (path: string) => {
  const answer = await service.get(path, browser);
  return { answer, $: load(await answer.text()) };
};

test.each([
  [404, "/es/causes/education-0"],
  [404, "/es/causes/education-9999"],
  [404, "/fr/countries/ke-2"],
  [404, "/browse?page=99"],
  [404, "/es/browse?page=2"],
  [404, "/es/search?q=trust&page=9"],
  // Nothing stands on them, and yet they are there.
  [200, "/browse"],
  [200, "/es/browse?city=Nowhere"],
  [200, "/es/causes/education"],
])("a page of a list is %d, as it is beyond the end or not: %s", async (status, path) => {
  const { answer, $ } = await ask(path);
  expect(answer.status).toBe(status);
  if (status === 404) expect($(".list").length).toBe(0);
});

test.each([
  ["/browse?cause=education&sort=name", "/api/nonprofits?cause=education&sort=name&format="],
  ["/browse", "/api/nonprofits?format="],
  ["/es/countries/ke", "/api/nonprofits?country=ke&format="],
  ["/search?q=water", "/api/search?q=water&format="],
])("the whole of %s is to be had as a file", async (path, file) => {
  const { $ } = await ask(path);
  const links = $("a[download]").toArray();
  expect(links.map((link) => $(link).attr("href"))).toEqual([`${file}csv`, `${file}ndjson`]);
  expect($("a[download]").first().attr("rel")).toBe("nofollow");
  const csv = await service.get(links[0]?.attribs["href"] ?? "");
  expect((await csv.text()).split("\r\n").length).toBe(4);
});

test("nothing is no file", async () => {
  for (const path of ["/browse?city=Nowhere", "/search?q=nothing-like-it"])
    expect((await ask(path)).$("a[download]").length).toBe(0);
});

test("a search for alignment keeps it, and counts nothing else beside its results", async () => {
  for (const path of ["/search?ghd_aligned=1", "/search?q=water&ghd_aligned=1"]) {
    const { $ } = await ask(path);
    expect($(".list li").length).toBe(1);
    expect($(".chips").text()).toContain("Global health and development");
    expect($('form#search [name="ghd_aligned"]').attr("value")).toBe("1");
    for (const link of $(".facets a").toArray()) {
      expect($(link).attr("href")).toContain("ghd_aligned=1");
      expect($(link).parent().text()).toContain("1");
    }
  }
});

test.each([
  ["/es/nonprofits", "/es/browse"],
  ["/es/nonprofits/lantern.html", "/es/nonprofits/lantern"],
  ["/fr/nonprofits/lantern/history", "/fr/history/lantern"],
  ["/fr/causes/education.html", "/fr/causes/education"],
  ["/causes/education/2.md", "/causes/education-2.md"],
])("%s leads to %s", async (path, location) => {
  const { answer } = await ask(path);
  expect([answer.status, answer.headers.get("location")]).toEqual([308, location]);
});

const educationKeys = "list:cause:education/1,list:cause:education,lists,all";
test.each([
  ["/history/lantern", "profile:lantern,profiles,all", "public, max-age=5, stale-while-"],
  ["/es/nonprofits/lantern", "profile:lantern,profiles,all", "public, max-age=60, stale-while-"],
  ["/es/nonprofits/nobody", "missing,all", "public, max-age=10"],
  ["/es/causes/education", educationKeys, "public, max-age=60, stale-while-"],
])("a cache keeps the drawn page %s with %s", async (path, keys, cacheControl) => {
  const { answer } = await ask(path);
  expect(answer.headers.get("cache-tag")).toBe(keys);
  expect(answer.headers.get("cache-control")).toStartWith(cacheControl);
});
