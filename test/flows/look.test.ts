import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { eachAtMost } from "#content/runtime/concurrency.ts";
import { pagesOfEachKind } from "#test/support/page-kinds.ts";
import { axeFindings, axeInstalled } from "#test/support/axe.ts";
import { chromiumPath, openChromium } from "#test/support/chromium.ts";
import { freePort } from "#test/support/processes.ts";
import { putCompiledSite } from "#test/support/publisher.ts";

const widths = [390, 768, 1_440];
/** Most of the time a page is waited for. */
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

describe.skipIf(chromiumPath === null)("every kind of page", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "almoner-look-"));
  let url: string;
  let paths: string[];
  let directory: Bun.Subprocess;
  let browser: Browser;

  beforeAll(async () => {
    await putCompiledSite(dataDir);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const started = Bun.spawn(
      [process.execPath, join(import.meta.dirname, "../../scripts/start.ts"), "--profiles", "120"],
      {
        env: {
          ...process.env,
          ALMONER_DATA_DIR: dataDir,
          ALMONER_PORT: String(port),
          ALMONER_CHAIN_PORT: "0",
          ALMONER_READS_PER_MINUTE: "0",
          ALMONER_LOG_LEVEL: "silent",
        },
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    directory = started;
    const decoder = new TextDecoder();
    let said = "";
    for await (const piece of started.stdout) {
      said += decoder.decode(piece);
      if (said.includes("The bundle is complete")) break;
    }
    paths = await pagesOfEachKind(url);
    browser = await openChromium();
  }, 240_000);

  afterAll(async () => {
    await browser.close();
    directory.kill("SIGTERM");
    await directory.exited;
    rmSync(dataDir, { recursive: true });
  }, 240_000);

  test("is whole on a phone, a tablet and a desktop, in light and in dark, and shifts nothing", async () => {
    const found: string[] = [];
    // The fonts come with the first page and are kept: what shifts on the others is their own.
    const context = await browser.newContext();
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
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        for (const block of await stumblingBlocks(page)) note(`at ${width}: ${block}`);
      }
      if (axeInstalled) {
        for (const finding of await axeFindings(page)) note(finding);
        // The other scheme has the same elements in other colours.
        await page.emulateMedia({ colorScheme: "dark" });
        for (const finding of await axeFindings(page, ["color-contrast"])) note(`dark: ${finding}`);
      }
      await page.close();
    };
    const [front = "/", ...others] = paths;
    await look(front);
    await eachAtMost(pagesAtOnce, others, look);
    await context.close();
    expect(found).toEqual([]);
  }, 600_000);

  test("says what it is without a script", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    const found: string[] = [];
    for (const path of paths) {
      await page.goto(url + path);
      const main = (await page.locator("main").innerText()).trim();
      if ((await page.locator("h1:visible").count()) !== 1) found.push(`${path}: no heading`);
      if (main.length < 80) found.push(`${path}: says only "${main}"`);
      for (const block of await stumblingBlocks(page)) found.push(`${path}: ${block}`);
    }
    expect(found).toEqual([]);
    await context.close();
  }, 240_000);
});
