import { afterAll, describe, expect, test } from "bun:test";
import { profileAt } from "#api/recommendation/follow-up.ts";
import { openFrontDoor } from "#scripts/start/front-door.ts";
import { openBundleReader } from "#site/delivery/bundle-reader.ts";
import { aBundle } from "#test/support/bundle.ts";
import { curate } from "#test/support/curate.ts";
import { aNonprofit } from "#test/support/records.ts";
import { theService } from "#test/support/service.ts";

// An address may have 256 kB. What is cached of a request weighs what it takes in memory, and a text that is cut does not keep
// the whole one.

const longText = (at: number) => `${at}`.padStart(6, "0") + "a".repeat(240_000);
const requests = 50;
const grownMax = 5_000_000;

const service = await theService();
await curate(service, aNonprofit({ slug: "pumps", causes: ["health"] }));
const bundle = aBundle();
const pages = Array.from({ length: requests }, (_, at) => [`nonprofits/p-${at}.html`, "<p>Hi"]);
bundle.publish(Object.fromEntries(pages));
const frontDoor = await openFrontDoor(service.context, openBundleReader(bundle.folder));
const ask = async (path: string, headers: Record<string, string> = {}) => {
  const request = new Request(`http://localhost${path}`, { headers });
  return (await frontDoor(request)) ?? service.app.handle(request);
};
afterAll(() => bundle.close());

/** What is in use once collecting frees no more, in bytes. */
async function used(): Promise<number> {
  // Waiting writes of the log are no cache.
  await service.context.recommendationLog.flush();
  let now = 0;
  let before = Infinity;
  for (let round = 0; round < 50; round++) {
    await Bun.sleep(20);
    Bun.gc(true);
    now = process.memoryUsage().heapUsed;
    if (before - now < 100_000) break;
    before = now;
  }
  return now;
}

const kinds: Record<string, (at: number) => Promise<Response>> = {
  "a filter of a list": (at) => ask(`/api/nonprofits?cause=${longText(at)}`),
  "a filter that ends in spaces": (at) => ask(`/api/nonprofits?cause=${at}${"+".repeat(240_000)}`),
  "a filter of a search": (at) => ask(`/api/search?country=${longText(at)}`),
  "words of a search": (at) => ask(`/api/search?q=${longText(at)}`),
  "words of a recommendation": (at) => ask(`/api/recommend?q=${longText(at)}`),
  "a query behind a page": (at) => ask(`/nonprofits/p-${Math.max(0, at)}?${longText(at)}`),
  "the header Accept": (at) => ask("/nonprofits/p-0", { accept: longText(at) }),
  "Accept-Encoding": (at) => ask("/nonprofits/p-0", { "accept-encoding": longText(at) }),
  "User-Agent": (at) => ask("/api/recommend?cause=health", { "user-agent": longText(at) }),
};

test("requests of 240 kB take no more memory than their answers", async () => {
  for (const send of Object.values(kinds)) await send(-1);
  const grown: Record<string, number> = {};
  let before = await used();
  for (const [kind, send] of Object.entries(kinds)) {
    for (let at = 0; at < requests; at++) {
      const answer = await send(at);
      await answer.arrayBuffer();
      if (at % 25 === 24) await Bun.sleep(1);
    }
    const now = await used();
    grown[kind] = now - before;
    before = now;
  }
  const tooMuch = Object.entries(grown).filter(([, bytes]) => bytes >= grownMax);
  expect(tooMuch).toEqual([]);
});

test("what is noted of a page that was opened does not keep what stood behind it", async () => {
  const steps = () =>
    Array.from({ length: requests }, (_, at) => {
      const address = `/nonprofits/p-${at}?${longText(at)}`;
      return profileAt(address.slice(0, address.indexOf("?")));
    });
  const kept: number[] = [];
  // What other tests left may go at the same time, but not each time.
  for (let round = 0; round < 3; round++) {
    const noted = steps();
    const before = await used();
    expect(noted.every((step) => step && step.slug.length > 2)).toBe(true);
    noted.length = 0;
    kept.push(before - (await used()));
  }
  expect(Math.min(...kept)).toBeLessThan(grownMax);
});

describe("a filter of more than 200 characters is refused by its name:", () => {
  test.each([
    "/api/search?q=x&cause=",
    "/api/search?q=x&country=",
    "/api/search?region=",
    "/api/nonprofits?cause=",
    "/api/nonprofits?country=",
    "/api/nonprofits?region=",
    "/api/nonprofits?city=",
    "/api/recommend?cause=",
    "/api/recommend?q=x&country=",
    "/api/needs-enrichment?cause=",
    "/api/needs-enrichment?country=",
    "/api/organisations/53-0196605?country=",
    "/api/organisations?name=",
  ])("%s", async (path) => {
    const refused = await service.get(`${path}${"b".repeat(201)}`);
    expect(refused.status).toBe(400);
    const parameter = /(\w+)=$/.exec(path)?.[1];
    expect(await refused.json()).toMatchObject({
      code: "invalid_parameter",
      parameter,
      detail: `${parameter} has at most 200 characters.`,
    });
    expect((await service.get(`${path}+${"b".repeat(200)}+`)).status).not.toBe(400);
  });

  test("of a tool", async () => {
    const call = (argument: string, length: number) =>
      service.post(
        "/mcp",
        {
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "search_nonprofits", arguments: { [argument]: "b".repeat(length) } },
        },
        { accept: "application/json, text/event-stream" },
      );
    expect(await (await call("cause", 201)).text()).toContain("cause has at most 200 characters.");
    expect(await (await call("cause", 200)).text()).not.toContain("at most");
    expect(await (await call("q", 900)).text()).not.toContain("at most");
  });

  test("but not the words of a search", async () => {
    expect((await service.get(`/api/search?q=${"b".repeat(1_200)}`)).status).toBe(200);
    expect((await service.get(`/api/recommend?q=${"b".repeat(1_200)}`)).status).toBe(200);
  });
});
