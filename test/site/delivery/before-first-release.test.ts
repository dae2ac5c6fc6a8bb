import { expect, test } from "bun:test";
import { createFirstPages } from "#site/delivery/before-first-release.ts";
import { aRichNonprofit, theSite } from "#test/support/compiled-site.ts";
import { aNonprofit } from "#test/support/records.ts";

const site = await theSite([aRichNonprofit({ slug: "wells" }), aNonprofit({ slug: "no-wallet" })]);
const pages = createFirstPages(site);

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

test("HEAD tells the length of what GET gives", async () => {
  const fetch = async (request: Request) => (await pages(request)) ?? new Response(null);
  using server = Bun.serve({ port: 0, fetch });
  const lengthBy = async (method: string) => {
    const answer = await globalThis.fetch(new URL("/robots.txt", server.url), { method });
    return answer.headers.get("content-length");
  };
  expect(await lengthBy("GET")).not.toBe("0");
  expect(await lengthBy("HEAD")).toBe(await lengthBy("GET"));
});

test("pages are there in markdown, too", async () => {
  const headers = { accept: "text/markdown" };
  for (const path of ["/", "/nonprofits/wells", "/donate/wells", "/causes/education", "/browse"]) {
    const answer = await pages(new Request(`http://localhost${path}`, { headers }));
    expect([path, answer?.headers.get("content-type")?.split(";")[0]]).toEqual([
      path,
      "text/markdown",
    ]);
  }
});

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
