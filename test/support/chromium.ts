import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Debian's browser, or null where there is none. */
export const chromiumPath: string | null = places.find((path) => existsSync(path)) ?? null;

/** A browser without a window. */
export const openChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath ?? "", args: ["--no-sandbox"] });

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

/** A page that notes what goes wrong on it and what it asks for. */
export async function openPage(browser: Browser): Promise<WatchedPage> {
  const page = await (await browser.newContext()).newPage();
  const troubles: string[] = [];
  const asked: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) troubles.push(message.text());
  });
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  return Object.assign(page, { troubles, asked });
}
