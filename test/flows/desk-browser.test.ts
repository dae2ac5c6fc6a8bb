import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import {
  axeFindings,
  axeInstalled,
  describeInBrowser,
  openContext,
} from "#test/support/chromium.ts";
import { aServedDesk, deskToken, plantAtDesk } from "#test/support/served-desk.ts";
import { aNonprofit } from "#test/support/records.ts";
import { hostileMarkup as payloads } from "#test/support/hostile-markup.ts";
import { isFull } from "#test/support/measured.ts";
import { forTests } from "#test/support/at-file-top.ts";

/**
 * Each payload stands in every list; alone on a page and in paths some do, all with ALMONER_FULL_TESTS=1. First the one
 * that breaks out of texts and of attributes alike.
 */
const some = <Item>(all: readonly Item[], step: number): readonly Item[] =>
  isFull ? all : all.filter((_, at) => at % step === 2);
const inPaths = some(payloads, 9);

describeInBrowser("the desk in a browser", (browser) => {
  const desk = forTests(aServedDesk);

  type Watched = Page & { troubles: string[]; elsewhere: string[] };
  async function open(options: { javaScriptEnabled?: boolean } = {}): Promise<Watched> {
    const page = await (await openContext(browser(), options)).newPage();
    const troubles: string[] = [];
    const elsewhere: string[] = [];
    page.on("dialog", (dialog) => {
      troubles.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("pageerror", (error) => troubles.push(error.message));
    // A policy that stopped something says so here: the page had let it through.
    page.on("console", (message) => {
      if (/Content Security Policy|Refused/i.test(message.text())) troubles.push(message.text());
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(desk.origin)) elsewhere.push(request.url());
    });
    return Object.assign(page, { troubles, elsewhere });
  }

  /** An access key as a keyboard sends it: page.keyboard leaves out the text that Chromium matches them by. */
  async function pressWithAlt(page: Page, key: string): Promise<void> {
    const session = await page.context().newCDPSession(page);
    const event = {
      modifiers: 1,
      key,
      unmodifiedText: key,
      windowsVirtualKeyCode: key.toUpperCase().charCodeAt(0),
    };
    await session.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...event });
    await session.send("Input.dispatchKeyEvent", { type: "char", ...event, text: key });
    await session.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
    await session.detach();
  }

  async function signIn(page: Page): Promise<void> {
    await page.goto(`${desk.origin}/desk`);
    await page.fill("#operator-token", deskToken);
    await page.click("button");
    await page.waitForSelector("h1:has-text('Overview')");
  }

  /** A proposal for a profile that waits for the desk. */
  async function propose(field: string, value: string, { name = "Trees", source_url = "" } = {}) {
    const [record] = await desk.service.add(aNonprofit({ name, [field]: null }));
    const source = source_url === "" ? {} : { source_url };
    const body = { field, value, agent_id: "bot", ...source };
    const answer = await desk.service.post(`/api/enrich/${record?.slug}`, body);
    const { submissions } = (await answer.json()) as { submissions: { submission_id: number }[] };
    return { slug: record?.slug, review: `/desk/reviews/prose-${submissions[0]?.submission_id}` };
  }

  test("shows whatever was sent as text: no dialog, no violation of the policy, nothing asked of another host", async () => {
    const planted: Awaited<ReturnType<typeof plantAtDesk>>[] = [];
    for (const text of payloads) planted.push(await plantAtDesk(desk.service, text));
    const page = await open();
    await signIn(page);
    const places = [
      "/desk",
      "/desk/log",
      "/desk/picks",
      "/desk/health",
      "/desk/charts",
      "/desk/undo",
      ...["prose", "contested", "revert", "onboarding", "hold", "draft"].map(
        (kind) => `/desk/queues/${kind}`,
      ),
      // Three kinds of values take turns, and two of requests: such steps meet all of them.
      ...(["values", "contested", "draft", "requests"] as const).flatMap((kind) =>
        some(
          planted.flatMap(({ ids }) => ids[kind]),
          kind === "values" ? 13 : 9,
        ).map((id) => `/desk/reviews/${id}`),
      ),
      ...some(planted, 9).map(({ slug }) => `/desk/picks/${slug}`),
      ...inPaths.flatMap((text) => {
        const value = encodeURIComponent(text);
        return [
          `/desk/log?subject=${value}&operator=${value}&action=${value}`,
          `/desk/undo?agent=${value}&slug=${value}`,
          `/desk/queues/prose?after=${value}&done=${value}`,
          `/desk/picks?done=${value}`,
          `/desk/${value}`,
        ];
      }),
    ];
    expect(places.length).toBeGreaterThan(35);
    let seen = 0;
    for (const place of places) {
      await page.goto(desk.origin + place);
      const found = await page.evaluate(() => ({
        text: document.body.innerText.length,
        foreign: document.querySelectorAll(
          "script, iframe, object, embed, img, style, base, meta[http-equiv]",
        ).length,
        handlers: [...document.querySelectorAll("*")].filter((one) =>
          [...one.attributes].some(({ name }) => name.startsWith("on")),
        ).length,
        links: [...document.querySelectorAll<HTMLAnchorElement>("a[href]")]
          .map(({ protocol }) => protocol)
          .filter((protocol) => !["http:", "https:"].includes(protocol)),
        actions: [...document.forms]
          .map(({ action }) => new URL(action, location.href).origin)
          .filter((origin) => origin !== location.origin),
      }));
      const { text, ...faults } = found;
      const none = { foreign: 0, handlers: 0, links: [], actions: [] };
      expect([place, faults]).toEqual([place, none]);
      seen += text;
    }
    expect(seen).toBeGreaterThan(10_000);
    expect(page.troubles).toEqual([]);
    expect(page.elsewhere).toEqual([]);
    const { ids } = planted[0] ?? {};
    for (const id of [ids?.values[0], ...(ids?.requests ?? [])]) {
      await page.goto(`${desk.origin}/desk/reviews/${id}`);
      expect(await page.textContent(".compare")).toContain(payloads[0] ?? "");
    }
    await page.goto(`${desk.origin}/desk/reviews/${ids?.draft[0]}`);
    expect(await page.inputValue("[name='value.recommended_for']")).toBe(
      `${payloads[0]}\n${payloads[0]} 2`,
    );
  });

  test("is worked through without JavaScript", async () => {
    const { slug, review } = await propose("mission", "We plant trees.");
    const page = await open({ javaScriptEnabled: false });
    await page.goto(desk.origin + review);
    await page.fill("#operator-token", deskToken);
    await page.click("button");
    await page.fill("#value", "We plant many trees.");
    await page.click("text=Approve >> nth=1");
    expect(await page.textContent("[role=status]")).toContain("was approved by");
    expect(await desk.service.json(`/api/nonprofits/${slug}`)).toMatchObject({
      mission: "We plant many trees.",
    });
    await page.click("text=Sign out");
    expect(await page.textContent("h1")).toBe("Sign in");
  });

  test("is worked through by keyboard alone: skip link, order, visible focus, access keys", async () => {
    const { slug, review } = await propose("tagline", "Trees for all");
    const page = await open();
    await page.goto(desk.origin + review);
    // The field has the focus without a key pressed, once the page is drawn.
    await page.waitForFunction(() => document.activeElement?.id === "operator-token");
    await page.keyboard.type(deskToken);
    await page.keyboard.press("Enter");
    await page.waitForSelector(".decide");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
    expect(
      await page.evaluate(
        () => (document.activeElement as HTMLElement).getBoundingClientRect().top,
      ),
    ).toBeGreaterThanOrEqual(0);
    await page.keyboard.press("Enter");
    const walked: string[] = [];
    for (let at = 0; at < 60; at++) {
      await page.keyboard.press("Tab");
      const one = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        const label =
          (element as HTMLInputElement).labels?.[0]?.textContent ??
          element.getAttribute("aria-label") ??
          element.textContent ??
          "";
        return {
          name: label.replace(/\s+/g, " ").trim(),
          outline: outlineStyle !== "none" && outlineWidth !== "0px",
          tag: element.tagName,
        };
      });
      if (one.tag === "BODY") break;
      expect([one.name, one.outline]).toEqual([one.name, true]);
      expect(one.name).not.toBe("");
      walked.push(one.name);
    }
    const order = [
      "which you may edit",
      "for the log",
      "Approve",
      "the sender reads this",
      "Reject",
      "go to the next",
    ].map((part) => walked.findIndex((name) => name.includes(part)));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order.every((at) => at >= 0)).toBe(true);
    await pressWithAlt(page, "r");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("reject-reason");
    await page.keyboard.type("Not true");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForSelector("[role=status]");
    expect(await page.textContent("[role=status]")).toContain("tagline was rejected");
    await pressWithAlt(page, "?");
    await page.waitForURL("**/desk/keys");
    await pressWithAlt(page, "4");
    await page.waitForURL("**/desk/log");
    const again = { field: "tagline", value: "Woods for all", agent_id: "bot" };
    await desk.service.post(`/api/enrich/${slug}`, again);
    await page.goto(`${desk.origin}/desk/queues/prose`);
    await pressWithAlt(page, "o");
    await page.waitForURL("**/desk/reviews/prose-*");
    expect(page.troubles).toEqual([]);
  });

  /** What of a page would trouble somebody at the desk. */
  const faultsOf = (page: Page) =>
    page.evaluate(() => {
      const all = <Kind extends Element>(selector: string) => [
        ...document.querySelectorAll<Kind>(selector),
      ];
      const ids = all("[id]").map(({ id }) => id);
      const { lang, scrollWidth, clientWidth } = document.documentElement;
      const isNamed = (field: HTMLInputElement) =>
        field.labels?.length !== 0 || field.hasAttribute("aria-label");
      const namesColumn = (cell: Element) =>
        cell.textContent === "" || /[A-Z]/.test(getComputedStyle(cell, "::before").content);
      const faults = {
        "another language": lang !== "en",
        "not one heading": all("h1").length !== 1,
        "a field without a name": !all<HTMLInputElement>(
          "input:not([type=hidden]), textarea, select",
        ).every(isNamed),
        "an id twice": new Set(ids).size !== ids.length,
        "wider than the screen": scrollWidth > clientWidth,
        "a cell that does not name its column": !all(".rows td").every(namesColumn),
        "a table without roles": !all(".rows, .rows tr, .rows td, .rows th").every((part) =>
          part.hasAttribute("role"),
        ),
        "a button too small to touch": all("button").some(
          (button) => button.getBoundingClientRect().height < 32,
        ),
      };
      return Object.entries(faults).flatMap(([fault, is]) => (is ? [fault] : []));
    });

  test("fits a phone on every page, and axe finds nothing, in light and in dark", async () => {
    const { review } = await propose("mission", `We plant ${"x".repeat(300)}.`, {
      name: "A".repeat(120),
      source_url: `https://a.example/${"y".repeat(300)}`,
    });
    const page = await open();
    await page.setViewportSize({ width: 360, height: 740 });
    await signIn(page);
    for (const place of [
      review,
      "/desk",
      "/desk/queues",
      "/desk/queues/prose",
      "/desk/picks",
      "/desk/undo",
      "/desk/log",
      "/desk/health",
      "/desk/charts",
      "/desk/profiles",
      "/desk/keys",
    ]) {
      await page.goto(desk.origin + place);
      expect([place, ...(await faultsOf(page))]).toEqual([place]);
      for (const [colorScheme, rules, ground] of [
        ["light", undefined, "rgb(252, 250, 245)"],
        ["dark", ["color-contrast"], "rgb(18, 23, 21)"],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        const findings = axeInstalled ? await axeFindings(page, rules) : [];
        const shown = await page.evaluate(
          () => getComputedStyle(document.documentElement).backgroundColor,
        );
        expect([place, shown, ...findings]).toEqual([place, ground]);
      }
      await page.emulateMedia({ colorScheme: "light" });
    }
  });
});
