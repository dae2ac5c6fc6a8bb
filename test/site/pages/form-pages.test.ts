import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { load } from "cheerio";
import { saveRecordsWithoutProfile } from "#content/register/import-store.ts";
import { openDrawing } from "#scripts/start/front-door.ts";
import { aRenderer, aRichNonprofit } from "#test/support/compiled-site.ts";
import { aService, type TestService } from "#test/support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await aService({
    env: { ALMONER_TRUSTED_HOPS: "1" },
    context: {
      draw: openDrawing({ dataDir: "", baseUrl: "https://almoner.example", network: "local" }, () =>
        aRenderer(),
      ),
    },
    records: [aRichNonprofit({ slug: "lantern", name: "Lantern <b>School" })],
  });
}, 60_000);
afterAll(() => service.close());

const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
let clients = 0;
const send = (path: string, fields: Record<string, string> | FormData, headers = {}) =>
  service.app.handle(
    new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { ...browser, "x-forwarded-for": `10.6.0.${clients++}`, ...headers },
      body: fields instanceof FormData ? fields : new URLSearchParams(fields),
    }),
  );
const read = async (response: Response) => {
  const $ = load(await response.text());
  const text = (selector: string) => $(selector).text().replaceAll(/\s+/g, " ").trim();
  return { $, text, status: response.status, type: response.headers.get("content-type") };
};

describe("an organisation without a profile has a page", () => {
  const record = {
    org_id: "US-EIN-990305781",
    register: "irs-revocations",
    name: "Gone <b>Anglers</b>",
    as_of: "2026-04-14",
    scope: "",
    state: "revoked",
    facts: { revoked: "2020-05-15" },
  } as const;

  test("that says what registers say, as text and in markdown", async () => {
    await service.store.write((tx) => saveRecordsWithoutProfile(tx, [record]));
    const page = await read(await service.get("/organisations/990305781", browser));
    expect([page.status, page.text("h1")]).toEqual([200, "Gone <b>Anglers</b>"]);
    expect(page.text("main")).toMatch(/Standing: revoked.*as of 14 April 2026/);
    const asked = { accept: "text/markdown" };
    const answer = await service.get("/organisations/990305781", asked);
    expect(answer.headers.get("content-type")).toStartWith("text/markdown");
    const markdown = await answer.text();
    expect(markdown).toContain("# Gone \\<b\\>Anglers");
    expect(markdown).toContain("## Standing: revoked");
  });
});

describe("a person whose request is refused is shown a page", () => {
  test.each([
    ["/search?page=-1", 400, "page is a whole number from 1."],
    ["/history/nobody", 404, "There is nothing here"],
    ["/organisations/12", 400, "nine digits"],
    ["/browse?sort=nothing", 400, "sort is one of"],
  ])("at %s: %d", async (path, status, words) => {
    const page = await read(await service.get(path, browser));
    expect([page.status, page.type]).toEqual([status, "text/html; charset=utf-8"]);
    expect(page.text("main")).toContain(words);
    expect(page.$('meta[name="robots"]').attr("content")).toBe("noindex");
    // A program gets what it got before.
    const problem = await service.get(path, { accept: "*/*" });
    expect(problem.headers.get("content-type")).toBe("application/problem+json");
  });

  test("for a table that is too large, and for a form", async () => {
    const table = new FormData();
    table.append("table", new File(["x".repeat(70_000)], "names.csv"));
    for (const sent of [
      await send("/reconcile/csv", table),
      await send("/api/onboard", { mission: "x".repeat(70_000) }),
    ]) {
      const page = await read(sent);
      expect([page.status, page.text("h1")]).toEqual([413, "This is too much at once"]);
      expect(page.text("main")).toContain("what you typed is still there");
    }
  });

  test("that says how long to wait, with the header for it", async () => {
    const from = { "x-forwarded-for": "10.7.0.1" };
    for (let at = 0; at < 10; at++) await send("/api/onboard", {}, from);
    const refused = await send("/api/onboard", {}, from);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const page = await read(refused);
    expect([page.status, page.text("h1")]).toEqual([429, "Too many requests"]);
    expect(page.text("main")).toMatch(/Try again in \d+ (?:seconds?|minutes?)/);
  });

  test("but not where programs ask", async () => {
    for (const path of ["/api/search?limit=x", "/reconcile?callback=x", "/api/nothing"]) {
      const answer = await service.get(path, browser);
      expect(answer.headers.get("content-type")).toBe("application/problem+json");
    }
  });
});
