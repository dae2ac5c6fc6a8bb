import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { openBundleReader } from "#site/delivery/bundle-reader.ts";
import { createBundleServer } from "#site/delivery/bundle-server.ts";
import { chromiumPath, openChromium, openPage, type WatchedPage } from "#test/support/chromium.ts";
import { aDirectory, type Directory, publisherFolders } from "#test/support/publisher.ts";

if (chromiumPath === null) {
  process.stderr.write(
    "skipped: the search box needs a browser (Debian: apt-get install chromium)\n",
  );
}

const schools = Array.from({ length: 40 }, (_, at) => ({
  slug: `night-school-${at}`,
  name: `Night School ${at}`,
  causes: ["education"],
  country_code: at % 2 === 0 ? "KE" : "FR",
  mission: "Evening classes for people who work by day.",
}));
const wells = {
  slug: "wells-of-kisumu",
  name: "Wells of Kisumu",
  city: "Kisumu",
  country_code: "KE",
  tagline: `Clean water <img src=x onerror="document.title='broken'"> for all`,
};

describe.skipIf(chromiumPath === null)("the search box in a browser", () => {
  let browser: Browser;
  let directory: Directory;
  let server: Bun.Server<undefined>;
  let withIndex = true;
  beforeAll(async () => {
    directory = await aDirectory([...schools, wells], { searchIndex: true });
    await directory.publisher.buildAll({ processes: 1 });
    await directory.drain();
    const bundle = createBundleServer(openBundleReader(publisherFolders(directory.dataDir).bundle));
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => {
        const { pathname } = new URL(request.url);
        const answered = withIndex || !pathname.startsWith("/pagefind/");
        if (pathname === "/api/search") return Response.json(fromService);
        return (answered ? bundle.answer(request) : null) ?? new Response(null, { status: 404 });
      },
    });
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop(true);
    directory.close();
  });

  const home = async (): Promise<WatchedPage> => {
    const page = await openPage(browser);
    await page.goto(`http://127.0.0.1:${server.port}/`, { waitUntil: "networkidle" });
    return page;
  };
  const titles = (page: WatchedPage) => page.locator("#search-results li a").allTextContents();

  test("loads nothing of the index before the field has the focus", async () => {
    withIndex = true;
    const page = await home();
    expect(page.asked.filter((path) => path.startsWith("/pagefind/"))).toEqual([]);
    await page.focus("#search-words");
    await page.waitForResponse((answer) => answer.url().includes("pf_meta"));
    expect(page.troubles).toEqual([]);
  });
  test("finds across shards, says about how many, and obeys the policy of the page", async () => {
    withIndex = true;
    const page = await home();
    await page.fill("#search-words", "evening classes");
    await page.waitForSelector("#search-results a");
    expect(await page.textContent("#search-count")).toBe("About 40 nonprofits");
    expect(await titles(page)).toHaveLength(10);
    await page.click("#search-results button");
    await page.waitForSelector("#search-results li:nth-child(20) a");
    expect(new Set(await titles(page)).size).toBe(20);
    expect(page.troubles).toEqual([]);
  });
  test("puts the name first, draws text as text, and is led through by keys", async () => {
    withIndex = true;
    const page = await home();
    await page.fill("#search-words", "kisumu");
    await page.waitForSelector("#search-results a");
    expect(await titles(page)).toEqual(["Wells of Kisumu"]);
    expect(await page.textContent("#search-results .note")).toBe("Kisumu, Kenya");
    expect(await page.textContent("#search-results .line")).toBe(wells.tagline);
    expect(await page.title()).not.toBe("broken");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/nonprofits/wells-of-kisumu");
    expect(await page.textContent("h1")).toBe("Wells of Kisumu");
    expect(page.troubles).toEqual([]);
  });
  test("asks the service while there is no index", async () => {
    withIndex = false;
    const page = await home();
    await page.fill("#search-words", "night");
    await page.waitForSelector("#search-results a");
    expect(await titles(page)).toEqual(["Night School 1"]);
    expect(await page.textContent("#search-count")).toBe("1 nonprofit");
    // The browser itself reports the missing file; nothing else may be wrong.
    expect(page.troubles.filter((trouble) => !trouble.includes("404"))).toEqual([]);
  });
});

const fromService = {
  total: 1,
  nonprofits: [
    {
      slug: "night-school-1",
      name: "Night School 1",
      tagline: null,
      mission: "Classes.",
      city: null,
      country: "France",
    },
  ],
};
