import { openBundleReader } from "#site/delivery/bundle-reader.ts";
import { createBundleServer } from "#site/delivery/bundle-server.ts";
import { type Browser, chromium } from "playwright-core";
import { figure, median, runBench, serving } from "./support/harness.ts";
import { column, serveWhole } from "./support/serve.ts";
import { publisherFolders } from "#site/bundle/manifest.ts";

/** A phone of the middle on slow 4G. Source: Lighthouse's mobile preset. */
const slow4G = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
};
const cpuSlowdown = 4;
const screen = { viewport: { width: 412, height: 823 }, deviceScaleFactor: 1.75, isMobile: true };

const firstResult = "#search-list li";

/** One visit of a browser that was never there: how long until something is seen, and what the whole page asked for. */
async function visit(browser: Browser, url: string, seen: string) {
  const context = await browser.newContext(screen);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  let requests = 0;
  let bytes = 0;
  const fonts = new Set<string>();
  page.on("request", () => (requests += 1));
  devtools.on("Network.responseReceived", ({ requestId, type }) => {
    if (type === "Font") fonts.add(requestId);
  });
  let fontBytes = 0;
  devtools.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    bytes += encodedDataLength;
    if (fonts.has(requestId)) fontBytes += encodedDataLength;
  });
  await devtools.send("Network.enable");
  await devtools.send("Network.emulateNetworkConditions", slow4G);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: cpuSlowdown });
  const startedMs = performance.now();
  await page.goto(url, { waitUntil: "commit" });
  await page.waitForSelector(seen, { timeout: 120_000 });
  const ms = performance.now() - startedMs;
  await page.waitForLoadState("load");
  await context.close();
  return { ms, requests, kB: bytes / 1_000, plainKb: (bytes - fontBytes) / 1_000 };
}

type Visit = Awaited<ReturnType<typeof visit>>;

/** The same files without a service, as a host of files alone has them: it does not look at the query. */
function bareBundle(folder: string) {
  const reader = openBundleReader(publisherFolders(folder).bundle);
  const bundle = createBundleServer(reader);
  const sent = { requests: 0, bytes: 0 };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, origin } = new URL(request.url);
      const answer = bundle.answer(new Request(origin + pathname, request));
      if (answer === null) return new Response(null, { status: 404 });
      const body = await answer.arrayBuffer();
      sent.requests += 1;
      sent.bytes += body.byteLength;
      return new Response(body, answer);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    sent,
    [Symbol.asyncDispose]: async () => {
      await server.stop(true);
      reader.close();
    },
  };
}

await runBench({
  name: "first-result",
  description:
    "A search and a profile in a browser on slow 4G with a processor four times slower, nothing cached (needs Chromium)",
  options: {
    ...serving,
    visits: [5, "How often each page is visited"],
    browser: ["/usr/bin/chromium", "Chromium's program"],
  },
  run: async ({ profiles, port, visits, browser: program, folder }) => {
    await using served = await serveWhole({ folder, profiles, port });
    while (served.manifest.find("pagefind/shards.json") === null) await Bun.sleep(500);
    await using bare = bareBundle(folder);
    const slugs = await column(
      served.store,
      "SELECT slug FROM nonprofits WHERE usdc_wallet IS NOT NULL ORDER BY id LIMIT ?",
      [visits],
    );
    const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
    const each = async (urls: readonly string[], seen: string): Promise<Visit[]> => {
      const made: Visit[] = [];
      for (const url of urls) made.push(await visit(browser, url, seen));
      return made;
    };
    const same = (url: string) => Array.from({ length: visits }, () => url);
    const of = (made: readonly Visit[], what: keyof Visit) => median(made.map((one) => one[what]));
    const search = await each(same(`${served.url}/search?q=clean+water`), firstResult);
    const alone = await each(same(`${bare.url}/search?q=clean+water`), firstResult);
    const profile = await each(
      slugs.map((slug) => `${served.url}/nonprofits/${slug}`),
      "h1",
    );
    await browser.close();
    return {
      title: `A browser on slow 4G, ${profiles} profiles, median of ${visits} visits`,
      figures: [
        figure("first result", of(search, "ms"), "ms", { most: 1_500 }),
        figure("requests of a search", of(search, "requests"), "", { most: 6 }),
        figure("all of a search, with fonts", of(search, "kB"), "kB", { most: 60 }),
        figure("first result without a service", of(alone, "ms"), "ms"),
        figure("its requests", bare.sent.requests / visits, ""),
        figure("all of it", bare.sent.bytes / visits / 1_000, "kB"),
        figure("a profile, without fonts", of(profile, "plainKb"), "kB", { most: 15 }),
        figure("its heading is there", of(profile, "ms"), "ms"),
      ],
    };
  },
});
