import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import type { Page } from "playwright-core";
import { Charts, Stats } from "#content/contract/stats.ts";
import { storedCharts } from "#content/statistics/charts-store.ts";
import { chartIds } from "#content/statistics/charts.ts";
import { headersOf } from "#site/delivery/http-headers.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import { axeFindings, axeInstalled, describeInBrowser, openPage } from "#test/support/chromium.ts";
import { aSite } from "#test/support/compiled-site.ts";

const letterPxMin = 12;

const files = new Map<string, string>();
const site = await aSite();
await seedDirectory(site.store, { profiles: 410, seedNumber: 1 });
for (const key of ["page statistics", "chart-files", "stats-json"]) {
  for (const [path, body] of Object.entries(await site.files(key))) files.set(path, body ?? "");
}
afterAll(() => site.close());

const rowsOf = (id: (typeof chartIds)[number]): string[][] =>
  parse(files.get(`statistics/${id}.csv`) ?? "");

test("each chart says the same in its table, in its file and in what is kept", async () => {
  expect(Stats.parse(JSON.parse(files.get("api/stats.json") ?? "")).charts).toBeUndefined();
  const charts = await storedCharts(site.store);
  const { $ } = await site.page("page statistics");
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

describeInBrowser("the page of statistics in a browser", (browser) => {
  let server: Bun.Server<undefined>;
  beforeAll(async () => {
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) => {
        const { pathname } = new URL(url);
        const path = pathname === "/statistics" ? "statistics.html" : pathname.slice(1);
        const asset = site.renderer.assets.find((one) => one.path === path);
        const body =
          asset === undefined ? files.get(path) : new Uint8Array(readFileSync(asset.file));
        const { contentType, others } = headersOf(path);
        return new Response(body ?? null, {
          headers: { ...others, "content-type": contentType },
          status: body === undefined ? 404 : 200,
        });
      },
    });
  });
  afterAll(() => server.stop(true));

  test("is readable on every screen and in both themes, and axe finds nothing", async () => {
    const page = await openPage(browser());
    await page.goto(`http://127.0.0.1:${server.port}/statistics`);
    await page.evaluate(() => document.fonts.ready);
    const found: string[] = [];
    for (const width of [320, 390, 768, 1_440]) {
      await page.setViewportSize({ width, height: 900 });
      for (const one of await unreadable(page)) found.push(`at ${width}: ${one}`);
    }
    await page.click("#growth summary");
    for (const colorScheme of axeInstalled ? (["light", "dark"] as const) : []) {
      await page.emulateMedia({ colorScheme });
      for (const one of await axeFindings(page)) found.push(`${colorScheme}: ${one}`);
    }
    expect(found).toEqual([]);
    expect(page.troubles).toEqual([]);
  });
});
