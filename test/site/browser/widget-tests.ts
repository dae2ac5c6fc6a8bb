import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { openPage, type WatchedPage } from "#test/support/chromium.ts";
import { sourceFrom } from "#content/nonprofit/record.ts";
import type { GivingSite } from "#test/support/giving-site.ts";
import { readQr } from "#test/support/qr.ts";
import { serveHere } from "#test/support/serve-here.ts";

/** Beside the nonprofit "wells", which has a wallet. */
export const withoutWallet = [
  {
    slug: "link-only",
    donation_url: "https://link.example/give",
    provenance: { donation_url: sourceFrom("organisation", 0) },
  },
  { slug: "neither" },
  { slug: "bad-link", donation_url: "javascript:alert(1)" },
];

/** All that a page could do to elements that it does not own. */
const hostileCss = `
  * { display: none !important; color: red !important; font-size: 90px !important; transform: rotate(20deg) !important;
    pointer-events: none !important; position: fixed !important; opacity: 0 !important; visibility: hidden !important; }
  html, head ~ body, body, main { all: revert !important; display: block !important; opacity: 1 !important;
    visibility: visible !important; pointer-events: auto !important; position: static !important; transform: none !important; }
  button, dialog, input, svg { display: none !important; width: 0 !important; }
  body { text-transform: uppercase; letter-spacing: 2em; direction: rtl; color: transparent; }
`;

/** The donation button of `site`, on a page of another origin. */
export const widgetTests = (browser: () => Browser, directory: () => GivingSite) =>
  describe("the donation button on a page of others", () => {
    let site: GivingSite;
    let host: Bun.Server<undefined>;
    let hostPage = { body: "", policy: "" };
    beforeAll(() => {
      site = directory();
      // Another origin than the directory's.
      host = serveHere(
        () =>
          new Response(hostPage.body, {
            headers: {
              "content-type": "text/html",
              ...(hostPage.policy === "" ? {} : { "content-security-policy": hostPage.policy }),
            },
          }),
      );
    });
    afterAll(() => host.stop(true));

    const tag = (attributes: string) =>
      `<script async src="${site.origin}/widget/donate.js" ${attributes}></script>`;
    const strict = () =>
      `default-src 'none'; script-src ${site.origin}; connect-src ${site.origin}; require-trusted-types-for 'script'`;

    /** The shadow root is closed, so the test leaves the door ajar: nothing else about it is another. */
    async function visit(
      inside: string,
      { css = "", policy = "", ajar = true } = {},
    ): Promise<WatchedPage> {
      hostPage = {
        body: `<!doctype html><html lang="en"><title>Host</title>${css === "" ? "" : `<style>${css}</style>`}<body><main>Before ${inside}</main></body></html>`,
        policy,
      };
      const page = await openPage(browser());
      if (ajar) {
        await page.addInitScript(() => {
          // oxlint-disable-next-line typescript/unbound-method
          const attach = Element.prototype.attachShadow;
          Element.prototype.attachShadow = function (this: Element, init: ShadowRootInit) {
            return attach.call(this, { ...init, mode: "open" });
          };
        });
      }
      await page.goto(`http://127.0.0.1:${host.port}/`);
      return page;
    }

    const press = async (page: Page, label = "") => {
      await page.locator("button.open", { hasText: label }).first().click();
      return page.locator("dialog[open]");
    };

    test("weighs less than 10.5 kB compressed, asks for nothing before it is pressed, and leaves the page as it is", async () => {
      const script = await (await fetch(`${site.origin}/widget/donate.js`)).text();
      expect(gzipSync(script, { level: 6 }).length).toBeLessThan(10_500);
      expect(brotliCompressSync(script).length).toBeLessThan(10_500);
      const state = `[getComputedStyle(document.querySelector("main > button")).cssText, Object.keys(globalThis)]`;
      const note = `<script>Object.defineProperty(globalThis, "before", { value: ${state} })</script>`;
      const page = await visit(`<button>Mine</button>${note}${tag('data-nonprofit="wells"')}`, {
        ajar: false,
      });
      await page.waitForFunction(() => document.querySelectorAll("main > div").length === 1);
      expect(await page.evaluate<unknown>(state)).toEqual(await page.evaluate<unknown>("before"));
      expect(
        await page.evaluate(() => document.querySelector("main > div")?.shadowRoot),
      ).toBeNull();
      expect(page.asked).toEqual(["/", "/widget/donate.js"]);
    });

    test("is paid from another origin, under a strict policy, and says when money has come", async () => {
      const page = await visit(
        tag('data-nonprofit="wells" data-amount="2.5" data-label="Give water"'),
        { policy: strict() },
      );
      expect(await page.locator("button.open").textContent()).toBe("Give water");
      const dialog = await press(page);
      const code = dialog.locator(".qr svg");
      await code.waitFor();
      const link = await readQr(browser(), await code.screenshot());
      expect(link).toBe(await dialog.locator("a.main").getAttribute("href"));
      expect(link).toContain("amount=2.5&");
      expect(await dialog.locator("h2").textContent()).toBe(
        `Give to ${(await site.service.live("wells")).name}`,
      );
      expect(await dialog.locator(".notice").textContent()).toContain("no real money moves");
      expect(await dialog.locator("code").textContent()).toBe(new URL(link ?? "").pathname);
      site.pay(link ?? "");
      await dialog.locator(".found", { hasText: "Received: 2.5 USDC" }).waitFor();
      const receipt = await dialog.locator(".found a").getAttribute("href");
      expect(receipt).toStartWith(`${site.origin}/receipt?nonprofit=wells&id=`);
      expect(page.troubles).toEqual([]);
    });

    test("looks the same on a page whose styles are hostile", async () => {
      const looks = async (css: string) => {
        const page = await visit(tag('data-nonprofit="wells"'), { css });
        const button = page.locator("button.open");
        await button.waitFor();
        const dialog = await press(page);
        await dialog.locator(".qr svg").waitFor();
        return dialog.evaluate((element) => {
          const parts = ["h2", "input", ".qr svg", "a.main", ".presets button"];
          const root = element.getRootNode() as ShadowRoot;
          const opener = root.querySelector(".open");
          return [opener, element, ...parts.map((part) => element.querySelector(part))].map(
            (one) => {
              const style = getComputedStyle(one as Element);
              const { width, height } = (one as Element).getBoundingClientRect();
              const seen = [style.color, style.fontSize, style.display, style.direction];
              const letters = [style.letterSpacing, style.textTransform, style.opacity];
              const size = [style.visibility, Math.round(width), Math.round(height)];
              return [...seen, ...letters, ...size].join(" ");
            },
          );
        });
      };
      expect(await looks(hostileCss)).toEqual(await looks(""));
    });

    test("is led through by keys and has names for all of it; what is typed stays inside", async () => {
      const page = await visit(`<p id="heard"></p>${tag('data-nonprofit="wells"')}`, {
        ajar: true,
      });
      await page.evaluate(() => {
        document.addEventListener("keydown", (event) => {
          const heard = document.querySelector("#heard");
          if (heard !== null) heard.textContent += event.key;
        });
      });
      await page.locator("button.open").focus();
      await page.keyboard.press("Enter");
      const dialog = page.locator("dialog[open]");
      await dialog.locator(".qr svg").waitFor();
      const seen = await dialog.ariaSnapshot();
      for (const part of [
        `dialog "Give to`,
        'button "Close"',
        'textbox "Amount in USDC"',
        'group "Usual amounts"',
        'button "Show QR code"',
        'img "QR code to give 5 USDC',
        'link "Open in a wallet on this device"',
        "status",
        "note",
      ])
        expect(seen).toContain(part);
      await dialog.locator("#amount").focus();
      await page.keyboard.press("End");
      await page.keyboard.type("0");
      await dialog.locator(".qr svg[aria-label*='50 USDC']").waitFor();
      expect(await page.textContent("#heard")).toBe("Enter");
      await page.keyboard.press("Escape");
      expect(await page.locator("dialog[open]").count()).toBe(0);
      expect(
        await page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.className),
      ).toBe("open");
    });

    test("leads to the directory's own page where the policy lets nothing through", async () => {
      const page = await visit(tag('data-nonprofit="wells" data-amount="7"'), {
        policy: `default-src 'none'; script-src ${site.origin}`,
      });
      const dialog = await press(page);
      await dialog.getByText("cannot be reached from this page").waitFor();
      const link = dialog.locator("a");
      expect(await link.getAttribute("href")).toBe(`${site.origin}/donate/wells?amount=7#pay`);
      expect(await link.getAttribute("target")).toBe("_blank");
    });

    test("speaks English, and says so, where texts are refused; and that a profile cannot be reached", async () => {
      site.answerWith(({ url }) => {
        if (url.includes("/api/nonprofits/link-only")) return Response.json({}, { status: 429 });
        const isTexts = url.endsWith("/widget/es.json");
        return isTexts ? Response.json({ title: "Service unavailable" }, { status: 503 }) : null;
      });
      const tags =
        tag('data-nonprofit="neither"') + tag('data-nonprofit="link-only" data-label="2"');
      const page = await visit(`<div lang="es">${tags}</div>`);
      const dialog = await press(page, "Donar");
      await dialog.getByText("No way to give").waitFor();
      expect(await dialog.getAttribute("lang")).toBe("en");
      const around = page.locator("div[lang] > div", { hasText: "Donar" });
      expect(await around.getAttribute("lang")).toBe("es");
      await page.keyboard.press("Escape");
      const other = await press(page, "2");
      await other.getByText("cannot be reached from this page").waitFor();
      site.answerWith(null);
    });

    test("writes amounts as the language of the page around it does", async () => {
      const page = await visit(
        `<div lang="es">${tag('data-nonprofit="wells" data-amount="2.5"')}</div>`,
      );
      const dialog = await press(page);
      await dialog.locator(".found", { hasText: "2,5 USDC" }).waitFor();
      expect(await dialog.locator(".qr svg").getAttribute("aria-label")).toContain("2,5 USDC");
    });

    const warned = (page: WatchedPage) =>
      page.troubles.filter((one) => one.startsWith("almoner widget: "));

    test("each tag has its own button, which says what there is; one that names nothing has none, and why", async () => {
      const ways = [
        ["link-only", "Give on its website", "https://link.example/give"],
        ["neither", "No way to give", null],
        ["bad-link", "No way to give", null],
        ["nobody", "knows no nonprofit of this name", null],
      ] as const;
      const labelOf = (slug: string) => `<b>${slug}`;
      const tags = ways.map(([slug]) =>
        tag(`data-nonprofit="${slug}" data-label="${labelOf(slug)}"`),
      );
      const page = await visit(`${tags.join("")}${tag("")}${tag('data-nonprofit="../evil"')}`);
      await page.waitForLoadState("load");
      await page
        .locator("button.open")
        .nth(ways.length - 1)
        .waitFor();
      const labels = await page.locator("button.open").allTextContents();
      expect(labels.toSorted()).toEqual(ways.map(([slug]) => labelOf(slug)).toSorted());
      for (const [slug, words, href] of ways) {
        const dialog = await press(page, labelOf(slug));
        await dialog.getByText(words).waitFor();
        expect(await dialog.locator('.qr, a[href^="javascript"]').count()).toBe(0);
        if (href !== null)
          expect(await dialog.locator("a").first().getAttribute("href")).toBe(href);
        await page.keyboard.press("Escape");
      }
      for (const words of [
        "neither data-nonprofit nor #giveready-donate",
        '"../evil" is no slug',
        '"nobody": The directory knows no',
        '"neither": no wallet',
      ])
        expect(warned(page)).toContainEqual(expect.stringContaining(words));
      const unnamed = await visit(`<div id="giveready-donate"></div>${tag("")}`);
      await unnamed.waitForLoadState("load");
      expect(await unnamed.locator("button.open").count()).toBe(0);
      expect(warned(unnamed)).toEqual([expect.stringContaining('"" is no slug')]);
    });

    const place = `<div id="giveready-donate" data-slug="wells"></div>`;
    const source = () => `${site.origin}/widget/donate.js`;
    test.each<[string, () => string]>([
      ["the markup of another directory", () => `${place}<script src="${source()}"></script>`],
      ["that markup after its script", () => `<script src="${source()}"></script>${place}`],
      [
        "a module",
        () => `<script type="module" src="${source()}" data-nonprofit="wells"></script>`,
      ],
      [
        "a module that is imported",
        () => `${place}<script type="module">import "${source()}";</script>`,
      ],
    ])("is there with %s, of the directory that the script is from", async (_, markup) => {
      const page = await visit(markup());
      const dialog = await press(page);
      await dialog.getByText("Give to Wells").waitFor();
      const inside = await page.locator("#giveready-donate button.open").count();
      expect([await page.locator("button.open").count(), inside, page.troubles]).toEqual([
        1,
        markup().includes("<div") ? 1 : 0,
        [],
      ]);
    });

    test("the page of the button makes a tag and shows what it makes", async () => {
      const page = await openPage(browser());
      await page.goto(`${site.origin}/widget?nonprofit=wells`);
      await page.fill("#button-label", `Give "now" <b>`);
      await page.waitForFunction(() =>
        document.querySelector("#button-tag")?.textContent?.includes("&quot;now&quot; &lt;b>"),
      );
      const made = (await page.textContent("#button-tag")) ?? "";
      expect(made).toContain(`src="${site.origin}/widget/donate.js"`);
      expect(await page.locator("#button-place div").count()).toBe(1);
      expect(page.troubles).toEqual([]);
      const other = await visit(made);
      expect(await other.locator("button.open").textContent()).toBe(`Give "now" <b>`);
    });
  });
