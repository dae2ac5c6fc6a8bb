import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { logOperator } from "#content/operation/audit-store.ts";
import { axeFindings, axeInstalled, chromiumPath, openChromium } from "../support/chromium.ts";
import {
  aServedDesk,
  deskToken,
  plant,
  plantOnboarding,
  plantNonprofit,
  type ServedDesk,
} from "../support/served-desk.ts";
import { aNonprofit } from "../support/records.ts";
import { hostileMarkup as payloads } from "#test/support/hostile-markup.ts";
import { isFull } from "#test/support/measured.ts";

if (chromiumPath === null)
  process.stderr.write(
    "skipped: the desk's pages need a browser (Debian: apt-get install chromium)\n",
  );

/** Each payload stands in every list; alone on a page and in paths some do, all with ALMONER_FULL_TESTS=1. */
const some = (all: readonly string[], step: number) =>
  isFull ? all : all.filter((_, at) => at % step === 0);
const inPaths = some(payloads, 3);

describe.skipIf(chromiumPath === null)("the desk in a browser", () => {
  let browser: Browser;
  let desk: ServedDesk;
  beforeAll(async () => {
    browser = await openChromium();
    desk = await aServedDesk();
  }, 240_000);
  afterAll(async () => {
    await browser.close();
    await desk.close();
  });

  type Watched = Page & { troubles: string[]; elsewhere: string[] };
  async function open(
    options: { javaScriptEnabled?: boolean; colorScheme?: "dark" | "light" } = {},
  ): Promise<Watched> {
    const context: BrowserContext = await browser.newContext(options);
    const page = await context.newPage();
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

  test("shows whatever was sent as text: no dialog, no violation of the policy, nothing asked of another host", async () => {
    const { service } = desk;
    const asked: string[] = [];
    for (const text of payloads) {
      const nonprofit_id = await plantNonprofit(service, text);
      asked.push(await plantOnboarding(service, nonprofit_id, text));
      const sent = { nonprofit_id, agent: text, source_url: text };
      await plant(service, { ...sent, field: "mission", field_type: "prose", value: text });
      await plant(service, {
        ...sent,
        field: "programme",
        field_type: "prose",
        value: JSON.stringify({ name: text, description: text }),
      });
      await service.store.write((tx) =>
        tx.raw.execute({
          sql: "INSERT INTO recommendation_drafts (nonprofit_id, recommended_for, normalised, why_recommended, source_url, agent_id, agent_name, phase, status, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, 3, 'pending', 0)",
          args: [nonprofit_id, JSON.stringify([text, `${text} 2`]), text, text, text, text, text],
        }),
      );
      await plant(service, { ...sent, field: "region", field_type: "structured", value: text });
      await plant(service, {
        ...sent,
        field: "region",
        field_type: "structured",
        value: `${text} `,
        agent: `${text}2`,
      });
      await service.store.write((tx) =>
        tx.raw.execute({
          sql: "INSERT INTO pending_fields (nonprofit_id, field, pending, list_order) VALUES (?, 'region', 2, 0) ON CONFLICT DO UPDATE SET pending = 2",
          args: [nonprofit_id],
        }),
      );
      await plant(service, {
        ...sent,
        field: "city",
        field_type: "structured",
        value: `${text}!`,
        audit_only: 1,
        confidence: 2,
      });
      await service.store.write((tx) =>
        logOperator(tx, {
          operator: text,
          action: text,
          subject: text,
          detail: { value: text, [text]: { [text]: [text] } },
          at: Date.now(),
        }),
      );
      await service.store.write((tx) =>
        tx.raw.execute({
          sql: "INSERT INTO curated_picks (nonprofit_id, recommended_for, why_recommended, origin, added_by, updated_at) VALUES (?, ?, ?, 'operator', ?, 1)",
          args: [nonprofit_id, JSON.stringify([text]), text, text],
        }),
      );
    }
    const page = await open();
    await signIn(page);
    const ids = await service.store.raw.execute(
      "SELECT id, nonprofit_id, field_type, audit_only FROM submissions WHERE field IN ('mission', 'city', 'programme')",
    );
    const reviews = ids.rows.map((row) =>
      row["field_type"] === "prose"
        ? `prose-${Number(row["id"])}`
        : `revert-${Number(row["nonprofit_id"])}-city`,
    );
    const contested = ids.rows
      .filter((row) => row["field_type"] === "prose")
      .map((row) => `contested-${Number(row["nonprofit_id"])}-region`);
    const drafts = (await service.rows("SELECT id FROM recommendation_drafts ORDER BY id")).map(
      (row) => `draft-${Number(row["id"])}`,
    );
    const slugs = (await service.rows("SELECT slug FROM nonprofits")).map((row) =>
      String(row["slug"]),
    );
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
      // Three kinds of reviews take turns, and two of requests: such steps meet all of them.
      ...[
        ...some(reviews, 4),
        ...some([...new Set(contested)], 3),
        ...some(drafts, 3),
        ...some(
          asked.flatMap((id) => [`onboarding-${id}`, `hold-${id}`]),
          3,
        ),
      ].map((id) => `/desk/reviews/${id}`),
      ...some(slugs, 3).map((slug) => `/desk/picks/${slug}`),
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
    expect(places.length).toBeGreaterThan(80);
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
        links: [...document.querySelectorAll("a[href]")].map(
          (one) => (one as HTMLAnchorElement).protocol,
        ),
        actions: [...document.forms].map((one) => new URL(one.action, location.href).origin),
      }));
      expect([place, found.foreign, found.handlers]).toEqual([place, 0, 0]);
      expect(found.links.filter((protocol) => !["http:", "https:"].includes(protocol))).toEqual([]);
      expect(found.actions.filter((origin) => origin !== desk.origin)).toEqual([]);
      seen += found.text;
    }
    expect(seen).toBeGreaterThan(10_000);
    expect(page.troubles).toEqual([]);
    expect(page.elsewhere).toEqual([]);
    for (const id of [reviews[0], `onboarding-${asked[0]}`, `hold-${asked[0]}`]) {
      await page.goto(`${desk.origin}/desk/reviews/${id}`);
      expect(await page.textContent(".compare")).toContain(payloads[0] ?? "");
      await page.goto(`${desk.origin}/desk/reviews/${drafts[0]}`);
      expect(await page.inputValue("[name='value.recommended_for']")).toBe(
        `${payloads[0]}\n${payloads[0]} 2`,
      );
    }
  }, 300_000);

  test("is worked through without JavaScript", async () => {
    const { service } = desk;
    const [record] = await service.add(aNonprofit({ mission: null }));
    const answer = await service.post(`/api/enrich/${record?.slug}`, {
      field: "mission",
      value: "We plant trees.",
      agent_id: "bot",
    });
    const { submissions } = (await answer.json()) as { submissions: { submission_id: number }[] };
    const page = await open({ javaScriptEnabled: false });
    await page.goto(`${desk.origin}/desk/reviews/prose-${submissions[0]?.submission_id}`);
    await page.fill("#operator-token", deskToken);
    await page.click("button");
    await page.fill("#value", "We plant many trees.");
    await page.click("text=Approve >> nth=1");
    expect(await page.textContent("[role=status]")).toContain("was approved by");
    const profile = await service.json(`/api/nonprofits/${record?.slug}`);
    expect((profile as { mission: string }).mission).toBe("We plant many trees.");
    await page.click("text=Sign out");
    expect(await page.textContent("h1")).toBe("Sign in");
  }, 240_000);

  test("is worked through by keyboard alone: skip link, order, visible focus, access keys", async () => {
    const { service } = desk;
    const [record] = await service.add(aNonprofit({ tagline: null }));
    const answer = await service.post(`/api/enrich/${record?.slug}`, {
      field: "tagline",
      value: "Trees for all",
      agent_id: "bot",
    });
    const { submissions } = (await answer.json()) as { submissions: { submission_id: number }[] };
    const id = `prose-${submissions[0]?.submission_id}`;
    const page = await open();
    await page.goto(`${desk.origin}/desk/reviews/${id}`);
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
    await service.post(`/api/enrich/${record?.slug}`, {
      field: "tagline",
      value: "Woods for all",
      agent_id: "bot",
    });
    await page.goto(`${desk.origin}/desk/queues/prose`);
    await pressWithAlt(page, "o");
    await page.waitForURL("**/desk/reviews/prose-*");
    expect(page.troubles).toEqual([]);
  }, 240_000);

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

  test.each([
    ["light", undefined, "rgb(252, 250, 245)"],
    ["dark", ["color-contrast"], "rgb(18, 23, 21)"],
  ] as const)(
    "fits a phone on every page, and axe finds nothing, in %s",
    async (colorScheme, rules, ground) => {
      const { service } = desk;
      const [record] = await service.add(aNonprofit({ name: "A".repeat(120), mission: null }));
      const answer = await service.post(`/api/enrich/${record?.slug}`, {
        field: "mission",
        value: `We plant ${"x".repeat(300)}.`,
        source_url: `https://a.example/${"y".repeat(300)}`,
        agent_id: "bot",
      });
      const { submissions } = (await answer.json()) as { submissions: { submission_id: number }[] };
      const page = await open({ colorScheme });
      await page.setViewportSize({ width: 360, height: 740 });
      await signIn(page);
      for (const place of [
        ...["", "/queues", "/queues/prose", `/reviews/prose-${submissions[0]?.submission_id}`],
        ...["/picks", "/undo", "/log", "/health", "/charts", "/profiles", "/keys"],
      ]) {
        await page.goto(`${desk.origin}/desk${place}`);
        const findings = axeInstalled ? await axeFindings(page, rules) : [];
        expect([place, ...findings, ...(await faultsOf(page))]).toEqual([place]);
        const shown = await page.evaluate(
          () => getComputedStyle(document.documentElement).backgroundColor,
        );
        expect(shown).toBe(ground);
      }
    },
    240_000,
  );
});
