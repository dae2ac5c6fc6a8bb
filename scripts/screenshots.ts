import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { defineCommand } from "citty";
import { chromium } from "playwright-core";
import { runCommand } from "./support/command.ts";
import { stopWith } from "./support/config.ts";
import { startProgress } from "./support/progress.ts";

const widths = { phone: 390, tablet: 768, desktop: 1_440 } as const;
const schemes = ["light", "dark"] as const;

/** One of each kind of page; those of a nonprofit and of a list are filled with the first that the directory names. */
const pages = [
  ...["/", "/search?q=food", "/causes", "/countries", "/browse", "/statistics", "/methodology"],
  ...[
    "/agents",
    "/about",
    "/privacy",
    "/data",
    "/developers",
    "/match",
    "/onboard",
    "/onboard?q=food",
    "/onboard?register=1",
    "/onboard/status",
    "/corrections",
  ],
  ...["/widget", "/receipt", "/404"],
];

const command = defineCommand({
  meta: {
    name: "screenshots",
    description:
      "Takes a picture of every kind of page of a running directory, on three screens, light and dark, so that a person can look",
  },
  args: {
    url: { type: "string", default: "http://localhost:8080", description: "The directory" },
    out: { type: "string", default: "screenshots", description: "Folder for the pictures" },
    browser: { type: "string", default: "/usr/bin/chromium", description: "Chromium's program" },
  },
  run: async ({ args }) => {
    mkdirSync(args.out, { recursive: true });
    const paths = [...pages, ...(await pagesOfOne(args.url))];
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

/** Pages of the first nonprofits: one that takes gifts, one of which little is known; the first cause and country. */
async function pagesOfOne(url: string): Promise<string[]> {
  const firstOf = async (query: string) => {
    const answer = await fetch(new URL(`/api/nonprofits?limit=1&${query}`, url)).catch(() => null);
    if (answer?.ok !== true)
      return stopWith(`No directory answers at ${url}. Start one, or give --url.`, 2);
    const { nonprofits } = (await answer.json()) as { nonprofits: { slug: string }[] };
    return nonprofits[0]?.slug;
  };
  const giving = await firstOf("accepts=usdc");
  const thin = await firstOf("claimed=false&has_website=false");
  return [
    ...(giving === undefined ? [] : [`/nonprofits/${giving}`, `/donate/${giving}`]),
    ...(thin === undefined
      ? []
      : [
          `/nonprofits/${thin}`,
          `/onboard?claim=${thin}`,
          `/corrections?profile=${thin}`,
          `/corrections?profile=${thin}&field=city`,
        ]),
    "/causes/education",
  ];
}

await runCommand(command);
