import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { until } from "#test/support/until.ts";
import { openBundleReader } from "#site/delivery/bundle-reader.ts";
import { createBundleServer } from "#site/delivery/bundle-server.ts";
import { describeInBrowser, openPage, type WatchedPage } from "#test/support/chromium.ts";
import { aBuiltDirectory, type Directory, publisherFolders } from "#test/support/publisher.ts";
import { serveHere } from "#test/support/serve-here.ts";

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

describeInBrowser("the search box in a browser", (browser) => {
  let directory: Directory;
  let server: Bun.Server<undefined>;
  let withService = true;
  let isSilent = false;
  let unanswered = 0;
  let note: string | null = null;
  let matching = 1;
  let asked: URLSearchParams[] = [];
  beforeAll(async () => {
    directory = await aBuiltDirectory([...schools, wells], { searchIndex: true });
    await directory.publisher.searchJob.run();
    const bundle = createBundleServer(openBundleReader(publisherFolders(directory.dataDir).bundle));
    server = serveHere((request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/api/search" && isSilent) {
        unanswered++;
        return new Promise<Response>(() => {});
      }
      if (pathname === "/api/search" && withService) {
        asked.push(searchParams);
        return Response.json({ ...fromService, note, matching });
      }
      // A host of files alone does not look at the query.
      const file = /^\/(es\/)?search$/.test(pathname)
        ? new Request(new URL(pathname, request.url))
        : request;
      return bundle.answer(file) ?? new Response(null, { status: 404 });
    });
  });
  afterAll(async () => {
    await server.stop(true);
    directory.close();
  });

  beforeEach(() => {
    [withService, isSilent, unanswered, note, matching, asked] = [true, false, 0, null, 1, []];
  });
  const opened = async (path = "/"): Promise<WatchedPage> => {
    const page = await openPage(browser());
    await page.goto(`http://127.0.0.1:${server.port}${path}`, { waitUntil: "networkidle" });
    return page;
  };
  /** Types words into the box and waits for results. */
  const search = async (page: WatchedPage, words: string) => {
    await page.fill("#search-words", words);
    await page.waitForSelector("#search-results a");
  };
  /** Types words into the box and waits until it has said what became of them. */
  const searchToEnd = async (page: WatchedPage, words: string) => {
    await page.fill("#search-words", words);
    await page.waitForFunction(
      (typed) =>
        new URLSearchParams(location.search).get("q") === typed &&
        document.querySelector("#search-count")?.textContent !== "Searching…",
      words,
    );
  };
  // The browser itself reports the missing service.
  const unexpected = (page: WatchedPage) => page.troubles.filter((one) => !one.includes("404"));
  const titles = (page: WatchedPage) => page.locator("#search-results li a").allTextContents();

  test("asks the service, takes away what it read in the words on request, and keeps the search in the address", async () => {
    const page = await opened();
    await search(page, "night france");
    expect(await titles(page)).toEqual(["Night School 1", "Night School 3"]);
    expect(await page.textContent("#search-count")).toBe(countOfService);
    expect(await page.locator("#search-results .note").allTextContents()).toEqual([
      "Education · France · Income: Under 10,000 · Registered",
      "Education · France · Income: Under 10,000",
    ]);
    expect(await page.textContent("#search-results li:nth-child(2)")).toStartWith(
      "Related: these have some of the words, or work for the same causeNight School 3 Tax exemption revoked",
    );
    await page.click("#search-count button:nth-of-type(2)");
    await page.waitForURL("**/?q=night+france&literal=1");
    await page.waitForSelector("#search-count button");
    const submitted = () =>
      page.$eval("#search", (form) => [...new FormData(form as HTMLFormElement)].join("&"));
    expect(await submitted()).toBe("q,night france&literal,1");
    await page.click("#search-count button");
    await page.waitForURL("**/?q=night");
    await until("the third request", () => asked.length === 3);
    expect(await submitted()).toBe("q,night");
    const sent = asked.map((params) => [params.get("q"), params.get("literal")]);
    expect(sent).toEqual([
      ["night france", null],
      ["night france", "1"],
      ["night", null],
    ]);
    expect(page.asked.filter((path) => path.startsWith("/pagefind/"))).toEqual([]);
    expect(page.troubles).toEqual([]);

    // The address keeps the search: Back and Reload find it again, and Enter leads to its page.
    await page.fill("#search-words", "night france");
    await page.waitForFunction(() => location.search === "?q=night+france");
    await page.waitForSelector("#search-results a");
    await page.click("#search-results a");
    await page.waitForURL("**/nonprofits/night-school-1");
    await page.goBack();
    await page.waitForSelector("#search-results a");
    expect(await page.inputValue("#search-words")).toBe("night france");
    await page.reload();
    await page.waitForSelector("#search-results a");
    await page.press("#search-words", "Enter");
    await page.waitForURL("**/search?q=night+france");
    await page.goBack();
    await page.waitForSelector("#search-results a");
    await page.fill("#search-words", "");
    await page.waitForFunction(() => location.search === "");
    expect(unexpected(page)).toEqual([]);
  });
  test("says in the language of the page how the words were read", async () => {
    const page = await opened("/es");
    await search(page, "night france");
    expect(await page.textContent("#search-count")).toStartWith("2 organizaciones en Francia ×");
    const notes = await page.locator("#search-results .note").allTextContents();
    expect(notes[0]?.replaceAll("\u00A0", " ")).toContain(" · Francia · ");
    matching = 0;
    note = "No profile has all of the words. These have some of them.";
    await page.fill("#search-words", "night rome");
    await page.waitForFunction(() =>
      document.querySelector("#search-count")?.textContent?.includes("resultados parecidos"),
    );
    expect(await page.textContent("#search-count")).not.toContain("words");
  });
  test("does not wait for a service that never answers", async () => {
    isSilent = true;
    const page = await opened();
    await search(page, "night");
    expect((await titles(page))[0]).toStartWith("Night School");
    // Once it answers again, so does the box: the search after next at the latest.
    isSilent = false;
    let turn = 0;
    await until("the service's answer", async () => {
      await searchToEnd(page, `night ${++turn}`);
      return (await page.textContent("#search-count")) === countOfService;
    });
  });

  test("stays with a service that answers although an older search came to nothing", async () => {
    isSilent = true;
    const page = await opened();
    const late = page.waitForEvent("requestfailed", (request) => request.url().includes("/api/"));
    await page.fill("#search-words", "night");
    await until("the first request", () => unanswered === 1);
    isSilent = false;
    await searchToEnd(page, "night one");
    await late;
    await searchToEnd(page, "night two");
    expect(await page.textContent("#search-count")).toBe(countOfService);
  });

  test("finds across shards, says about how many, and obeys the policy of the page", async () => {
    withService = false;
    const page = await opened();
    await search(page, "evening classes");
    expect(await page.textContent("#search-count")).toBe("About 40 nonprofits");
    expect(await titles(page)).toHaveLength(10);
    await page.click("#search-results button");
    await page.waitForSelector("#search-results li:nth-child(20) a");
    expect(new Set(await titles(page)).size).toBe(20);
    // The name comes first, text is drawn as text, and keys lead through.
    await page.fill("#search-words", "kisumu");
    await page.waitForSelector("#search-results a:has-text('Kisumu')");
    expect(await titles(page)).toEqual(["Wells of Kisumu"]);
    expect(await page.textContent("#search-results .note")).toBe("Kisumu, Kenya");
    expect(await page.textContent("#search-results .line")).toBe(wells.tagline);
    expect(await page.title()).not.toBe("broken");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/nonprofits/wells-of-kisumu");
    expect(await page.textContent("h1")).toBe("Wells of Kisumu");
    expect(unexpected(page)).toEqual([]);
  });
  test("has an address without a service, too, where the index answers, narrows and says what it cannot", async () => {
    withService = false;
    const page = await opened("/es/search?q=evening");
    const links = () => page.locator("#narrow a").allTextContents();
    const results = () => page.locator("#search-list li > a").count();
    await page.waitForSelector("#narrow a");
    // Each result is for education: that narrows nothing.
    expect(await links()).toEqual(["Francia 20", "Kenia 20"]);
    expect(await results()).toBe(20);
    expect(await page.textContent("#search-list .note")).toMatch(/^(Francia|Kenia)$/);
    await page.click("#search-list button");
    await page.waitForSelector("#search-list li:nth-child(40) a");
    await page.click("#narrow li:nth-child(2) a");
    await page.waitForURL("**/es/search?q=evening&country=KE");
    await page.waitForSelector("#narrow a");
    expect(await links()).toEqual(["Kenia ×(quitar)"]);
    expect(await page.textContent("#search-heading")).toBe("Alrededor de 20 para «evening»");
    expect(await page.inputValue('#search [name="country"]')).toBe("KE");
    await page.goto(`http://127.0.0.1:${server.port}/search?cause=education&country=FR`);
    await page.waitForSelector("#narrow a");
    expect(await page.textContent("#search-heading")).toBe("About 20 for “Education, France”");
    expect(await links()).toEqual(["Education ×(remove)", "France ×(remove)"]);
    expect(await page.isVisible("#search-none")).toBe(false);
    await page.goto(`http://127.0.0.1:${server.port}/search?q=kisumu%3Cb%3E`);
    await page.waitForSelector("#search-list a");
    expect(await page.textContent("#search-heading")).toBe("1 for “kisumu<b>”");
    expect(await page.textContent(".notice")).toContain("has no search service");
    expect(await page.getAttribute("#search-list a", "href")).toBe("/nonprofits/wells-of-kisumu");
    expect(await page.inputValue("#search-words")).toBe("kisumu<b>");
    await page.goto(`http://127.0.0.1:${server.port}/search?q=zzzz`);
    await page.waitForSelector("#search-none", { state: "visible" });
    expect(page.asked.filter((path) => path.startsWith("/api/"))).toEqual([]);
    expect(unexpected(page)).toEqual([]);
  });
});

const found = {
  slug: "night-school-1",
  name: "Night School 1",
  tagline: null,
  mission: "Classes.",
  city: null,
  region: null,
  country: "France",
  causes: ["education"],
  beneficiaries_per_year: null,
  income_band: "under-10k",
  standing: "registered",
};
const countOfService = "2 nonprofits in France × “night” instead of “nigth” ×";
const fromService = {
  total: 2,
  understood: {
    number: null,
    place: { name: "France", shown: "France" },
    words: ["night"],
    corrections: [{ typed: "nigth", meant: "night" }],
  },
  nonprofits: [
    found,
    { ...found, slug: "night-school-3", name: "Night School 3", standing: "revoked" },
  ],
};
