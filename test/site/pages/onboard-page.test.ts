import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { chromiumPath, openChromium, openPage, type WatchedPage } from "#test/support/chromium.ts";
import { aGivingSite, type GivingSite } from "#test/support/giving-site.ts";
import { operatorTokens } from "#test/support/onboarding.ts";
import { aWallet } from "#test/support/wallets.ts";
import { decideReview } from "#api/operator/review-queues.ts";

const patientMs = 60_000;

describe.skipIf(chromiumPath === null)("in a browser, an organisation", () => {
  let site: GivingSite;
  let browser: Browser;
  beforeAll(async () => {
    site = await aGivingSite(() => [
      { slug: "kitchen", name: "Hope Kitchen", website: "https://kitchen.example" },
    ]);
    browser = await openChromium();
  }, patientMs);
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  const decide = (id: string, decision: "approved" | "rejected", reason: string | null) =>
    decideReview(site.service.context, {
      id,
      decision,
      operator: Object.keys(operatorTokens)[0] ?? "",
      value: null,
      reason,
    });
  const opened = async (path: string): Promise<WatchedPage> => {
    const page = await openPage(browser);
    await page.goto(site.origin + path);
    return page;
  };
  /** The link to the status page, here. */
  const statusPath = async (page: WatchedPage) => {
    await page.waitForSelector("#onboard-sent a", { timeout: patientMs });
    const href = (await page.getAttribute("#onboard-sent a", "href")) ?? "";
    return href.slice(href.indexOf("/onboard/status"));
  };

  test(
    "claims its profile, proves its wallet, and reads why it was rejected",
    async () => {
      const wallet = aWallet();
      const page = await opened("/nonprofits/kitchen");
      await page.click('a[href="/onboard#claim=kitchen"]');
      await page.waitForSelector("#onboard-prove:not([hidden])");
      expect(await page.inputValue("#field-claim_slug")).toBe("kitchen");
      await page.fill("#field-contact_email", "office@kitchen.example");
      await page.fill("#field-usdc_wallet", wallet.address);
      await page.click("#onboard-prove");
      await page.waitForSelector("#onboard-proof:not([hidden])");
      const challenge = (await page.textContent("#onboard-challenge")) ?? "";
      await page.fill("#field-wallet_signature", wallet.sign(challenge));
      await page.click('main button[type="submit"]');
      const path = await statusPath(page);
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("onboard-sent");
      const id = (
        await site.service.store.raw.execute(
          "SELECT id, wallet_signature FROM onboarding_submissions",
        )
      ).rows[0];
      expect(id?.["wallet_signature"]).toBe(wallet.sign(challenge));
      const status = await opened(path);
      await status.waitForSelector("#status-facts:not([hidden])");
      expect(await status.textContent("#status-facts")).toContain("Waits for review");
      expect(await status.textContent("#status-token")).toMatch(/^almoner-claim=[\w-]{43}$/);
      expect(await status.textContent("#status-file")).toContain("https://kitchen.example/");
      expect(await status.isVisible("#status-look")).toBe(true);
      // No mail server is set, and no link came by mail.
      expect(await status.isVisible("#status-mail")).toBe(false);
      expect(await status.isVisible("#status-confirm")).toBe(false);
      const reason = "<img src=x onerror=alert(1)> no reply";
      await decide(`onboarding-${String(id?.["id"])}`, "rejected", reason);
      await status.reload();
      await status.waitForSelector("#status-facts:not([hidden])");
      expect(await status.textContent("#status-facts")).toContain(reason);
      expect(await status.locator("#status-facts img").count()).toBe(0);
      // The secret travels in no page's address, and nothing was against the policy.
      expect(status.asked.filter((one) => one.startsWith("/onboard"))).toEqual([
        "/onboard/status",
        "/onboard/status",
      ]);
      expect([...page.troubles, ...status.troubles]).toEqual([]);
    },
    patientMs,
  );

  test(
    "hears from a reader that a value is wrong, and the reader what came of it",
    async () => {
      const page = await opened("/nonprofits/kitchen");
      await page.click('a[href="/corrections#kitchen"]');
      await page.waitForSelector("#field-slug");
      expect(await page.inputValue("#field-slug")).toBe("kitchen");
      await page.selectOption("#field", "website");
      await page.fill("#field-what_is_wrong", "It belongs to another.");
      await page.click('main button[type="submit"]');
      await page.waitForSelector("#correction-facts:not([hidden])");
      expect(page.url()).toMatch(/\/corrections\/status#[\w-]{43}$/);
      expect(await page.textContent("#correction-facts")).toContain("Waits for an operator");
      const { rows } = await site.service.store.raw.execute("SELECT id FROM corrections");
      const reason = "<img src=x onerror=alert(1)> the register says so";
      await decide(`correction-${String(rows[0]?.["id"])}`, "rejected", reason);
      await page.reload();
      await page.waitForSelector("#correction-facts:not([hidden])");
      expect(await page.textContent("#correction-facts")).toContain(reason);
      expect(await page.locator("#correction-facts img").count()).toBe(0);
      expect(page.troubles).toEqual([]);
    },
    patientMs,
  );

  test(
    "signs with a wallet of the browser",
    async () => {
      const wallet = aWallet();
      const page = await openPage(browser);
      await page.exposeFunction("signHere", (text: string) => wallet.sign(text));
      await page.addInitScript((address) => {
        const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
        const bytesOf = (text: string) => {
          let number = 0n;
          for (const letter of text) number = number * 58n + BigInt(alphabet.indexOf(letter));
          return Uint8Array.from(number.toString(16).padStart(128, "0").match(/../g) ?? [], (two) =>
            Number.parseInt(two, 16),
          );
        };
        const here = globalThis as unknown as {
          signHere(text: string): Promise<string>;
          solana: unknown;
        };
        here.solana = {
          connect: () => Promise.resolve({ publicKey: { toString: () => address } }),
          signMessage: async (message: Uint8Array) => ({
            signature: bytesOf(await here.signHere(new TextDecoder().decode(message))),
          }),
        };
      }, wallet.address);
      await page.goto(`${site.origin}/onboard`);
      await page.fill("#field-name", "Lantern Trust");
      await page.fill("#field-country", "Kenya");
      await page.fill("#field-contact_email", "a@lantern.example");
      await page.fill("#field-usdc_wallet", wallet.address);
      await page.click("#onboard-prove");
      await page.click("#onboard-sign");
      await page.waitForFunction(
        () => (document.querySelector("#field-wallet_signature") as HTMLInputElement).value !== "",
      );
      await page.click('main button[type="submit"]');
      const status = await opened(await statusPath(page));
      await status.waitForSelector("#status-proof:not([hidden])");
      expect(await status.textContent("#status-note")).toContain("names no website");
      await status.click("#status-withdraw");
      await status.waitForSelector("#status-facts:has-text('Withdrawn by its sender')");
      expect(await status.isVisible("#status-proof")).toBe(false);
      expect([...page.troubles, ...status.troubles]).toEqual([]);
    },
    patientMs,
  );

  test(
    "is shown what is wrong beside the field, by keyboard alone",
    async () => {
      const page = await opened("/onboard");
      await page.focus("#field-claim_slug");
      await page.keyboard.type(`${site.origin}/nonprofits/nobody`);
      await page.focus("#field-contact_email");
      await page.keyboard.type("nobody");
      await page.keyboard.press("Enter");
      await page.waitForSelector('#field-contact_email[aria-invalid="true"]');
      expect(await page.textContent("#field-contact_email-wrong")).not.toBe("");
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("field-contact_email");
      await page.fill("#field-contact_email", "office@kitchen.example");
      await page.keyboard.press("Enter");
      await page.waitForFunction(() =>
        document.querySelector("#onboard-wrong")?.textContent?.includes("claim_slug"),
      );
      expect(await page.locator("[aria-invalid]").count()).toBe(0);
      // A refusal is an answer, though the browser's console counts it as an error.
      expect(page.troubles.filter((trouble) => !/status of (400|404)/.test(trouble))).toEqual([]);
    },
    patientMs,
  );

  test(
    "registers without JavaScript, and keeps the address of its status page",
    async () => {
      const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
      await page.goto(`${site.origin}/onboard`);
      expect(await page.isVisible("#onboard-prove")).toBe(false);
      await page.fill("#field-name", "Harbour <b>Reading</b> Room");
      await page.fill("#field-country", "Atlantis");
      await page.fill("#field-contact_email", "office@reading.example");
      await page.click('main button[type="submit"]');
      expect(await page.textContent("body")).toContain(
        "country: No country has this name or code.",
      );
      await page.goBack();
      expect(await page.inputValue("#field-name")).toBe("Harbour <b>Reading</b> Room");
      await page.fill("#field-country", "Norway");
      await page.click('main button[type="submit"]');
      await page.waitForURL(/\/onboard\/status#[\w-]{43}$/);
      expect(await page.textContent("#status-message")).toContain("waits for review");
      const path = page.url().slice(site.origin.length);
      const status = await opened(path);
      await status.waitForSelector("#status-facts:not([hidden])");
      expect(await status.textContent("#status-facts")).toContain("Harbour <b>Reading</b> Room");
      expect(status.troubles).toEqual([]);
      await page.context().close();
    },
    patientMs,
  );

  test(
    "is told when a link is not whole",
    async () => {
      const page = await opened("/onboard/status");
      await page.waitForFunction(() =>
        document.querySelector("#status-message")?.textContent?.includes("incomplete"),
      );
      await page.goto(`${site.origin}/onboard/status#${"x".repeat(43)}`);
      await page.waitForFunction(() =>
        document.querySelector("#status-message")?.textContent?.includes("No request"),
      );
    },
    patientMs,
  );
});
