import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import bs58 from "bs58";
import type { BrowserContextOptions, Page } from "playwright-core";
import { addBrowserWallet } from "#test/support/browser-wallet.ts";
import { describeInBrowser, openPage, type WatchedPage } from "#test/support/chromium.ts";
import { aGivingSite } from "#test/support/giving-site.ts";
import { operatorTokens } from "#test/support/onboarding.ts";
import { aWallet } from "#test/support/wallets.ts";
import { decideReview } from "#api/operator/requests.ts";
import { forTests } from "#test/support/at-file-top.ts";

describeInBrowser("in a browser, who sends a form", (browser) => {
  const site = forTests(() =>
    aGivingSite(() => [
      { slug: "hope-kitchen", name: "Hope Kitchen", website: "https://kitchen.example" },
    ]),
  );

  /** An operator rejects a request, and its status page says why: as text. */
  const rejectAndRead = async (page: WatchedPage, id: string) => {
    const reason = "<img src=x onerror=alert(1)> no reply";
    const [operator = ""] = Object.keys(operatorTokens);
    const decision = { id, decision: "rejected", operator, value: null, reason } as const;
    await decideReview(site.service.context, decision);
    await page.reload();
    await page.waitForSelector("#status .stage");
    expect(await page.textContent("#status")).toContain(reason);
    expect(await page.locator("#status img").count()).toBe(0);
  };
  const opened = async (
    path: string,
    options: BrowserContextOptions = {},
  ): Promise<WatchedPage> => {
    const page = await openPage(browser(), options);
    await page.goto(site.origin + path);
    return page;
  };
  /** Sends the form; its answer is the status page. Answers that page's path with its secret. */
  const sendForm = async (page: WatchedPage): Promise<string> => {
    await page.click('main form [type="submit"]');
    await page.waitForURL(/\/status#[\w-]{43}$/);
    await page.waitForSelector("#status .stage");
    return page.url().slice(site.origin.length);
  };

  test("claims its profile, proves its wallet, and reads why it was rejected", async () => {
    const wallet = aWallet();
    const page = await opened("/nonprofits/hope-kitchen");
    await page.click('a[href="/onboard?claim=hope-kitchen"]');
    await page.waitForSelector("#field-contact_email");
    expect(await page.textContent(".known")).toContain("kitchen.example");
    await page.fill("#field-contact_email", "office@kitchen.example");
    await page.click("form details summary");
    await page.fill("#field-usdc_wallet", wallet.address);
    await page.click("#wallet-ask");
    await page.waitForSelector("#wallet-text:not([hidden])");
    const challenge = (await page.textContent("#wallet-challenge")) ?? "";
    await page.fill("#field-wallet_signature", wallet.sign(challenge));
    const path = await sendForm(page);
    const id = (
      await site.service.rows("SELECT id, wallet_signature FROM onboarding_submissions")
    )[0];
    expect(id?.["wallet_signature"]).toBe(wallet.sign(challenge));
    const status = await opened(path);
    await status.waitForSelector("#status .stage");
    expect(await status.textContent(".stage")).toBe("Waits for review");
    expect(await status.textContent("#status-token")).toMatch(/^almoner-claim=[\w-]{43}$/);
    expect(await status.textContent("#status-file")).toContain("https://kitchen.example/");
    expect(await status.isVisible("#status-copy")).toBe(true);
    // No mail server is set, and no link came by mail.
    const buttons = status.locator("#status .buttons button");
    expect(await buttons.evaluateAll((all) => all.map((one) => one.getAttribute("value")))).toEqual(
      ["look", "withdraw"],
    );
    await rejectAndRead(status, `onboarding-${String(id?.["id"])}`);
    // The secret travels in no page's address, and nothing was against the policy.
    const asks = ["/onboard/status", "/api/onboard/status/page"];
    expect(status.asked.filter((one) => one.includes("/onboard"))).toEqual([...asks, ...asks]);
    expect([...page.troubles, ...status.troubles]).toEqual([]);
  });

  test("finds what was typed after going back, without the proof of a wallet, which is spent", async () => {
    const wallet = aWallet();
    const typed = {
      donation_url: "kitchen.example/donate",
      usdc_wallet: wallet.address,
      contact_email: "office@kitchen.example",
    };
    const page = await opened("/onboard?claim=hope-kitchen");
    await page.click("form details summary");
    for (const [name, value] of Object.entries(typed)) await page.fill(`#field-${name}`, value);
    await page.click("#wallet-ask");
    await page.waitForSelector("#wallet-text:not([hidden])");
    const challenge = (await page.textContent("#wallet-challenge")) ?? "";
    await page.fill("#field-wallet_signature", wallet.sign(challenge));
    await sendForm(page);
    await page.goBack();
    for (const [name, value] of Object.entries({ ...typed, wallet_signature: "" }))
      expect(await page.inputValue(`#field-${name}`)).toBe(value);
  });

  test("hears from a reader that a value is wrong, and the reader what came of it", async () => {
    const page = await opened("/nonprofits/hope-kitchen");
    await page.click('a[href="/corrections?profile=hope-kitchen"]');
    await page.click('a[href="/corrections?profile=hope-kitchen&field=website"]');
    expect(await page.textContent(".present")).toContain("kitchen.example");
    await page.fill("#field-what_is_wrong", "It belongs to another.");
    expect(await sendForm(page)).toStartWith("/corrections/status#");
    expect(await page.textContent(".stage")).toBe("Waits for an operator");
    const rows = await site.service.rows("SELECT id FROM corrections");
    await rejectAndRead(page, `correction-${String(rows[0]?.["id"])}`);
    expect(page.troubles).toEqual([]);
  });

  test("signs with a wallet of the browser", async () => {
    const wallet = aWallet();
    const page = await openPage(browser());
    await addBrowserWallet(page, wallet.address, (text) =>
      bs58.decode(wallet.sign(text.toString())),
    );
    await page.goto(`${site.origin}/onboard?register=1`);
    await page.fill("#field-name", "Lantern Trust");
    await page.selectOption("#field-country", "Kenya");
    await page.fill("#field-contact_email", "a@lantern.example");
    await page.click("form details summary");
    await page.fill("#field-usdc_wallet", wallet.address);
    await page.click("#wallet-ask");
    await page.click("#wallet-sign button:has-text('Sign with Test Wallet')");
    await page.waitForFunction(
      () => (document.querySelector("#field-wallet_signature") as HTMLInputElement).value !== "",
    );
    await sendForm(page);
    expect(await page.textContent("#status")).toContain("names no website");
    await page.click("#status [value=withdraw]");
    await page.waitForSelector("#status:has-text('Withdrawn by its sender')");
    expect(await page.locator("#status .buttons").count()).toBe(0);
    expect(page.troubles).toEqual([]);
  });

  test.each([true, false])(
    "is led from the summary to what is wrong, by keyboard, with what was typed (script: %p)",
    async (javaScriptEnabled) => {
      const town = `Harbour <b>Town</b> ${javaScriptEnabled}`;
      const page = await opened("/onboard?q=hope", { javaScriptEnabled });
      await page.click(".matches .button");
      await page.waitForSelector("#field-contact_email");
      expect(await page.isVisible("#wallet-ask")).toBe(false);
      await page.fill("#field-city", town);
      await page.fill("#field-contact_email", "nobody");
      await page.keyboard.press("Enter");
      await page.waitForSelector(".faults");
      expect(await page.evaluate(() => document.activeElement?.className)).toBe("faults");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("field-contact_email");
      expect(await page.inputValue("#field-city")).toBe(town);
      await page.fill("#field-contact_email", "office@kitchen.example");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/onboard\/status#[\w-]{43}$/);
      if (!javaScriptEnabled) {
        expect(await page.textContent("#status")).toContain("we have received it");
        await page.fill("#status-secret", page.url());
        await page.keyboard.press("Enter");
      }
      await page.waitForSelector("#status .stage");
      expect(await page.textContent("#status")).toContain("What happens next");
    },
  );

  test("is told when a link is not whole", async () => {
    const page = await opened("/onboard/status");
    await page.waitForFunction(() =>
      document.querySelector("#status")?.textContent?.includes("The link to this page"),
    );
    expect(await page.textContent("#status .tagline")).toContain("If you have just sent one,");
    await page.goto(`${site.origin}/onboard/status#${"x".repeat(43)}`);
    await page.waitForSelector("#status-notice:has-text('Nothing was found for this link')");
  });

  describe("as a table of names", () => {
    const choose = (page: Page, rows: string[]) =>
      page.setInputFiles("#match-table", {
        name: "my names.csv",
        mimeType: "text/csv",
        buffer: Buffer.from(["name,note", ...rows, ""].join("\n")),
      });
    const downloaded = async (page: Page, selector: string) => {
      const [file] = await Promise.all([page.waitForEvent("download"), page.click(selector)]);
      return {
        name: file.suggestedFilename(),
        lines: readFileSync((await file.path()) ?? "", "utf8").split("\r\n"),
      };
    };

    test("is matched in batches, and comes back as a file", async () => {
      const page = await opened("/match");
      const strangers = Array.from({ length: 60 }, (_, at) => `Nobody ${at},<b>`);
      await choose(page, ['"Kitchen, Hope",=1+1', ...strangers]);
      await page.click('main button[type="submit"]');
      await page.waitForSelector("#match-result a");
      expect(await page.textContent("#match-said")).toBe("Rows matched: 1 of 61.");
      const { name, lines } = await downloaded(page, "#match-result a");
      expect(name).toBe("my names-matched.csv");
      expect(lines[1]).toStartWith('"Kitchen, Hope",\'=1+1,hope-kitchen,');
      expect(lines).toHaveLength(63);
      // Twice: the batches, each with its numbers.
      expect(page.asked.filter((path) => path === "/reconcile")).toHaveLength(4);
      await choose(page, ['"open']);
      await page.click('main button[type="submit"]');
      await page.waitForSelector("#match-said:has-text('look for a quote')");
      expect(page.troubles).toEqual([]);
    });

    test("is answered in the language of its page", async () => {
      const page = await opened("/es/match");
      await choose(page, ["HOPE KITCHEN INC.,x"]);
      await page.click('main button[type="submit"]');
      await page.waitForSelector("#match-result a");
      expect(await page.textContent("#match-said")).toBe("Filas cotejadas: 1 de 1.");
      expect(await page.textContent("#match-result a")).toStartWith("Descargar ");
      await choose(page, ['"open']);
      await page.click('main button[type="submit"]');
      await page.waitForSelector("#match-said:has-text('comillas')");
      expect(page.troubles).toEqual([]);
    });

    test("comes back without JavaScript, too", async () => {
      const page = await opened("/match", { javaScriptEnabled: false });
      await choose(page, ["HOPE KITCHEN INC.,x"]);
      const { name, lines } = await downloaded(page, 'main button[type="submit"]');
      expect(name).toBe("matched.csv");
      expect(lines[1]).toStartWith("HOPE KITCHEN INC.,x,hope-kitchen,");
    });
  });
});
