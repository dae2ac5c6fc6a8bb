import { afterAll, beforeAll, expect, test } from "bun:test";
import { createFirstPages, type FirstPages } from "#site/delivery/before-first-release.ts";
import { aRichNonprofit, aSite, type TestSite } from "#test/support/compiled-site.ts";
import { aNonprofit } from "#test/support/records.ts";

let site: TestSite;
let pages: FirstPages;
beforeAll(async () => {
  site = await aSite([aRichNonprofit({ slug: "wells" }), aNonprofit({ slug: "no-wallet" })]);
  pages = createFirstPages(site);
});
afterAll(() => site.close());

const ask = (path: string) => pages(new Request(`http://localhost${path}`));

test.each([
  ["/nonprofits/wells", "text/html"],
  ["/donate/wells?amount=5", "text/html"],
  ["/receipt?nonprofit=wells&id=1", "text/html"],
  ["/widget", "text/html"],
  ["/widget/donate.js", "text/javascript"],
  ["/nonprofits/wells.md", "text/markdown"],
  ["/causes/education.md", "text/markdown"],
  ["/AGENTS.md", "text/markdown"],
  ["/.well-known/mcp/server-card.json", "application/json"],
  ["/.well-known/security.txt", "text/plain"],
])("%s is there before the first release", async (path, type) => {
  const answer = await ask(path);
  expect([answer?.status, answer?.headers.get("content-type")?.split(";")[0]]).toEqual([200, type]);
});

test.each(["/", "/nonprofits/wells", "/donate/wells", "/causes/education", "/browse"])(
  "%s is there in markdown, too",
  async (path) => {
    const asked = new Request(`http://localhost${path}`, { headers: { accept: "text/markdown" } });
    expect((await pages(asked))?.headers.get("content-type")).toStartWith("text/markdown");
  },
);

test("without a wallet the profile stands in, and no one is kept there", async () => {
  const answer = await ask("/donate/no-wallet");
  expect(answer?.status).toBe(302);
  expect(answer?.headers.get("location")).toBe("/nonprofits/no-wallet#give");
  expect(answer?.headers.get("cache-control")).toBe("no-store");
  expect(await ask("/donate/nobody")).toBeNull();
});

test.each(["/404", "/404.html", "/index.html"])("%s is of a release", async (path) => {
  expect(await ask(path)).toBeNull();
});
