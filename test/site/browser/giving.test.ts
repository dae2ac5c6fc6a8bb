import { beforeEach, expect, test } from "bun:test";
import { VersionedTransaction } from "@solana/web3.js";
import type { BrowserContextOptions, Page } from "playwright-core";
import {
  describeInBrowser,
  layoutShift,
  openPage,
  type WatchedPage,
} from "#test/support/chromium.ts";
import { clientFile, clientsInstalled } from "#test/support/clients.ts";
import { addBrowserWallet } from "#test/support/browser-wallet.ts";
import { aGivingSite } from "#test/support/giving-site.ts";
import { readQr } from "#test/support/qr.ts";
import { widgetTests, withoutWallet } from "./widget-tests.ts";
import { forTests } from "#test/support/at-file-top.ts";

const name = `Wells <img src=x onerror="document.title='broken'"> of Kisumu`;

describeInBrowser("giving in a browser", (browser) => {
  const site = forTests(() =>
    aGivingSite((usdc_wallet) => [{ slug: "wells", name, usdc_wallet }, ...withoutWallet]),
  );
  beforeEach(() => site.answerWith(null));

  widgetTests(browser, () => site);

  const opened = async (path: string, options: BrowserContextOptions = {}) => {
    const page = await openPage(browser(), options);
    await page.goto(site.origin + path);
    return page;
  };
  const linkOn = async (page: Page) => (await page.getAttribute(".payment a", "href")) ?? "";
  const box = async (page: Page, selector: string) =>
    (await page.locator(selector).boundingBox()) ?? { x: 0, y: Infinity, width: 0 };
  const code = (page: Page) => page.waitForSelector(".qr svg");
  const says = (page: Page, words: string | RegExp, selector = ".found") =>
    page.locator(selector, { hasText: words }).waitFor();
  const receiptOn = (page: Page) => page.waitForSelector("#receipt-shown:not([hidden])");
  const sendSignature = async (page: Page, signature: string) => {
    await page.fill("#give-signature", signature);
    await page.keyboard.press("Enter");
  };
  const expectNothingAsked = (page: WatchedPage) =>
    expect(page.asked.filter((path) => path.startsWith("/api/"))).toEqual([]);

  test("the QR code holds the payment, and the page says when it has come", async () => {
    const page = await opened("/donate/wells?amount=2.5#pay");
    const link = await readQr(browser(), await (await code(page)).screenshot());
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
    const button = await box(page, ".payment .button");
    const drawn = await box(page, ".qr");
    expect(drawn.x).toBeGreaterThan(button.x + button.width);
    await says(page, "Waiting for 2.5 USDC");
    site.pay(link ?? "");
    await says(page, "Received: 2.5 USDC");
    expect(await page.isVisible(".qr svg")).toBe(false);
    expect(await page.title()).not.toBe("broken");
    await page.click(".found a");
    await receiptOn(page);
    const receipt = await page.innerText("#receipt");
    for (const part of ["2.5 USDC", name, memo, "Slot", "no real money moves"])
      expect(receipt).toContain(part);
    const margin = { top: "1cm", right: "1cm", bottom: "1cm", left: "1cm" };
    // As narrow as A4 and as short as Letter.
    const paper = await page.pdf({ width: "210mm", height: "11in", margin });
    expect(paper.toString("latin1").match(/\/Type \/Page\b/g)).toHaveLength(1);

    await page.evaluate(() => {
      globalThis.print = () => (document.title = "printed");
    });
    await page.click("#receipt-shown button");
    expect(await page.title()).toBe("printed");

    // The receipt, pasted: as its link, as its file, and changed.
    const own = page.url();
    const file = await page.getAttribute("#receipt-json", "href");
    const signed = await (await fetch(site.origin + (file ?? ""))).text();
    const forged = signed.replace('"amount_usdc":2.5', '"amount_usdc":2500');
    for (const [pasted, words, isShown] of [
      ["not a receipt", "neither the link of a receipt nor a signed file", false],
      [own, "", true],
      [signed, "exactly what this directory signed", true],
      [forged, "differs from what this directory signed", true],
    ] as const) {
      // The form is hidden while a receipt is shown.
      if (!(await page.isVisible("#receipt-pasted"))) await page.goto(`${site.origin}/receipt`);
      await page.fill("#receipt-pasted", pasted);
      await page.click("#receipt-find button");
      if (words !== "") await says(page, words, "#receipt-status");
      if (isShown) await receiptOn(page);
    }
    await page.goto(own.replace("/receipt", "/es/receipt"));
    await receiptOn(page);
    expect(await page.innerText("#receipt-shown")).toMatch(
      /Donado a\s.+Importe\s+2,5 USDC.+ de \d{4}, [\d:]+ UTC.+Firma:/s,
    );
    expect(await page.title()).toStartWith("Recibo: 2,5 USDC a ");
    expect(page.troubles).toEqual([]);
  });

  test("the service looks for a payment once its link was opened, whatever becomes of the page", async () => {
    const page = await openPage(browser());
    // No time passes for the page, as on a phone that shows the wallet.
    await page.addInitScript(() => void (globalThis.setTimeout = (() => 0) as never));
    await page.goto(`${site.origin}/donate/wells?amount=2#pay`);
    await code(page);
    const memo = new URL(await linkOn(page)).searchParams.get("memo") ?? "";
    const [request] = await Promise.all([
      page.waitForRequest(/\/api\/donate\/wells\/status/),
      page.click(".payment a"),
    ]);
    expect(new URL(request.url()).searchParams.get("memo")).toBe(memo);
  });

  test("a payment whose link was opened is found when the page is loaded again, and none is asked for", async () => {
    const page = await opened("/donate/wells?amount=2#pay");
    await code(page);
    const link = await linkOn(page);
    await page.click(".payment a");
    await page.reload();
    await says(page, "Looking for the transaction");
    expect(await page.isVisible(".qr svg")).toBe(false);
    site.pay(link);
    await says(page, "Received: 2 USDC");
    // The next gift begins as the first one did.
    await page.reload();
    await code(page);
    expect(await linkOn(page)).not.toBe(link);
  });

  test("so is one whose amount was chosen in the page, and the donor sees it", async () => {
    const page = await opened("/donate/wells", { viewport: { width: 390, height: 800 } });
    await page.click(".ask .field button");
    await code(page);
    const link = await linkOn(page);
    await page.click(".payment a");
    await page.reload();
    await says(page, "Looking for the transaction");
    expect((await box(page, ".found")).y).toBeLessThan(800);
    site.pay(link);
    await says(page, "Received: 5 USDC");
  });

  test("a wallet of the browser that speaks the Wallet Standard pays by a button", async () => {
    const page = await openPage(browser());
    const donor = site.chain.donor();
    if (clientsInstalled) {
      const entrypoints = [clientFile("wallet-standard.mjs")];
      const [script] = (await Bun.build({ entrypoints, format: "iife" })).outputs;
      await page.addInitScript({ content: (await script?.text()) ?? "" });
    }
    await addBrowserWallet(page, donor.address, (bytes) => {
      const transaction = VersionedTransaction.deserialize(bytes);
      transaction.sign([donor.keypair]);
      site.chain.land({ bytes: transaction.serialize() });
      return transaction.signatures[0] ?? bytes;
    });
    // A refusal is no silence of the service, and a wrong amount is not sent at all.
    site.answerWith(({ url }) =>
      url.includes("&payer=") ? Response.json({ code: "other" }, { status: 409 }) : null,
    );
    await page.goto(`${site.origin}/donate/wells?amount=2,5#pay`);
    const payNow = () => page.click(".wallets button:has-text('Pay with Test Wallet')");
    await payNow();
    await says(page, "No gift can be made here");
    site.answerWith(null);
    await page.fill("#give-amount", "1,000");
    await payNow();
    await says(page, "like 1000", ".faulty #give-wrong");
    await page.goto(`${site.origin}/donate/wells?amount=2,5&again#pay`);
    await payNow();
    await says(page, "Received: 2.5 USDC");
    expect(page.troubles.filter((one) => !one.includes("409"))).toEqual([]);
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
    await page.fill("#give-amount", "0,50");
    await page.waitForSelector('.payment a[href*="amount=0.5&"]');
    await page.focus("#give-amount");
    await page.keyboard.press("Enter");
    expect(await page.inputValue("#give-amount")).toBe("0.5");
    expect(await page.getAttribute(".found", "role")).toBe("status");
    expect(await page.getAttribute(".qr svg", "aria-label")).toContain("0.5 USDC to Wells");
    expect(page.troubles).toEqual([]);
  });

  test("the next steps come with an amount; before, and for one that cannot be, typed or of the address, nothing is asked", async () => {
    const page = await opened("/donate/wells?amount=%3Cb%3E#pay");
    await page.waitForSelector('#give-amount[aria-invalid="true"]');
    expect(await page.textContent(".faulty #give-wrong")).toContain("Enter an amount in USDC");
    expect(await page.isVisible(".qr")).toBe(false);
    await page.goto(`${site.origin}/donate/wells?amount=12`);
    const visible = () =>
      Promise.all([".ask", ".how", ".done"].map((step) => page.isVisible(step)));
    expect(await visible()).toEqual([true, false, false]);
    expect(await page.inputValue("#give-amount")).toBe("12");
    // A comma may part thousands or decimals.
    for (const [amount, words] of [
      ["twelve", "Enter an amount in USDC"],
      ["", "Enter an amount in USDC"],
      ["10001", "Enter an amount in USDC"],
      ["1,000", "like 1000"],
    ] as const) {
      await page.fill("#give-amount", amount);
      await page.click(".ask button[type=submit]");
      expect(await page.getAttribute("#give-amount", "aria-invalid")).toBe("true");
      expect(await page.textContent(".faulty #give-wrong")).toContain(words);
      expect(await visible()).toEqual([true, false, false]);
    }
    expectNothingAsked(page);
    await page.click(".presets button:nth-child(3)");
    expect(await visible()).toEqual([true, true, true]);
    await code(page);
    expect(await linkOn(page)).toContain("amount=100&");
    expect(await page.isVisible(".how .wallet")).toBe(true);
    expect(page.troubles).toEqual([]);
  });

  test("a transfer made by hand counts when its signature is told; what is none is refused in the page's language", async () => {
    const page = await opened("/fr/donate/wells?amount=2.0625#pay");
    await code(page);
    await says(page, /^En attente de 2,0625 USDC/);
    expect(await page.getAttribute(".qr svg", "aria-label")).toContain("2,0625 USDC");
    await page.click(".hand summary");
    await sendSignature(page, "no signature");
    await says(page, /^Ce n’est pas la signature/);
    await sendSignature(page, site.pay(await linkOn(page), { references: [], memo: undefined }));
    await says(page, /^Reçu\u00A0: 2,0625 USDC/);
  });

  test("looks less and less often, stops, and looks again when it is asked to", async () => {
    const pending = { status: "pending", memo: "", retry_after_s: 3, settlement: null };
    site.answerWith((request) => (request.url.includes("/status") ? Response.json(pending) : null));
    const page = await openPage(browser());
    // The waits of half an hour are noted, and end at once.
    await page.addInitScript(() => {
      const waits = [] as number[];
      const set = setTimeout;
      const noted = (run: () => void, waitMs = 0) => {
        if (waitMs >= 1_000) waits.push(waitMs / 1_000);
        return set(run, waitMs >= 1_000 ? 0 : waitMs);
      };
      Object.assign(globalThis, { waits, setTimeout: noted });
    });
    await page.goto(`${site.origin}/donate/wells?amount=4#pay`);
    await page.locator(".again").waitFor();
    const waits = await page.evaluate(() => (globalThis as unknown as { waits: number[] }).waits);
    expect(waits).toEqual(waits.toSorted((one, other) => one - other));
    expect([waits[0], waits[1], waits.at(-1)]).toEqual([2, 3, 15]);
    expect(waits.reduce((sum, wait) => sum + wait, 0) / 60).toBeWithin(10, 40);
    expect(page.asked.filter((path) => path.endsWith("/status")).length).toBeWithin(60, 91);
    await says(page, "No transfer was found so far");
    site.answerWith(null);
    site.pay(await linkOn(page));
    await page.click(".again");
    await says(page, "Received: 4 USDC");
    expect(await page.isVisible(".again")).toBe(false);
  });

  test("an answer that pays another, is no Solana Pay link, or does not come is never offered, and the address stays", async () => {
    const recipient = (await (await fetch(`${site.origin}/api/nonprofits/wells`)).json())
      .usdc_wallet;
    const stranger = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
    const bill = { amount: 5, nonprofit: "Wells", memo: "x", cluster: "local" };
    const another = { ...bill, recipient: stranger, solana_pay: `solana:${stranger}?amount=5` };
    const noLink = { ...bill, recipient, solana_pay: "javascript:alert(1)" };
    let answer = new Response();
    site.answerWith(({ url }) => (url.includes("/api/donate/") ? answer : null));
    const page = await opened("/donate/wells");
    for (const [given, words] of [
      [Response.json(another), "no longer the one"],
      [new Response("<html>bad gateway", { status: 502 }), "does not answer"],
      [Response.json(noLink), "no longer the one"],
    ] as const) {
      answer = given;
      await page.click(".presets button");
      await says(page, words);
      expect(await page.isVisible(".wallet")).toBe(true);
      expect(await page.locator('.qr svg, a[href^="javascript"]').count()).toBe(0);
      expect(await page.getAttribute(".payment a", "href")).toBe("/donate/wells");
    }
  });

  test("on a phone the first way is a wallet here; nothing moves by itself", async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    // The fonts come with the first page.
    const page = await opened("/receipt", phone);
    await page.goto(`${site.origin}/donate/wells#pay`);
    await code(page);
    expect((await box(page, ".payment .button")).y).toBeLessThan((await box(page, ".qr")).y);
    site.pay(await linkOn(page));
    await page.waitForSelector(".paid .found a");
    expect(await layoutShift(page)).toBeLessThan(0.02);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });

  test("a receipt that is not there is told so", async () => {
    const page = await opened("/fr/receipt?nonprofit=../..&id=%00");
    await says(page, "pas de reçu à cette adresse", "#receipt-status");
    expect(await page.isVisible("#receipt-shown")).toBe(false);
  });

  test("without JavaScript pages say all that is needed, and show nothing that needs it", async () => {
    const page = await opened("/donate/wells", { javaScriptEnabled: false });
    for (const shown of [".wallet", ".notice"]) expect(await page.isVisible(shown)).toBe(true);
    for (const hidden of [".ask", ".payment", ".copy", ".again"])
      expect(await page.locator(hidden).first().boundingBox()).toBeNull();
    await page.goto(`${site.origin}/receipt`);
    const words = await page.innerText("#receipt");
    for (const part of ["What a receipt is", "Where to find yours", "with JavaScript"])
      expect(words).toContain(part);
  });
});
