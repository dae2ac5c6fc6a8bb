import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { VersionedTransaction } from "@solana/web3.js";
import type { Browser, Page } from "playwright-core";
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
  }, 240_000);
  afterAll(async () => {
    await browser.close();
    await site.close();
  });
  beforeEach(() => site.answerWith(null));

  const open = async (path: string): Promise<WatchedPage> => {
    const page = await openPage(browser);
    await page.goto(site.origin + path);
    return page;
  };
  const status = ".found";
  const linkOn = async (page: WatchedPage) =>
    (await page.getAttribute(".payment a", "href", { timeout: 10_000 })) ?? "";
  const box = async (page: Page, selector: string) =>
    (await page.locator(selector).boundingBox()) ?? { x: 0, y: 0, width: 0 };
  const shown = (page: WatchedPage) => page.waitForSelector(".qr svg", { timeout: 20_000 });
  test("the QR code holds the payment, and the page says when it has come", async () => {
    const page = await open("/donate/wells?amount=2.5#pay");
    const code = await shown(page);
    const link = await readQr(browser, await code.screenshot());
    expect(link).toBe(await linkOn(page));
    const asked = new URL(link ?? "");
    expect(asked.protocol).toBe("solana:");
    expect(asked.pathname).toBe((await page.textContent(".wallet")) ?? "");
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      amount: "2.5",
      memo: expect.any(String),
      reference: expect.any(String),
      label: expect.stringContaining("Wells <img"),
      "spl-token": expect.any(String),
    });
    expect(await page.textContent(status)).toContain("Waiting for 2.5 USDC");
    site.pay(link ?? "");
    await page.waitForFunction(
      () => document.querySelector(".found")?.textContent?.startsWith("Received: 2.5 USDC"),
      undefined,
      { timeout: 30_000 },
    );
    expect(await page.isVisible(".qr svg")).toBe(false);
    expect(await page.title()).not.toBe("broken");
    expect(page.troubles).toEqual([]);
    expect(await layoutShift(page)).toBeLessThan(0.02);
    await page.click(".found a");
    await page.waitForSelector("#receipt-shown:not([hidden])");
    const receipt = await page.innerText("#receipt");
    for (const part of ["2.5 USDC", name, asked.searchParams.get("memo") ?? "", "NO", "Slot"]) {
      if (part !== "NO") expect(receipt).toContain(part);
    }
    expect(receipt).toContain("no real money moves");
    const address = page.url();
    await page.goto(address.replace("/receipt", "/es/receipt"));
    await page.waitForSelector("#receipt-shown:not([hidden])");
    expect(await page.innerText("#receipt-shown")).toMatch(
      /Donado a\s.+Importe\s+2,5 USDC.+ de \d{4}, [\d:]+ UTC.+Firma:/s,
    );
    expect(await page.title()).toStartWith("Recibo: 2,5 USDC a ");
    await page.goto(address);
    await page.waitForSelector("#receipt-shown:not([hidden])");
    const margin = "1cm";
    for (const format of ["A4", "Letter"]) {
      const paper = await page.pdf({
        format,
        margin: { top: margin, right: margin, bottom: margin, left: margin },
      });
      expect(paper.toString("latin1").match(/\/Type \/Page\b/g)).toHaveLength(1);
    }
    expect(page.troubles).toEqual([]);
  }, 240_000);

  test("a receipt that is pasted is shown, and compared with the directory's own", async () => {
    const page = await open("/donate/wells?amount=2#pay");
    await shown(page);
    site.pay(await linkOn(page));
    await page.click(".found a", { timeout: 30_000 });
    await page.waitForSelector("#receipt-shown:not([hidden])");
    const link = page.url();
    const file = await page.getAttribute("#receipt-json", "href");
    const signed = await (await fetch(site.origin + (file ?? ""))).text();
    const forged = signed.replace('"amount_usdc":2', '"amount_usdc":2000');
    for (const [pasted, words] of [
      ["not a receipt", "neither the link of a receipt nor a signed file"],
      [link, ""],
      [signed, "exactly what this directory signed"],
      [forged, "differs from what this directory signed"],
    ] as const) {
      await page.goto(`${site.origin}/receipt`);
      await page.fill("#receipt-pasted", pasted);
      await page.click("#receipt-find button");
      if (words !== "") await page.waitForSelector(`#receipt-status:has-text("${words}")`);
      if (pasted !== "not a receipt") await page.waitForSelector("#receipt-shown:not([hidden])");
    }
  }, 240_000);

  test("a wallet of the browser that speaks the Wallet Standard pays by a button", async () => {
    const page = await openPage(browser);
    const donor = site.chain.donor();
    await page.exposeFunction("signAndSend", (base64: string) => {
      const transaction = VersionedTransaction.deserialize(Buffer.from(base64, "base64"));
      transaction.sign([donor.keypair]);
      const bytes = transaction.serialize();
      site.chain.land({ bytes });
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
    await page.waitForFunction(
      () => document.querySelector(".found")?.textContent?.startsWith("Received: 3 USDC"),
      undefined,
      { timeout: 30_000 },
    );
    expect(page.troubles).toEqual([]);
  }, 240_000);

  test("is led through by keys alone, and announces what happens", async () => {
    const page = await open("/nonprofits/wells");
    expect(page.asked.filter((path) => path.startsWith("/api/"))).toEqual([]);
    await page.focus(".presets button");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/donate/wells?amount=25#pay");
    await shown(page);
    expect(await page.inputValue("#give-amount")).toBe("25");
    expect(await page.getAttribute(".presets button:nth-child(2)", "aria-pressed")).toBe("true");
    expect(await linkOn(page)).toContain("amount=25&");
    await page.fill("#give-amount", "0,5");
    await page.waitForFunction(
      () => document.querySelector<HTMLAnchorElement>(".payment a")?.href.includes("amount=0.5&"),
      undefined,
      { timeout: 10_000 },
    );
    await page.focus("#give-amount");
    await page.keyboard.press("Enter");
    expect(await page.getAttribute(status, "role")).toBe("status");
    expect(await page.getAttribute(".qr svg", "aria-label")).toContain("0.5 USDC to Wells");
    expect(page.troubles).toEqual([]);
  }, 240_000);

  test.each(["", "0", "-1", "1e3", "1.1234567", "10001", "<b>"])(
    "the amount %p is refused in words, without asking",
    async (amount) => {
      const page = await open(`/donate/wells?amount=${encodeURIComponent(amount || " ")}#pay`);
      await page.waitForSelector('#give-amount[aria-invalid="true"]');
      expect(await page.textContent(".faulty #give-wrong")).toStartWith("Enter an amount in USDC");
      await page.click(".ask button[type=submit]");
      expect(await page.isVisible(".qr")).toBe(false);
      expect(page.asked.filter((path) => path.startsWith("/api/"))).toEqual([]);
      await page.context().close();
    },
    240_000,
  );

  test("a comma that may part thousands is refused; an amount that is understood stands there plainly", async () => {
    const page = await open("/donate/wells?amount=1,000#pay");
    await page.waitForSelector('#give-amount[aria-invalid="true"]');
    expect(await page.textContent("#give-wrong")).toContain("like 1000");
    expect(page.asked.filter((path) => path.startsWith("/api/"))).toEqual([]);
    await page.focus("#give-amount");
    await page.fill("#give-amount", "2,50");
    await page.keyboard.press("Enter");
    await shown(page);
    expect(await page.inputValue("#give-amount")).toBe("2.5");
  }, 240_000);

  test("a proof that is refused is answered in the language of the page", async () => {
    const page = await open("/fr/donate/wells#pay");
    await shown(page);
    await page.click(".hand summary");
    await page.fill("#give-signature", "no signature");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() =>
      document.querySelector(".found")?.textContent?.startsWith("Ce n’est pas la signature"),
    );
  }, 240_000);

  test("a transfer made by hand counts when its signature is told", async () => {
    const page = await open("/donate/wells?amount=3#pay");
    await shown(page);
    const tx_signature = site.pay(await linkOn(page), { references: [], memo: undefined });
    await page.click(".hand summary");
    await page.fill("#give-signature", tx_signature);
    await page.keyboard.press("Enter");
    await page.waitForFunction(
      () => document.querySelector(".found")?.textContent?.startsWith("Received: 3 USDC"),
      undefined,
      { timeout: 30_000 },
    );
    const other = await open("/donate/wells#pay");
    await shown(other);
    await other.click(".hand summary");
    await other.fill("#give-signature", "no signature");
    await other.keyboard.press("Enter");
    await other.waitForFunction(
      () =>
        /signature|base58/i.test(document.querySelector(".found")?.textContent ?? "") &&
        !document.querySelector(".found")?.textContent?.includes("Looking"),
      undefined,
      { timeout: 10_000 },
    );
    expect(await other.textContent(status)).not.toContain("Received");
  }, 240_000);

  test("looks less and less often, stops, and looks again when it is asked to", async () => {
    // Half an hour of looks in seconds would be too many for the service.
    const pending = { status: "pending", memo: "", retry_after_s: 3, settlement: null };
    site.answerWith((request) => (request.url.includes("/status") ? Response.json(pending) : null));
    const page = await openPage(browser);
    await page.clock.install();
    await page.goto(`${site.origin}/donate/wells?amount=4#pay`);
    await shown(page);
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
    expect(await page.textContent(status)).toContain("No transfer was found so far");
    site.answerWith(null);
    site.pay(link);
    await page.click(".again");
    await page.waitForFunction(
      () => document.querySelector(".found")?.textContent?.startsWith("Received: 4 USDC"),
      undefined,
      { timeout: 30_000 },
    );
    expect(await stopped()).toBe(false);
  }, 240_000);

  test("another wallet than the one on the page is never offered", async () => {
    site.answerWith((request) =>
      request.url.includes("/api/donate/")
        ? Response.json(
            {
              recipient: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin",
              solana_pay: "solana:9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin?amount=5",
              amount: 5,
              nonprofit: "Wells",
              memo: "x",
              cluster: "local",
            },
            { status: 200 },
          )
        : null,
    );
    const page = await open("/donate/wells#pay");
    await page.waitForFunction(() =>
      document.querySelector(".found")?.textContent?.includes("no longer the one"),
    );
    expect(await page.locator(".qr svg").count()).toBe(0);
    expect(await page.getAttribute(".payment a", "href")).toBe("/donate/wells");
  }, 240_000);

  test("a link that is no Solana Pay link is never offered", async () => {
    const wallet = (await (await fetch(`${site.origin}/api/nonprofits/wells`)).json()).usdc_wallet;
    site.answerWith((request) =>
      request.url.includes("/api/donate/")
        ? Response.json(
            {
              recipient: wallet,
              solana_pay: "javascript:alert(1)",
              amount: 5,
              nonprofit: "Wells",
              memo: "x",
              cluster: "local",
            },
            { status: 200 },
          )
        : null,
    );
    const page = await open("/donate/wells#pay");
    await page.waitForFunction(
      () =>
        document.querySelector(".found")?.textContent !== "" &&
        !document.querySelector(".found")?.textContent?.startsWith("Asking"),
    );
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0);
  }, 240_000);

  test("while the service is away the address stays, with words", async () => {
    site.answerWith((request) =>
      request.url.includes("/api/donate/")
        ? new Response("<html>bad gateway", { status: 502 })
        : null,
    );
    const page = await open("/donate/wells#pay");
    await page.waitForFunction(() =>
      document.querySelector(".found")?.textContent?.includes("does not answer"),
    );
    expect(await page.isVisible(".wallet")).toBe(true);
    expect(await page.isVisible(".qr svg")).toBe(false);
  }, 240_000);

  test("without JavaScript the page says all that is needed", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${site.origin}/donate/wells`);
    expect(await page.isVisible(".wallet")).toBe(true);
    expect(await page.isVisible(".notice")).toBe(true);
    for (const hidden of [".ask", ".payment", ".copy", ".again"]) {
      expect(await page.locator(hidden).first().boundingBox()).toBeNull();
    }
    await context.close();
  }, 240_000);

  test.each([
    [390, true],
    [1_440, false],
  ])(
    "at %d px the %p first way is a wallet here; nothing moves by itself",
    async (width, touches) => {
      const context = await browser.newContext({
        viewport: { width, height: 844 },
        hasTouch: touches,
        isMobile: touches,
      });
      const page = await context.newPage();
      await page.goto(`${site.origin}/donate/wells#pay`);
      await page.waitForSelector(".qr svg");
      const [link, code] = [await box(page, ".payment .button"), await box(page, ".qr")];
      if (touches) expect(link.y).toBeLessThan(code.y);
      else expect(code.x).toBeGreaterThan(link.x + link.width);
      site.pay((await page.getAttribute(".payment a", "href")) ?? "");
      await page.waitForSelector(".paid .found a", { timeout: 30_000 });
      const moved = await layoutShift(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([moved < 0.02, wide]).toEqual([true, width]);
      await context.close();
    },
    240_000,
  );

  test("a nonprofit without a wallet is given to at its profile", async () => {
    const page = await open("/donate/link-only?amount=5");
    expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe(
      "/nonprofits/link-only#give",
    );
    expect(await page.isVisible('#give a[href="https://link.example/give"]')).toBe(true);
  }, 240_000);

  test("a receipt that is not there is told so", async () => {
    for (const [address, words] of [
      ["/receipt?nonprofit=wells&id=none", "no receipt at this address"],
      ["/receipt?nonprofit=../..&id=%00", "no receipt"],
      ["/fr/receipt?nonprofit=wells&id=none", "pas de reçu à cette adresse"],
    ] as const) {
      const page = await open(address);
      await page.waitForFunction(
        (text) => document.querySelector("#receipt-status")?.textContent?.includes(text ?? ""),
        words,
      );
      expect(await page.isVisible("#receipt-shown")).toBe(false);
    }
  }, 240_000);

  test.each([true, false])(
    "the page of receipts says without one what it is for, with JavaScript %p",
    async (javaScriptEnabled) => {
      const context = await browser.newContext({ javaScriptEnabled });
      const page = await context.newPage();
      await page.goto(`${site.origin}/receipt`);
      await page.waitForSelector("#receipt-about", { state: "visible" });
      const words = await page.innerText("#receipt");
      for (const part of ["What a receipt is", "Where to find yours", "not a real gift"]) {
        expect(words).toContain(part);
      }
      expect(words.includes("with JavaScript")).toBe(!javaScriptEnabled);
      await context.close();
    },
    240_000,
  );

  test("the next steps come with an amount, and nothing is asked before", async () => {
    const page = await open("/donate/wells?amount=12");
    const steps = [".ask", ".how", ".done"];
    const visible = () => Promise.all(steps.map((step) => page.isVisible(step)));
    expect(await visible()).toEqual([true, false, false]);
    expect(await page.inputValue("#give-amount")).toBe("12");
    await page.fill("#give-amount", "twelve");
    await page.click(".ask button[type=submit]");
    expect(await visible()).toEqual([true, false, false]);
    expect(await page.textContent("#give-wrong")).toStartWith("Enter an amount in USDC");
    expect(page.asked.filter((path) => path.startsWith("/api/"))).toEqual([]);
    await page.click(".presets button:nth-child(3)");
    expect(await visible()).toEqual([true, true, true]);
    await shown(page);
    expect(await linkOn(page)).toContain("amount=100&");
    expect(await page.isVisible(".how .wallet")).toBe(true);
    expect(page.troubles).toEqual([]);
  }, 240_000);
});
