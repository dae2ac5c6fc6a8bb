import { noFilters } from "#content/contract/browse.ts";
import { describe, expect, test } from "bun:test";
import { wordingFaults } from "#content/nonprofit/text.ts";
import { join } from "node:path";
import { RecommendAnswer } from "#content/contract/recommendation.ts";
import { sourceFrom } from "#content/nonprofit/record.ts";
import { curate } from "#test/support/curate.ts";
import { aNonprofit } from "#test/support/records.ts";
import { aService, theService, testNow } from "#test/support/service.ts";

const complete = {
  description: "Text",
  website: "https://a.test",
  city: "Mombasa",
  region: "Coast",
  mission: "Text",
  founded_year: 1990,
};
const wallet = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
const records = {
  wells: aNonprofit({
    ...complete,
    slug: "wells",
    name: "Village Wells",
    mission: "Clean water for rural villages",
    causes: ["water-sanitation"],
    verified: 1,
    usdc_wallet: wallet,
  }),
  pumps: aNonprofit({
    ...complete,
    slug: "pumps",
    name: "Pumps",
    mission: "Hand pumps; water",
    causes: ["water-sanitation", "education"],
    donation_url: "https://pumps.test/give",
    provenance: {
      donation_url: sourceFrom("organisation", testNow.getTime()),
      city: sourceFrom("consensus", testNow.getTime() - 90 * 86_400_000),
    },
  }),
  thin: aNonprofit({ slug: "thin", name: "Thin School", country_code: "US" }),
};

const intents = ["discover", "donate", "compare", "verify"];

const service = await theService();
await curate(service, ...Object.values(records));
await service.add(aNonprofit({ slug: "not-curated", name: "Water not curated" }));

const answer = async (query: string) =>
  RecommendAnswer.parse(await service.json(`/api/recommend?${query}`));

describe("GET /api/recommend", () => {
  test("ranks the curated profiles that match, and says why", async () => {
    const { recommendations, ranking_signals } = await answer(
      "cause=water-sanitation&q=clean%20water",
    );
    const [wells, pumps] = recommendations.map(({ slug, score, explain }) => {
      const points = Object.fromEntries(explain.map((one) => [one.signal, one.points]));
      return { slug, score, points };
    });
    expect(wells).toEqual({
      slug: "wells",
      score: 125,
      points: {
        editorial_curation_for_starter_set: 50,
        verified_status: 30,
        donation_wallet_present: 20,
        mission_match_strength: 25,
      },
    });
    const points = { source_provenance_recent: 7.5 };
    expect(pumps).toMatchObject({ slug: "pumps", points });
    const applied = recommendations.flatMap((one) => one.ranking_signals_applied);
    expect(new Set(ranking_signals)).toEqual(new Set(applied));
    const [given] = (await answer("q=village&intent=donate")).recommendations;
    expect(given?.explain).toContainEqual({ signal: "donation_wallet_present", points: 40 });
  });

  test("gives absolute addresses and ways to donate", async () => {
    const { recommendations } = await answer("cause=water-sanitation");
    expect(recommendations[0]).toMatchObject({
      rank: 1,
      verified: true,
      editorial_curated: true,
      country: "Kenya",
      donation_available: true,
      donation_methods: ["usdc_x402"],
      profile_url: "https://almoner.example/nonprofits/wells",
      api_url: "https://almoner.example/api/nonprofits/wells",
      donate_url: "https://almoner.example/api/donate/wells",
      give_url: "https://almoner.example/api/donate/wells",
      ways_to_give: [{ kind: "usdc", url: "https://almoner.example/donate/wells" }],
    });
    expect(recommendations[1]).toMatchObject({
      rank: 2,
      donation_methods: ["external_donation_url"],
      donate_url: "https://almoner.example/donate/pumps",
      give_url: null,
      ways_to_give: [{ kind: "donation_page", url: "https://pumps.test/give" }],
    });
  });

  test("points to the search when nothing curated matches", async () => {
    const url = "https://almoner.example/api/search?cause=animals&country=Peru";
    const body = await answer("cause=animals&country=Peru");
    expect(body).toMatchObject({
      count: 0,
      recommendations: [],
      ranking_signals: [],
      no_recommendations_reason: "starter_set_does_not_cover_this_query",
      fallback: { type: "search_redirect", url },
      note: null,
    });
    expect(body.editorial_disclosure).not.toBe("");
    expect((await answer("cause=animls")).note).toContain("animals");
    expect(await answer("q=%3F%21")).toMatchObject({
      count: 0,
      fallback: { type: "search_redirect" },
    });
  });

  test("echoes what was asked", async () => {
    const query = { ...noFilters, q: "Water", intent: "discover", limit: 5 };
    const nothing = { fallback: null, no_recommendations_reason: null };
    expect(await answer("q=Water&limit=99")).toMatchObject({ query, ...nothing });
  });

  test("needs a question, and refuses an unknown intent, naming those there are", async () => {
    for (const query of ["", "q=", "intent=donate", "cause=&country="]) {
      const refused = await service.json(`/api/recommend?${query}`);
      expect(refused).toMatchObject({ status: 400, code: "nothing_asked" });
    }
    const refused = await service.json("/api/recommend?q=water&intent=steal");
    expect(refused).toMatchObject({ status: 400, allowed: intents });
  });

  test("follows a change of a curated profile at once", async () => {
    for (const [parts, count] of [
      [{}, 0],
      [{ mission: "Teaching zoology" }, 1],
      [{ status: "withdrawn" }, 0],
      [{ status: "listed", mission: null }, 0],
    ] as const) {
      await service.change("thin", parts);
      expect([parts, (await answer("q=zoology")).count]).toEqual([parts, count]);
    }
  });

  test("keeps its own sentences restrained", async () => {
    for (const intent of intents) {
      const { recommendations, editorial_disclosure } = await answer(`q=water&intent=${intent}`);
      const ours = recommendations.flatMap((one) => [one.best_next_action, ...one.trust_signals]);
      expect([editorial_disclosure, ...ours].flatMap(wordingFaults)).toEqual([]);
    }
  });
});

test("a service whose operator's file claims too much does not start, and names the phrase", async () => {
  const picks = [
    { slug: "a", recommended_for: ["donors interested in food"], why_recommended: "The best." },
  ];
  const script = `
    const exports = { default: ${JSON.stringify({ picks })} };
    const file = (build) => build.onLoad({ filter: /starter-set\\.json$/ }, () => ({ loader: "object", exports }));
    Bun.plugin({ name: "another file", setup: (build) => void file(build) });
    const { openCurated } = await import("#content/recommendation/curation.ts");
    openCurated(null, { listen: () => {} }, 1);
  `;
  const cwd = join(import.meta.dirname, "../../..");
  const child = Bun.spawn([process.execPath, "-e", script], { cwd, stderr: "pipe" });
  expect(await new Response(child.stderr).text()).toContain(
    'starter set, a: "best" claims too much: say',
  );
  expect(await child.exited).toBe(1);
});

test("of equal scores the one that reaches more people is first, then the one that came first", async () => {
  using other = await aService();
  const reaching = (slug: string, beneficiaries_per_year: number) =>
    aNonprofit({ ...complete, slug, beneficiaries_per_year });
  await curate(other, reaching("few", 10), reaching("many", 900), reaching("also", 900));
  const { recommendations } = RecommendAnswer.parse(await other.json("/api/recommend?country=KE"));
  expect(recommendations.map(({ slug }) => slug)).toEqual(["many", "also", "few"]);
  expect(new Set(recommendations.map(({ score }) => score)).size).toBe(1);
});

test("every call is logged without personal data", async () => {
  await service.get("/api/recommend?q=wells%20me%40mail.test%20%2B44%2020%207946%200958", {
    "user-agent": "Agent/1.0",
  });
  await service.context.recommendationLog.flush();
  const [row] = await service.rows("SELECT * FROM recommendation_log ORDER BY id DESC LIMIT 1");
  const query = { cause: null, country: null, q: "wells [address] [number]", intent: "discover" };
  expect(JSON.parse(String(row?.["query"]))).toEqual(query);
  expect(row).toMatchObject({ top_slug: "wells", called_at: testNow.getTime() });
  expect(JSON.stringify(row)).not.toContain("Agent/1.0");
});

describe("q is understood as in searches", () => {
  const slugs = async (q: string) =>
    (await answer(`q=${q}&limit=10`)).recommendations.map(({ slug }) => slug);

  test("finds a pick by its own words", async () => {
    for (const q of ["It reports what it does", "donors interested in health"])
      expect(await slugs(q)).toEqual(expect.arrayContaining(["wells", "pumps"]));
  });

  test("understands places and kinds as the search does, and names where else there is any", async () => {
    expect(await slugs("wells in Kenya")).toEqual(["wells"]);
    expect(await slugs("agua potable")).toEqual(["wells", "pumps"]);
    for (const query of ["q=clean water in Sweden", "q=agua potable&country=se"]) {
      const { fallback, ...none } = await answer(query);
      const reason = "nothing_in_the_place";
      expect(none).toMatchObject({ count: 0, no_recommendations_reason: reason });
      const message = "Nothing is recommended in Sweden for this, but in Kenya.";
      expect(fallback?.message).toStartWith(message);
    }
  });
});
