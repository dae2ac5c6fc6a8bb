import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { toSummary } from "#content/nonprofit/wire.ts";
import { headersOf } from "#site/delivery/http-headers.ts";
import { compareView } from "#site/profile/compare-view.ts";
import { drawnList, drawnView } from "#site/documents/list-page.ts";
import { searchView } from "#site/lists/search-view.ts";
import { axeFindings, axeInstalled, describeInBrowser, openPage } from "#test/support/chromium.ts";
import { aSite, siteBaseUrl, type TestSite } from "#test/support/compiled-site.ts";
import { attack, gallery, scripts } from "#test/support/gallery.ts";

const phone = 390;
const wider = [768, 1_440];
/** These have the elements of one whose every text is hostile, or of another list; test/flows/look.test.ts has their colours. */
const isLike = /^\/(?:(?:nonprofits|donate)\/(?!hostile)|countries\/|compare\.|search\.)/;
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

describeInBrowser("the gallery in a browser", (browser) => {
  let site: TestSite;
  let server: Bun.Server<undefined>;
  const files = new Map<string, string | Uint8Array>();

  beforeAll(async () => {
    site = await aSite();
    const stored = await site.save(gallery);
    const keys = [
      ...gallery.map((_, at) => `profile ${at + 1}`),
      ...["list-page all 1", "list-page cause:education 1", "list-page country:KE 1"],
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
      files.set(path, await drawnView(site, "/compare", view, { markdown: false }));
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
        ...{ note: q, total, matching: total, nonprofits: total === 0 ? [] : nonprofits },
        facets: { ...none, cause: [{ value: "education", count: 3 }], country: [], region: values },
      };
      const asked = { q, region: attack };
      const view = { view: searchView(asked, answer), answered: true };
      files.set(path, await drawnList(site, "/search", view, { markdown: false }));
    }
    for (const { path, file } of site.renderer.assets)
      files.set(`/${path}`, new Uint8Array(readFileSync(file)));
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) => {
        const { pathname } = new URL(url);
        const body = files.get(pathname);
        const { contentType, others } = headersOf(pathname.slice(1));
        const headers = { ...others, "content-type": contentType };
        return new Response(typeof body === "string" ? body : new Uint8Array(body ?? []), {
          headers,
          status: body === undefined ? 404 : 200,
        });
      },
    });
  });
  afterAll(async () => {
    await server.stop(true);
    site.close();
  });

  test("nothing overflows, is cut off, runs, or is found by axe, on any screen", async () => {
    const page = await openPage(browser());
    const found: string[] = [];
    page.on("dialog", (dialog) => {
      found.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    const pages = [...files.keys()].filter((path) => path.endsWith(".html"));
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
});
