import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { VersionedTransaction } from "@solana/web3.js";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import {
  chromiumPath,
  layoutShift,
  openChromium,
  openPage,
  type WatchedPage,
} from "#test/support/chromium.ts";
import { clientFile, clientsInstalled } from "#test/support/clients.ts";
import { aGivingSite, type GivingSite } from "#test/support/giving-site.ts";
import { readQr } from "#test/support/qr.ts";

if (chromiumPath === null) {
  process.stderr.write(
    "skipped: pages that pay need a browser (Debian: apt-get install chromium)\n",
  );
}

setDefaultTimeout(240_000);

/**
 * Runs in the page: an extension that registers itself as the Wallet Standard has it, before or after the page listens; with
 * the stock library where that is installed.
 */
const aBrowserWallet = (address: string) => {
  const account = {
    address,
    publicKey: new Uint8Array(32),
    chains: ["solana:localnet"],
    features: [],
  };
  const page = globalThis as unknown as {
    signAndSend(base64: string): Promise<number[]>;
    registerWallet?(wallet: object): void;
  };
  const wallet = {
    version: "1.0.0",
    name: "Test Wallet",
    chains: ["solana:localnet"],
    accounts: [],
    features: {
      "standard:connect": { connect: () => Promise.resolve({ accounts: [account] }) },
      "solana:signAndSendTransaction": {
        signAndSendTransaction: async ({ transaction }: { transaction: Uint8Array }) => [
          {
            signature: Uint8Array.from(
              await page.signAndSend(btoa(String.fromCharCode(...transaction))),
            ),
          },
        ],
      },
    },
  };
  if (page.registerWallet !== undefined) return page.registerWallet(wallet);
  type Api = { register(...wallets: unknown[]): void };
  const register = (api: Api) => api.register(wallet);
  dispatchEvent(new CustomEvent("wallet-standard:register-wallet", { detail: register }));
  addEventListener("wallet-standard:app-ready", (event) =>
    register((event as CustomEvent<Api>).detail),
  );
};

const name = `Wells <img src=x onerror="document.title='broken'"> of Kisumu`;

describe.skipIf(chromiumPath === null)("giving in a browser", () => {
  let browser: Browser;
  let site: GivingSite;
  beforeAll(async () => {
    site = await aGivingSite((usdc_wallet) => [
      { slug: "wells", name, usdc_wallet },
      { slug: "link-only", donation_url: "https://link.example/give" },
    ]);
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });
  beforeEach(() => site.answerWith(null));

  const opened = async (path: string): Promise<WatchedPage> => {
    const page = await openPage(browser);
    await page.goto(site.origin + path);
    return page;
  };
  /** A page in a browser of another kind, which is closed after the test. */
  const withPage = async (options: BrowserContextOptions, look: (page: Page) => Promise<void>) => {
    const context = await browser.newContext(options);
    await look(await context.newPage());
    await context.close();
  };
  const linkOn = async (page: Page) =>
    (await page.getAttribute(".payment a", "href", { timeout: 10_000 })) ?? "";
  const box = async (page: Page, selector: string) =>
    (await page.locator(selector).boundingBox()) ?? { x: 0, y: 0, width: 0 };
  const code = (page: Page) => page.waitForSelector(".qr svg", { timeout: 20_000 });
  const says = (page: Page, words: string, selector = ".found") =>
    page.waitForSelector(`${selector}:has-text("${words}")`, { timeout: 30_000 });
  const receiptOn = (page: Page) => page.waitForSelector("#receipt-shown:not([hidden])");
  const sendSignature = async (page: Page, signature: string) => {
    await page.click(".hand summary");
    await page.fill("#give-signature", signature);
    await page.keyboard.press("Enter");
  };
  const expectNothingAsked = (page: WatchedPage) =>
    expect(page.asked.filter((path) => path.startsWith("/api/"))).toEqual([]);

  test("the QR code holds the payment, and the page says when it has come", async () => {
    const page = await opened("/donate/wells?amount=2.5#pay");
    const link = await readQr(browser, await (await code(page)).screenshot());
    expect(link).toBe(await linkOn(page));
    const asked = new URL(link ?? "");
    expect(asked.protocol).toBe("solana:");
    expect(asked.pathname).toBe((await page.textContent(".wallet")) ?? "");
    const memo = asked.searchParams.get("memo") ?? "";
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      amount: "2.5",
      memo: expect.stringMatching(/./),
      reference: expect.any(String),
      label: expect.stringContaining("Wells <img"),
      "spl-token": expect.any(String),
    });
    await says(page, "Waiting for 2.5 USDC");
    site.pay(link ?? "");
    await says(page, "Received: 2.5 USDC");
    expect(await page.isVisible(".qr svg")).toBe(false);
    expect(await page.title()).not.toBe("broken");
    expect(await layoutShift(page)).toBeLessThan(0.02);
    await page.click(".found a");
    await receiptOn(page);
    const receipt = await page.innerText("#receipt");
    for (const part of ["2.5 USDC", name, memo, "Slot", "no real money moves"])
      expect(receipt).toContain(part);
    const margin = { top: "1cm", right: "1cm", bottom: "1cm", left: "1cm" };
    for (const format of ["A4", "Letter"]) {
      const paper = await page.pdf({ format, margin });
      expect(paper.toString("latin1").match(/\/Type \/Page\b/g)).toHaveLength(1);
    }
    await page.goto(page.url().replace("/receipt", "/es/receipt"));
    await receiptOn(page);
    expect(await page.innerText("#receipt-shown")).toMatch(
      /Donado a\s.+Importe\s+2,5 USDC.+ de \d{4}, [\d:]+ UTC.+Firma:/s,
    );
    expect(await page.title()).toStartWith("Recibo: 2,5 USDC a ");
    expect(page.troubles).toEqual([]);
  });

  test("a receipt that is pasted is shown, and compared with the directory's own", async () => {
    const page = await opened("/donate/wells?amount=2#pay");
    await code(page);
    site.pay(await linkOn(page));
    await page.click(".found a", { timeout: 30_000 });
    await receiptOn(page);
    const link = page.url();
    const file = await page.getAttribute("#receipt-json", "href");
    const signed = await (await fetch(site.origin + (file ?? ""))).text();
    const forged = signed.replace('"amount_usdc":2', '"amount_usdc":2000');
    for (const [pasted, words, isShown] of [
      ["not a receipt", "neither the link of a receipt nor a signed file", false],
      [link, "", true],
      [signed, "exactly what this directory signed", true],
      [forged, "differs from what this directory signed", true],
    ] as const) {
      await page.goto(`${site.origin}/receipt`);
      await page.fill("#receipt-pasted", pasted);
      await page.click("#receipt-find button");
      if (words !== "") await says(page, words, "#receipt-status");
      if (isShown) await receiptOn(page);
    }
  });

  test("a wallet of the browser that speaks the Wallet Standard pays by a button", async () => {
    const page = await openPage(browser);
    const donor = site.chain.donor();
    await page.exposeFunction("signAndSend", (base64: string) => {
      const transaction = VersionedTransaction.deserialize(Buffer.from(base64, "base64"));
      transaction.sign([donor.keypair]);
      site.chain.land({ bytes: transaction.serialize() });
      return [...(transaction.signatures[0] ?? [])];
    });
    if (clientsInstalled) {
      const entrypoints = [clientFile("wallet-standard.mjs")];
      const [script] = (await Bun.build({ entrypoints, format: "iife" })).outputs;
      await page.addInitScript({ content: (await script?.text()) ?? "" });
    }
    await page.addInitScript(aBrowserWallet, donor.address);
    await page.goto(`${site.origin}/donate/wells?amount=3#pay`);
    await page.click(".wallets button:has-text('Pay with Test Wallet')");
    await says(page, "Received: 3 USDC");
    expect(page.troubles).toEqual([]);
  });

  test("is led through by keys alone, and announces what happens", async () => {
    const page = await opened("/nonprofits/wells");
    expectNothingAsked(page);
    await page.focus(".presets button");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/donate/wells?amount=25#pay");
    await code(page);
    expect(await page.inputValue("#give-amount")).toBe("25");
    expect(await page.getAttribute(".presets button:nth-child(2)", "aria-pressed")).toBe("true");
    expect(await linkOn(page)).toContain("amount=25&");
    await page.fill("#give-amount", "0,5");
    await page.waitForSelector('.payment a[href*="amount=0.5&"]', { timeout: 10_000 });
    await page.focus("#give-amount");
    await page.keyboard.press("Enter");
    expect(await page.getAttribute(".found", "role")).toBe("status");
    expect(await page.getAttribute(".qr svg", "aria-label")).toContain("0.5 USDC to Wells");
    expect(page.troubles).toEqual([]);
  });

  test.each(["", "0", "-1", "1e3", "1.1234567", "10001", "<b>", "1,000"])(
    "the amount %p is refused in words, without asking",
    async (amount) => {
      const page = await opened(`/donate/wells?amount=${encodeURIComponent(amount || " ")}#pay`);
      await page.waitForSelector('#give-amount[aria-invalid="true"]');
      // A comma may part thousands or decimals.
      const words = amount === "1,000" ? "like 1000" : "Enter an amount in USDC";
      expect(await page.textContent(".faulty #give-wrong")).toContain(words);
      await page.click(".ask button[type=submit]");
      expect(await page.isVisible(".qr")).toBe(false);
      expectNothingAsked(page);
      await page.context().close();
    },
  );

  test("an amount that is understood stands there plainly", async () => {
    const page = await opened("/donate/wells");
    await page.fill("#give-amount", "2,50");
    await page.focus("#give-amount");
    await page.keyboard.press("Enter");
    await code(page);
    expect(await page.inputValue("#give-amount")).toBe("2.5");
  });

  test("a transfer made by hand counts when its signature is told", async () => {
    const page = await opened("/donate/wells?amount=3#pay");
    await code(page);
    await sendSignature(page, site.pay(await linkOn(page), { references: [], memo: undefined }));
    await says(page, "Received: 3 USDC");
  });

  test.each([
    ["", /signature|base58/i],
    ["/fr", /^Ce n’est pas la signature/],
  ])(
    "a proof that is refused is answered in the language of the page: %p",
    async (under, words) => {
      const page = await opened(`${under}/donate/wells#pay`);
      await code(page);
      await sendSignature(page, "no signature");
      await page.locator(".found", { hasText: words }).waitFor({ timeout: 10_000 });
      await page.locator(".found", { hasNotText: "Looking" }).waitFor({ timeout: 10_000 });
      expect(await page.textContent(".found")).toMatch(words);
    },
  );

  test("looks less and less often, stops, and looks again when it is asked to", async () => {
    // Half an hour of looks in seconds would be too many for the service.
    const pending = { status: "pending", memo: "", retry_after_s: 3, settlement: null };
    site.answerWith((request) => (request.url.includes("/status") ? Response.json(pending) : null));
    const page = await openPage(browser);
    await page.clock.install();
    await page.goto(`${site.origin}/donate/wells?amount=4#pay`);
    await code(page);
    const link = await linkOn(page);
    const looks = () => page.asked.filter((path) => path.endsWith("/status")).length;
    const stopped = () => page.isVisible(".again");
    let minutes = 0;
    for (; minutes < 40 && !(await stopped()); minutes += 0.25) {
      const before = looks();
      await page.clock.runFor(15_000);
      // The clock of the page stands until the service has answered.
      for (let waited = 0; waited < 40 && looks() === before; waited++) await Bun.sleep(5);
      await Bun.sleep(30);
    }
    expect(await stopped()).toBe(true);
    expect(minutes).toBeWithin(10, 40);
    expect(looks()).toBeWithin(60, 91);
    await says(page, "No transfer was found so far");
    site.answerWith(null);
    site.pay(link);
    await page.click(".again");
    await says(page, "Received: 4 USDC");
    expect(await stopped()).toBe(false);
  });

  const stranger = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
  test.each([
    ["another wallet", stranger, `solana:${stranger}?amount=5`, "no longer the one"],
    ["no Solana Pay link", null, "javascript:alert(1)", ""],
  ])("an answer with %s is never offered", async (_, wallet, solana_pay, words) => {
    const own = (await (await fetch(`${site.origin}/api/nonprofits/wells`)).json()).usdc_wallet;
    const bill = { amount: 5, nonprofit: "Wells", memo: "x", cluster: "local" };
    site.answerWith(({ url }) =>
      url.includes("/api/donate/")
        ? Response.json({ ...bill, recipient: wallet ?? own, solana_pay })
        : null,
    );
    const page = await opened("/donate/wells#pay");
    await page.locator(".found", { hasText: /\S/ }).waitFor();
    await page.locator(".found", { hasNotText: /^Asking/ }).waitFor();
    expect(await page.textContent(".found")).toContain(words);
    expect(await page.locator('.qr svg, a[href^="javascript"]').count()).toBe(0);
    expect(await page.getAttribute(".payment a", "href")).toBe("/donate/wells");
  });

  test("while the service is away the address stays, with words", async () => {
    site.answerWith(({ url }) =>
      url.includes("/api/donate/") ? new Response("<html>bad gateway", { status: 502 }) : null,
    );
    const page = await opened("/donate/wells#pay");
    await says(page, "does not answer");
    expect(await page.isVisible(".wallet")).toBe(true);
    expect(await page.isVisible(".qr svg")).toBe(false);
  });

  test("without JavaScript the page says all that is needed", () =>
    withPage({ javaScriptEnabled: false }, async (page) => {
      await page.goto(`${site.origin}/donate/wells`);
      expect(await page.isVisible(".wallet")).toBe(true);
      expect(await page.isVisible(".notice")).toBe(true);
      for (const hidden of [".ask", ".payment", ".copy", ".again"])
        expect(await page.locator(hidden).first().boundingBox()).toBeNull();
    }));

  test.each([
    [390, true],
    [1_440, false],
  ])(
    "at %d px (touch: %p) the first way is a wallet here; nothing moves by itself",
    (width, touches) =>
      withPage(
        { viewport: { width, height: 844 }, hasTouch: touches, isMobile: touches },
        async (page) => {
          await page.goto(`${site.origin}/donate/wells#pay`);
          await code(page);
          const [link, drawn] = [await box(page, ".payment .button"), await box(page, ".qr")];
          if (touches) expect(link.y).toBeLessThan(drawn.y);
          else expect(drawn.x).toBeGreaterThan(link.x + link.width);
          site.pay(await linkOn(page));
          await page.waitForSelector(".paid .found a", { timeout: 30_000 });
          expect(await layoutShift(page)).toBeLessThan(0.02);
          expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        },
      ),
  );

  test("a nonprofit without a wallet is given to at its profile", async () => {
    const page = await opened("/donate/link-only?amount=5");
    expect(page.url()).toBe(`${site.origin}/nonprofits/link-only#give`);
    expect(await page.isVisible('#give a[href="https://link.example/give"]')).toBe(true);
  });

  test.each([
    ["/receipt?nonprofit=wells&id=none", "no receipt at this address"],
    ["/receipt?nonprofit=../..&id=%00", "no receipt"],
    ["/fr/receipt?nonprofit=wells&id=none", "pas de reçu à cette adresse"],
  ])("a receipt that is not there is told so: %s", async (address, words) => {
    const page = await opened(address);
    await says(page, words, "#receipt-status");
    expect(await page.isVisible("#receipt-shown")).toBe(false);
  });

  test.each([true, false])(
    "the page of receipts says without one what it is for, with JavaScript %p",
    (javaScriptEnabled) =>
      withPage({ javaScriptEnabled }, async (page) => {
        await page.goto(`${site.origin}/receipt`);
        await page.waitForSelector("#receipt-about", { state: "visible" });
        const words = await page.innerText("#receipt");
        for (const part of ["What a receipt is", "Where to find yours", "not a real gift"])
          expect(words).toContain(part);
        expect(words.includes("with JavaScript")).toBe(!javaScriptEnabled);
      }),
  );

  test("the next steps come with an amount, and nothing is asked before", async () => {
    const page = await opened("/donate/wells?amount=12");
    const visible = () =>
      Promise.all([".ask", ".how", ".done"].map((step) => page.isVisible(step)));
    expect(await visible()).toEqual([true, false, false]);
    expect(await page.inputValue("#give-amount")).toBe("12");
    await page.fill("#give-amount", "twelve");
    await page.click(".ask button[type=submit]");
    expect(await visible()).toEqual([true, false, false]);
    expectNothingAsked(page);
    await page.click(".presets button:nth-child(3)");
    expect(await visible()).toEqual([true, true, true]);
    await code(page);
    expect(await linkOn(page)).toContain("amount=100&");
    expect(await page.isVisible(".how .wallet")).toBe(true);
    expect(page.troubles).toEqual([]);
  });
});
