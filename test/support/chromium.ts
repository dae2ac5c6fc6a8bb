import { afterAll, afterEach, beforeAll, describe } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { clientFile } from "./clients.ts";

const places = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** Debian's browser, or null where there is none. */
export const chromiumPath: string | null = places.find((path) => existsSync(path)) ?? null;

/** A browser without a window. */
export const openChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath ?? "",
    args: ["--no-sandbox", "--disable-gpu", "--process-per-site"],
  });

/**
 * Tests in one browser, left out with a word where there is none. After each test its pages are closed: what they ask
 * for again and again costs the next ones.
 */
export function describeInBrowser(title: string, tests: (browser: () => Browser) => void): void {
  if (chromiumPath === null)
    process.stderr.write(`skipped: ${title} (Debian: apt-get install chromium)\n`);
  describe.skipIf(chromiumPath === null)(title, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await openChromium();
    });
    afterEach(async () => {
      for (const context of browser.contexts()) await context.close();
    });
    afterAll(() => browser.close());
    tests(() => browser);
  });
}

export type WatchedPage = Page & {
  /** Errors of scripts, of the console, and violations of the policy. */
  troubles: string[];
  /** Paths that were asked for, in order. */
  asked: string[];
};

/** How far things moved on a page by themselves, as browsers count it (cumulative layout shift). */
export const layoutShift = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((done) => {
        let moved = 0;
        const count = (entries: PerformanceEntryList) => {
          for (const entry of entries as (PerformanceEntry & {
            value: number;
            hadRecentInput: boolean;
          })[]) {
            if (!entry.hadRecentInput) moved += entry.value;
          }
        };
        new PerformanceObserver((list) => count(list.getEntries())).observe({
          type: "layout-shift",
          buffered: true,
        });
        setTimeout(() => done(moved), 200);
      }),
  );

/** A context whose pages are waited for as long as a busy machine takes. */
export async function openContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(120_000);
  return context;
}

/** A page that notes what goes wrong on it and what it asks for. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const page = await (await openContext(browser, options)).newPage();
  const troubles: string[] = [];
  const asked: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) troubles.push(message.text());
  });
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  return Object.assign(page, { troubles, asked });
}

const axe = clientFile("node_modules/axe-core/axe.min.js");

export const axeInstalled = existsSync(axe);

type Result = {
  violations: { id: string; nodes: { target: unknown; failureSummary?: string }[] }[];
};

/** What axe finds on the page as it is shown now, a line for each element; by these rules only, if some are named. */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(readFileSync(axe, "utf8"));
  // What passes is not told, nor looked for in style sheets of others.
  const told = { resultTypes: ["violations"], preload: false };
  const options = JSON.stringify(rules === undefined ? told : { ...told, runOnly: rules });
  const { violations } = await page.evaluate<Result>(`axe.run(${options})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${String(target)}: ${failureSummary ?? ""}`),
  );
}
