import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describeInBrowser, openPage } from "#test/support/chromium.ts";
import { aGivingSite, type GivingSite } from "#test/support/giving-site.ts";

describeInBrowser("in a browser, a table of names", (browser) => {
  let site: GivingSite;
  beforeAll(async () => {
    site = await aGivingSite(() => [{ slug: "hope-kitchen", name: "Hope Kitchen" }]);
  });
  afterAll(() => site.close());

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
    const page = await openPage(browser());
    await page.goto(`${site.origin}/match`);
    const strangers = Array.from({ length: 60 }, (_, at) => `Nobody ${at},<b>`);
    await choose(page, ['"Kitchen, Hope",=1+1', ...strangers]);
    await page.click('main button[type="submit"]');
    await page.waitForSelector("#match-result a");
    expect(await page.textContent("#match-said")).toBe("1 of 61 rows matched.");
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
    const page = await openPage(browser());
    await page.goto(`${site.origin}/es/match`);
    await choose(page, ["HOPE KITCHEN INC.,x"]);
    await page.click('main button[type="submit"]');
    await page.waitForSelector("#match-result a");
    expect(await page.textContent("#match-said")).toBe("1 de 1 filas cotejadas.");
    expect(await page.textContent("#match-result a")).toStartWith("Descargar ");
    await choose(page, ['"open']);
    await page.click('main button[type="submit"]');
    await page.waitForSelector("#match-said:has-text('comillas')");
    expect(page.troubles).toEqual([]);
  });

  test("comes back without JavaScript, too", async () => {
    const page = await openPage(browser(), { javaScriptEnabled: false });
    await page.goto(`${site.origin}/match`);
    await choose(page, ["HOPE KITCHEN INC.,x"]);
    const { name, lines } = await downloaded(page, 'main button[type="submit"]');
    expect(name).toBe("matched.csv");
    expect(lines[1]).toStartWith("HOPE KITCHEN INC.,x,hope-kitchen,");
  });
});
