import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "cheerio";
import type { Browser, Page } from "playwright-core";
import { eachAtMost } from "#content/runtime/concurrency.ts";
import { pagesOfEachKind } from "#test/support/page-kinds.ts";
import {
  axeFindings,
  axeInstalled,
  chromiumPath,
  openChromium,
  openContext,
} from "#test/support/chromium.ts";
import { clientFile, clientsInstalled } from "#test/support/clients.ts";
import { aGivingSite, type GivingSite } from "#test/support/giving-site.ts";
import { runProgram } from "#test/support/processes.ts";

const widths = [390, 768, 1_440];
/** Pages side by side: each is waited for most of the time. */
const pagesAtOnce = 3;
/** CSS pixels. */
const smallestText = 12;
/** Where money is given nothing may move under a finger; elsewhere a heading may break once more in the other font. */
const shiftMax = (path: string) => (/^\/(?:donate|widget|receipt)/.test(path) ? 0.02 : 0.1);

/** What a reader would stumble over on the page as it is shown now. */
const stumblingBlocks = (page: Page): Promise<string[]> =>
  page.evaluate((leastPx) => {
    const found = new Set<string>();
    const { clientWidth, scrollWidth } = document.documentElement;
    if (scrollWidth > clientWidth) found.add(`${scrollWidth} px wide on ${clientWidth}`);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement: of, textContent } = walker.currentNode;
      if (of === null || textContent?.trim() === "" || !of.checkVisibility()) continue;
      const drawing = of.closest("svg")?.getScreenCTM();
      const px = parseFloat(getComputedStyle(of).fontSize) * (drawing?.a ?? 1);
      if (px < leastPx - 0.05)
        found.add(`${px.toFixed(1)} px: ${textContent?.trim().slice(0, 40)}`);
    }
    return [...found];
  }, smallestText);

/** What a page lacks that would say what it is. */
const gapsOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const main = document.querySelector("main")?.innerText.trim() ?? "";
    const headings = [...document.querySelectorAll("h1")].filter((h1) => h1.checkVisibility());
    const gaps = headings.length === 1 ? [] : ["not one heading that is seen"];
    return main.length < 80 ? [...gaps, `says only "${main}"`] : gaps;
  });

/** Layout shifts since the page was opened, with the elements that moved. */
const shiftsOf = (page: Page): Promise<{ value: number; of: string }[]> =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        type Shift = PerformanceEntry & { value: number; sources: { node: Node | null }[] };
        const nameOf = ({ node }: Shift["sources"][number]) =>
          (node instanceof Element ? node : node?.parentElement)?.outerHTML.slice(0, 60) ?? "gone";
        new PerformanceObserver((list) =>
          resolve(
            (list.getEntries() as Shift[]).map(({ value, sources }) => ({
              value,
              of: sources.map(nameOf).join(" "),
            })),
          ),
        ).observe({ type: "layout-shift", buffered: true });
        setTimeout(() => resolve([]), 50);
      }),
  );

/** The kinds of elements that style sheets tell apart: by their name, and each class of them with their parent's. */
const styledOn = (page: Page): Promise<string[]> =>
  page.evaluate(() => [
    ...new Set(
      [...document.body.querySelectorAll("*")].map(({ localName, className, parentElement: of }) =>
        [localName, className, of?.localName, of?.className].join(" "),
      ),
    ),
  ]);

/** What the source of a page lacks for machines, and what it loads or runs that it must not. */
function faultsOfSource(html: string, path: string): string[] {
  const $ = load(html);
  const contentOf = (name: string) =>
    $(`meta[name="${name}"], meta[property="${name}"]`).attr("content") ?? "";
  const description = contentOf("description");
  const loaded = $('link[rel="stylesheet"], link[rel="icon"], img, script[src], iframe')
    .toArray()
    .map((element) => $(element).attr("href") ?? $(element).attr("src") ?? "");
  const jsonLd: unknown = JSON.parse($('script[type="application/ld+json"]').text() || "{}");
  const facts: Record<string, boolean> = {
    "another language": $("html").attr("lang") === (/^\/(es|fr)\b/.exec(path)?.[1] ?? "en"),
    "not one h1 and one main": $("h1").length === 1 && $("main").length === 1,
    "no title": $("head title").text().trim() !== "",
    "no skip link": $("a.skip").attr("href") === "#content",
    "no canonical address": /^https?:\/\//.test($('link[rel="canonical"]').attr("href") ?? ""),
    "no description": description.length >= 20 && description.length <= 200,
    "not what is shared":
      contentOf("og:description") === description &&
      contentOf("og:title") === $("head title").text(),
    "no JSON-LD": typeof jsonLd === "object" && jsonLd !== null && "@type" in jsonLd,
    "a script inside": $('script:not([type="application/ld+json"]):not([src])').length === 0,
    "a style inside": $("style, [style]").length === 0,
    "loads from elsewhere": loaded.every((address) => /^\/(?!\/)/.test(address)),
    "no style sheet": loaded.some((address) => /^\/_astro\/.+\.css$/.test(address)),
  };
  return Object.keys(facts).filter((fault) => facts[fault] === false);
}

/** Where a page links to within the directory. */
function linksOf(html: string): string[] {
  const $ = load(html);
  return $("a[href], link[href]")
    .toArray()
    .map((link) => $(link).attr("href") ?? "")
    .filter((href) => /^\/(?!\/)/.test(href))
    .map((href) => href.replace(/#.*$/, ""));
}

describe("every kind of page", () => {
  let site: GivingSite;
  let url: string;
  let paths: string[];
  let browser: Browser;
  const sources = new Map<string, string>();

  beforeAll(async () => {
    site = await aGivingSite(() => [], {}, {}, 30);
    url = site.origin;
    paths = await pagesOfEachKind(url);
    for (const path of paths) {
      const answer = await fetch(url + path, { headers: { accept: "text/html" } });
      sources.set(path, await answer.text());
    }
    if (chromiumPath !== null) browser = await openChromium();
  });

  afterAll(async () => {
    await browser?.close();
    await site.close();
  });

  test("is described to machines, runs no script of its own and loads nothing from elsewhere", () => {
    const faults = [...sources].flatMap(([path, html]) =>
      faultsOfSource(html, path).map((fault) => `${path}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });

  test("links to nothing that is not there", async () => {
    const links = new Set([...sources.values()].flatMap(linksOf));
    const missing: string[] = [];
    await eachAtMost(8, [...links], async (link) => {
      const { status } = await fetch(url + link, { headers: { accept: "text/html, */*;q=0.1" } });
      if (status !== 200) missing.push(`${link}: ${status}`);
    });
    expect([links.size > 200, missing]).toEqual([true, []]);
  });

  test.skipIf(!clientsInstalled)("is valid HTML", async () => {
    const folder = join(site.directory.dataDir, "html");
    mkdirSync(folder);
    for (const [path, html] of sources)
      writeFileSync(join(folder, `${path.replaceAll(/\W/g, "-")}.html`), html);
    const program = clientFile("node_modules/html-validate/bin/html-validate.mjs");
    // Scripts and styles are of this origin: no digest has to vouch for them.
    const checks = ["--preset", "standard,document", "--rule", "require-sri:off"];
    const { code, out, err } = await runProgram([process.execPath, program, ...checks, folder]);
    expect([out + err, code]).toEqual(["", 0]);
  });

  const inBrowser = test.skipIf(chromiumPath === null);
  inBrowser(
    "is whole on a phone, a tablet and a desktop, in light and in dark, and shifts nothing",
    async () => {
      const found: string[] = [];
      const dark = new Set<string>();
      // The fonts come with the first page and are kept: what shifts on the others is their own.
      const context = await openContext(browser);
      const look = async (path: string) => {
        const page = await context.newPage();
        await page.setViewportSize({ width: 390, height: 844 });
        const note = (what: string) => found.push(`${path}: ${what}`);
        page.on("pageerror", ({ message }) => note(message));
        page.on("console", (message) => {
          // What is to be paid is asked with 402, and a page that is not there is asked for on purpose.
          if (message.type() === "error" && !/status of (402|404)/.test(message.text()))
            note(message.text());
        });
        await page.goto(url + path, { waitUntil: "networkidle" });
        const shifts = await shiftsOf(page);
        const sum = shifts.reduce((all, { value }) => all + value, 0);
        if (sum > shiftMax(path))
          note(`shifts by ${sum.toFixed(3)}: ${shifts.map(({ of }) => of).join()}`);
        for (const gap of await gapsOf(page)) note(gap);
        for (const width of widths) {
          await page.setViewportSize({ width, height: 900 });
          for (const block of await stumblingBlocks(page)) note(`at ${width}: ${block}`);
        }
        // Other languages have the same elements with other words in them.
        if (axeInstalled && !/^\/(?:es|fr)\b/.test(path)) {
          for (const finding of await axeFindings(page)) note(finding);
          // The other scheme has the same elements in other colours: each kind of them is looked at once.
          if ((await styledOn(page)).every((kind) => dark.has(kind))) return page.close();
          for (const kind of await styledOn(page)) dark.add(kind);
          await page.emulateMedia({ colorScheme: "dark" });
          for (const finding of await axeFindings(page, ["color-contrast"]))
            note(`dark: ${finding}`);
        }
        await page.close();
      };
      const [front = "/", ...others] = paths;
      await look(front);
      await eachAtMost(pagesAtOnce, others, look);
      await context.close();
      expect(found).toEqual([]);
    },
    600_000,
  );

  inBrowser("says what it is without a script", async () => {
    const context = await openContext(browser, { javaScriptEnabled: false });
    const faults: string[] = [];
    // Others were looked at above as they are without one.
    const scripted = [...sources].filter(([, html]) => load(html)("script[src]").length > 0);
    expect(scripted.length).toBeGreaterThan(15);
    await eachAtMost(pagesAtOnce, scripted, async ([path]) => {
      const page = await context.newPage();
      await page.goto(url + path);
      for (const fault of [...(await gapsOf(page)), ...(await stumblingBlocks(page))])
        faults.push(`${path}: ${fault}`);
      await page.close();
    });
    expect(faults).toEqual([]);
    await context.close();
  });
});
