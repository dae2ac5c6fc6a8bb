import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sourceFrom } from "#content/nonprofit/record.ts";
import type { Browser } from "playwright-core";
import { chromiumPath, openChromium, openPage } from "#test/support/chromium.ts";
import { aRichNonprofit } from "#test/support/compiled-site.ts";
import { aGivingSite, type GivingSite } from "#test/support/giving-site.ts";
import { isFull, measured } from "#test/support/measured.ts";
import { hostileMarkup } from "#test/support/hostile-markup.ts";

/** Each payload in five disguises, as filters that read only some of it would let it through. */
const disguises: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `"'>${text}<!--`,
  (text) => `</script></style></title></textarea>${text}`,
  (text) => text.replaceAll(/script|onerror|onload/g, (word) => word.toUpperCase()),
  (text) => `]]>${text.replaceAll("<", "<\t")}${text}`,
];
const wrappings: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `[x](${text})`,
  (text) => `\\u003c/script>${text}`,
  (text) => `\${${text}}`,
  (text) => `Help & hope ${text} \u2028\u2029`,
];
/** Promise 11 says 500 payloads, which ALMONER_FULL_TESTS=1 shows; test/site/documents/hostile-text.test.ts is quicker. */
const payloads = hostileMarkup
  .flatMap((text) => disguises.map((disguise) => disguise(text)))
  .flatMap((text) => wrappings.map((wrap) => wrap(text)));

describe.skipIf(chromiumPath === null || !isFull)("published pages in a browser", () => {
  let browser: Browser;
  let site: GivingSite;
  beforeAll(async () => {
    browser = await openChromium();
    site = await aGivingSite((wallet) =>
      payloads.map((text, at) =>
        aRichNonprofit({
          slug: `hostile-${at}`,
          name: text,
          tagline: text,
          mission: text,
          description: text,
          city: text,
          region: text,
          website: text,
          donation_url: text,
          usdc_wallet: wallet,
          programs: [{ name: text, description: text, beneficiaries_per_year: 1, location: text }],
          impact_metrics: [{ name: text, value: text, unit: text, period: text }],
          registrations: [],
          provenance: {
            name: sourceFrom("consensus", 0, { source: text, source_url: text, agents: [text] }),
          },
        }),
      ),
    );
  }, 300_000);
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  test("show whatever was sent as text: no dialog, no violation of the policy, no link but to the web", async () => {
    const page = await openPage(browser);
    page.on("dialog", (dialog) => {
      page.troubles.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    const foreign: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(site.origin)) foreign.push(request.url());
    });
    const places = [
      "/",
      "/browse",
      "/causes",
      "/causes/education",
      "/countries",
      ...Array.from({ length: 4 }, (_, at) => `/causes/education/${at + 2}`),
      ...payloads.flatMap((_, at) => [`/nonprofits/hostile-${at}`, `/donate/hostile-${at}`]),
    ];
    for (const place of places) {
      const answer = await page.goto(site.origin + place);
      expect([place, answer?.status()]).toEqual([place, 200]);
      const found = await page.evaluate(() => ({
        handlers: [...document.querySelectorAll("*")].filter((one) =>
          [...one.attributes].some(({ name }) => name.startsWith("on")),
        ).length,
        embedded: document.querySelectorAll("iframe, object, embed, base, math").length,
        protocols: [...document.querySelectorAll("a[href]")]
          .map((one) => (one as HTMLAnchorElement).protocol)
          .filter((one) => !["http:", "https:", "mailto:", "solana:"].includes(one)),
      }));
      expect([place, found]).toEqual([place, { handlers: 0, embedded: 0, protocols: [] }]);
    }
    // A page for donations asks what is to be paid: 402, and 429 once it has asked often enough.
    const troubles = page.troubles.filter((one) => !/Failed to load.* (?:402|429) /.test(one));
    measured(
      `${payloads.length} payloads on ${places.length} public pages: ${troubles.length} dialogs or violations`,
    );
    expect(troubles).toEqual([]);
    expect(foreign).toEqual([]);
  }, 1_800_000);
});
