import { afterAll, beforeEach, expect, test } from "bun:test";
import { recommendationFunnel } from "#content/recommendation/follow-through-store.ts";
import { openFrontDoor } from "#scripts/start/front-door.ts";
import { openBundleReader } from "#site/delivery/bundle-reader.ts";
import { aBundle } from "../support/bundle.ts";
import { curate } from "../support/curate.ts";
import { theDonatingService } from "../support/donating.ts";
import { aNonprofit } from "../support/records.ts";

let clients = 0;

const at = await theDonatingService();
const usdc_wallet = at.chain.wallet();
await curate(at.service, aNonprofit({ slug: "pumps", causes: ["health"], usdc_wallet }));
await curate(at.service, aNonprofit({ slug: "poor", causes: ["health"] }));
const bundle = aBundle();
bundle.publish({
  "nonprofits/pumps.html": "<h1>Pumps</h1>",
  "nonprofits/pumps.md": "# Pumps",
  "api/nonprofits/pumps.json": "{}",
  "llms.txt": "Almoner",
});
const reader = openBundleReader(bundle.folder);
const frontDoor = await openFrontDoor(at.service.context, reader);
const ask = async (path: string, agent: string, method = "GET") => {
  const headers = {
    "user-agent": agent,
    "x-forwarded-for": `10.3.${clients++ >> 8}.${clients & 255}`,
  };
  const request = new Request(`http://localhost${path}`, { method, headers });
  return (await frontDoor(request)) ?? at.service.app.handle(request);
};
afterAll(() => bundle.close());
beforeEach(() => at.service.context.recommendationLog.flush());

async function stored(agentsCall: number) {
  await at.service.context.recommendationLog.flush();
  const rows = await at.service.rows(
    `SELECT slug, action, form, rank FROM recommendation_follow_throughs
          WHERE recommendation_id = (SELECT max(id) - ? FROM recommendation_log) ORDER BY id`,
    [agentsCall],
  );
  return rows.map((row): Record<string, unknown> => ({ ...row }));
}

test("a recommendation, its page, a payment and the donation make one line of the funnel", async () => {
  const answer = await ask("/api/recommend?cause=health&limit=1", "Donor's Agent/1.0");
  expect(await answer.json()).toMatchObject({ recommendations: [{ slug: "pumps" }] });
  expect((await ask("/nonprofits/pumps", "Donor's Agent/1.0")).status).toBe(200);
  const demand = await ask("/api/donate/pumps?amount=1.5", "Donor's Agent/1.0");
  expect(demand.status).toBe(402);
  const signature = at.paid(await demand.json());
  expect((await at.prove("/api/donate/pumps?amount=1.5", signature)).status).toBe(200);
  expect(await stored(0)).toEqual([
    { slug: "pumps", action: "profile", form: "page", rank: 1 },
    { slug: "pumps", action: "donate", form: null, rank: 1 },
  ]);
  expect(await recommendationFunnel(at.service.store, 0)).toEqual([
    {
      phase: 1,
      intent: "discover",
      cause: "health",
      calls: 1,
      answered: 1,
      profile: 1,
      donate: 1,
      donation: 1,
      given_micro_usdc: 1_500_000n,
    },
  ]);
});

test("pages, markdown and JSON count, by anyone who was recommended something", async () => {
  await ask("/api/recommend?cause=health", "Reader A");
  await ask("/api/recommend?cause=health", "Reader B");
  await ask("/nonprofits/pumps.md", "Reader A");
  await ask("/api/nonprofits/pumps", "Reader B");
  await ask("/nonprofits/pumps", "Reader C");
  await ask("/nonprofits/pumps", "Reader B", "HEAD");
  await ask("/llms.txt", "Reader B");
  expect(await stored(1)).toEqual([
    { slug: "pumps", action: "profile", form: "markdown", rank: 1 },
  ]);
  expect(await stored(0)).toEqual([{ slug: "pumps", action: "profile", form: "json", rank: 1 }]);
});

test("anyone who finds no wallet there followed all the same", async () => {
  await ask("/api/recommend?cause=health", "Follower");
  expect((await ask("/api/donate/poor", "Follower")).status).toBe(422);
  expect((await ask("/api/donate/nobody", "Follower")).status).toBe(404);
  expect(await stored(0)).toEqual([{ slug: "poor", action: "donate", form: null, rank: 2 }]);
});

test("nothing of it names a client or is told to one", async () => {
  const dump = JSON.stringify([
    await at.service.rows("SELECT * FROM recommendation_log"),
    await at.service.rows("SELECT * FROM recommendation_follow_throughs"),
  ]);
  expect(dump).not.toMatch(/Agent\/1\.0|Reader|Follower|10\.3\./);
  for (const path of ["/api/recommend?cause=health", "/api/stats", "/api/nonprofits/pumps"]) {
    expect(await (await ask(path, "Someone")).text()).not.toMatch(
      /follow.?through|recommendation_id/,
    );
  }
});
