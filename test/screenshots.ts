import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { runCommand, textOption, wordedCommand } from "#scripts/support/command.ts";
import { stopWith } from "#scripts/support/config.ts";
import { pagesOfEachKind } from "./support/page-kinds.ts";
import { startProgress } from "#scripts/support/progress.ts";

const widths = { phone: 390, tablet: 768, desktop: 1_440 } as const;
const schemes = ["light", "dark"] as const;

const command = wordedCommand("screenshots", {
  args: {
    url: { ...textOption, default: "http://localhost:8080" },
    out: { ...textOption, default: "screenshots" },
    browser: { ...textOption, default: "/usr/bin/chromium" },
  },
  run: async ({ args }) => {
    mkdirSync(args.out, { recursive: true });
    const paths = await pagesOfEachKind(args.url).catch(() =>
      stopWith(`No directory answers at ${args.url}. Start one, or give --url.`, 2),
    );
    const browser = await chromium
      .launch({ executablePath: args.browser, args: ["--no-sandbox"] })
      .catch(() =>
        stopWith(
          `There is no browser at ${args.browser}: install Debian's chromium, or give --browser.`,
          2,
        ),
      );
    const shots = paths.flatMap((path) =>
      Object.entries(widths).flatMap(([screen, width]) =>
        schemes.map((colorScheme) => ({ path, screen, width, colorScheme })),
      ),
    );
    const progress = startProgress("Pictures", shots.length);
    for (const [at, { path, screen, width, colorScheme }] of shots.entries()) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await context.newPage();
      await page.goto(new URL(path, args.url).href, { waitUntil: "networkidle" });
      const name = path.replaceAll(/\W+/g, "-").replaceAll(/^-|-$/g, "") || "home";
      await page.screenshot({
        path: join(args.out, `${name}-${screen}-${colorScheme}.png`),
        fullPage: true,
      });
      await context.close();
      progress.at(at + 1);
    }
    progress.end();
    await browser.close();
    console.log(`${shots.length} pictures in ${args.out}`);
  },
});

await runCommand(command);
