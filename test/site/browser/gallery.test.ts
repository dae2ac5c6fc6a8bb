import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { parse } from "csv-parse/sync";
import { Charts, Stats } from "#content/contract/stats.ts";
import { toSummary } from "#content/nonprofit/wire.ts";
import { storedCharts } from "#content/statistics/charts-store.ts";
import { chartIds } from "#content/statistics/charts.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { headersOf } from "#site/delivery/http-headers.ts";
import { compareView } from "#site/profile/compare-view.ts";
import { renderList, renderView } from "#site/documents/list-page.ts";
import { searchView } from "#site/lists/search-view.ts";
import { axeFindings, axeInstalled, describeInBrowser, openPage } from "#test/support/chromium.ts";
import { aSite, theSite, siteBaseUrl, type TestSite } from "#test/support/compiled-site.ts";
import { attack, gallery, scripts } from "#test/support/gallery.ts";
import { serveHere } from "#test/support/serve-here.ts";

const phone = 390;
const wider = [768, 1_440];
/** These have the elements of one whose every text is hostile, or of another list; test/flows/look.test.ts has their colours. */
const isLike = /^\/(?:(?:nonprofits|donate)\/(?!hostile)|browse\.|compare\.|search\.)/;
/** The same bytes as another page, or the same name where another one of no spaces has been. */
const isAgain = /^\/(?:nonprofits\.|donate\/(?:emoji|chinese|devanagari))/;
const letterPxMin = 12;
const ofTables = [
  "color-contrast",
  "scrollable-region-focusable",
  "scope-attr-valid",
  "td-headers-attr",
  "th-has-data-cells",
  "empty-table-header",
];

const files = new Map<string, string | Uint8Array>();
const sample = await theSite();
await seedDirectory(sample.store, { profiles: 120, seedNumber: 1 });
for (const key of ["page statistics", "chart-files", "stats-json"])
  for (const [path, body] of Object.entries(await sample.files(key)))
    files.set(`/${path}`, body ?? "");

/** What is wider than its place, or cut off in it. */
const clipped = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement;
    const found = scrollWidth > clientWidth ? [`the page: ${scrollWidth} px`] : [];
    for (const one of document.querySelectorAll<HTMLElement>("body *")) {
      if (!one.checkVisibility() || one.closest(".unseen, svg, input, .scroll") !== null) continue;
      const { overflowX, overflowY } = getComputedStyle(one);
      const { right, width } = one.getBoundingClientRect();
      const isCut =
        (overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1) ||
        (overflowY === "hidden" && one.scrollHeight > one.clientHeight + 1);
      if (isCut || (width > 0 && right > clientWidth + 1)) found.push(one.outerHTML.slice(0, 90));
    }
    return found;
  });

const rowsOf = (id: (typeof chartIds)[number]): string[][] =>
  parse(String(files.get(`/statistics/${id}.csv`)));

test("each chart says the same in its table, in its file and in what is kept", async () => {
  expect(Stats.parse(JSON.parse(String(files.get("/api/stats.json")))).charts).toBeUndefined();
  const charts = await storedCharts(sample.store);
  const { $ } = await sample.page("page statistics");
  for (const id of chartIds) {
    const [names = [], ...rows] = rowsOf(id);
    const records: Record<string, string | number>[] = Charts.shape[id].parse(charts[id]);
    expect(records.length).toBeGreaterThan(1);
    expect(rows).toEqual(records.map((record) => names.map((name) => String(record[name]))));
    const shown = $(`#${id} tbody tr`)
      .toArray()
      .map((row) =>
        $(row)
          .find(".number")
          .toArray()
          .map((cell) => Number($(cell).text().replaceAll(/[,%]/g, ""))),
      );
    // The page leaves rows of zeros out.
    const numbers = records
      .map((record) => Object.values(record).filter((one) => typeof one === "number"))
      .filter((row) => row.some((number) => number !== 0));
    expect(shown).toEqual(numbers);
    expect($(`#${id} a[href="/statistics/${id}.csv"]`).length).toBe(1);
    expect($(`#${id} svg[role=img]`).length).toBe(2);
  }
  expect($("script[src], [style], svg style").length).toBe(0);
});

/** Letters that are too small, cut off or run into each other, and what is wider than the screen. */
const unreadable = (page: Page): Promise<string[]> =>
  page.evaluate((least) => {
    const { clientWidth, scrollWidth } = document.documentElement;
    const pictures = [...document.querySelectorAll<SVGSVGElement>("svg.drawn")];
    const seen = pictures.filter((one) => one.checkVisibility());
    const apart = (one: DOMRect, other: DOMRect) =>
      other.left >= one.right ||
      other.right <= one.left ||
      other.top >= one.bottom - 3 ||
      other.bottom - 3 <= one.top;
    const within = (one: DOMRect, box: DOMRect) =>
      Math.max(box.left - one.left, one.right - box.right) <= 1 &&
      Math.max(box.top - one.top, one.bottom - box.bottom) <= 2;
    const wrongIn = (picture: SVGSVGElement): string[] => {
      const box = picture.getBoundingClientRect();
      const scale = box.width / picture.viewBox.baseVal.width;
      const texts = [...picture.querySelectorAll("text")].map((text) => ({
        words: text.textContent,
        size: Number.parseFloat(getComputedStyle(text).fontSize) * scale,
        at: text.getBoundingClientRect(),
      }));
      return texts.flatMap(({ words, size, at }) => [
        ...(size < least ? [`${words} has ${size} px`] : []),
        ...(within(at, box) ? [] : [`${words} is cut off`]),
        ...texts
          .filter((other) => other.at !== at && !apart(at, other.at))
          .map((other) => `${words} runs into ${other.words}`),
      ]);
    };
    return [
      ...(scrollWidth > clientWidth ? [`the page is ${scrollWidth} wide`] : []),
      ...(seen.length * 2 === pictures.length ? [] : [`${seen.length} pictures are seen`]),
      ...seen.flatMap(wrongIn),
    ];
  }, letterPxMin);

describeInBrowser("drawn pages in a browser", (browser) => {
  let site: TestSite;
  let server: Bun.Server<undefined>;
  beforeAll(async () => {
    site = await aSite();
    const stored = await site.save(gallery);
    const keys = [
      ...gallery.map((_, at) => `profile ${at + 1}`),
      "list-page all 1",
      "list-page cause:education 1",
    ];
    for (const key of keys)
      for (const [path, body] of Object.entries(await site.files(key)))
        if (body !== null) files.set(`/${path}`, body);
    for (const [path, records] of [
      ["/compare.html", stored.slice(0, 2)],
      ["/hostile-compare.html", stored.slice(-4)],
    ] as const) {
      const not_found = [{ slug: attack, nearest: [{ slug: "x", name: attack }] }];
      const view = compareView({ slugs: [attack], records, not_found }, site);
      files.set(path, await renderView(site, "/compare", view, { markdown: false }));
    }
    const nonprofits = stored.map((record) => ({
      ...toSummary(record, siteBaseUrl),
      match: "all" as const,
    }));
    const values = gallery.map(({ region }) => ({ value: region ?? "—", count: 3 }));
    const none = { city: [], claimed: [], accepts: [], has_website: [], income: [] };
    for (const [path, q, total] of [
      ["/search.html", scripts, 99],
      ["/hostile-search.html", attack, 99],
      ["/empty-search.html", attack, 0],
    ] as const) {
      const answer = {
        understood: {
          number: null,
          place: { name: q, shown: q },
          words: ["help", "the"],
          corrections: [],
        },
        note: q,
        total,
        matching: total,
        nonprofits: total === 0 ? [] : nonprofits,
        facets: { ...none, cause: [{ value: "education", count: 3 }], country: [], region: values },
      };
      const asked = { q, region: attack };
      const view = { view: searchView(asked, answer), answered: true };
      files.set(path, await renderList(site, "/search", view, { markdown: false }));
    }
    for (const { path, file } of site.renderer.assets)
      files.set(`/${path}`, new Uint8Array(readFileSync(file)));
    server = serveHere(({ url }) => {
      const { pathname } = new URL(url);
      const body = files.get(pathname);
      const { contentType, others } = headersOf(pathname.slice(1));
      const headers = { ...others, "content-type": contentType };
      return new Response(typeof body === "string" ? body : new Uint8Array(body ?? []), {
        headers,
        status: body === undefined ? 404 : 200,
      });
    });
  });
  afterAll(async () => {
    await server.stop(true);
    site.close();
  });

  test("nothing of the gallery overflows, is cut off, runs, or is found by axe, on any screen", async () => {
    const page = await openPage(browser());
    const found: string[] = [];
    page.on("dialog", (dialog) => {
      found.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    const pages = [...files.keys()].filter(
      (path) => /^\/(?!statistics|es|fr).*\.html$/.test(path) && !isAgain.test(path),
    );
    expect(pages.length).toBeGreaterThan(gallery.length + 6);
    for (const path of pages) {
      await page.goto(`http://127.0.0.1:${server.port}${path}`);
      for (const width of isLike.test(path) ? [phone] : [phone, ...wider]) {
        await page.setViewportSize({ width, height: 900 });
        for (const one of await clipped(page)) found.push(`${path} at ${width}: ${one}`);
      }
      if (!axeInstalled || isLike.test(path)) continue;
      for (const finding of await axeFindings(page)) found.push(`${path}: ${finding}`);
    }
    expect(found).toEqual([]);
    // A page of search without a service asks for what is not here.
    expect(page.troubles.filter((one) => !/Failed to load resource/.test(one))).toEqual([]);
  });

  test("statistics are readable on every screen, and axe finds nothing in an open table", async () => {
    const page = await openPage(browser());
    await page.goto(`http://127.0.0.1:${server.port}/statistics.html`);
    await page.evaluate(() => document.fonts.ready);
    const found: string[] = [];
    for (const width of [320, phone, ...wider]) {
      await page.setViewportSize({ width, height: 900 });
      for (const one of await unreadable(page)) found.push(`at ${width}: ${one}`);
    }
    // Both schemes of the whole page: test/flows/look.test.ts.
    await page.click("#growth summary");
    if (axeInstalled) found.push(...(await axeFindings(page, ofTables)));
    expect(found).toEqual([]);
    expect(page.troubles).toEqual([]);
  });
});
