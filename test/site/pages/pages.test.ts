import { expect, test } from "bun:test";
import { load } from "cheerio";
import { consensusSimulation } from "#content/contract/stats.ts";
import { english } from "#content/language/texts.ts";
import { saveDirectoryFact } from "#content/nonprofit/save.ts";
import { curatedPicks } from "#content/store/tables/recommendations.ts";
import { seedDirectory } from "#scripts/seed/seed-directory.ts";
import {
  aRichNonprofit,
  aSite,
  theSite,
  siteBaseUrl,
  type TestSite,
} from "#test/support/compiled-site.ts";
import { expectPage, textsAt } from "#test/support/page-table.ts";
import { aNonprofit } from "#test/support/records.ts";

const site = await theSite();
await site.save([
  aRichNonprofit(),
  aNonprofit({ country_code: "KE", causes: ["water-sanitation"], beneficiaries_per_year: 5 }),
  aNonprofit({ country_code: "NO" }),
  aRichNonprofit({ slug: "gone", status: "withdrawn", registrations: [], country_code: "FR" }),
]);
const sample = await theSite();
await seedDirectory(sample.store, { profiles: 3, seedNumber: 1 });

test("what is recommended is marked as English on pages in other languages", async () => {
  using own = await aSite([aNonprofit({ slug: "well" })]);
  const said = { recommended_for: ["rural water"], why_recommended: "Wells last here." };
  await own.store.write((tx) =>
    tx.db.insert(curatedPicks).values({ nonprofit_id: 1, ...said, added_by: "ada" }),
  );
  const { $ } = await own.page("page recommendations", "es/");
  expect(textsAt($, '.cards [lang="en"]')).toEqual([said.why_recommended, "rural water"]);
});

test("the home page tells numbers, causes and countries, without the withdrawn", async () => {
  expectPage((await site.page("page home")).$, [
    [".figures", ["nonprofits3countries2claimed profile1"]],
    ['a[href="/causes/education"]', ["Education2"]],
    ['a[href="/countries/ke"]', 1],
    ['a[href="/countries/fr"]', 0],
    // The search works without a script.
    ["#search@action", ["/search"]],
    ["#search-words@name", ["q"]],
  ]);
});

test("the answers of causes and stats stand in the bundle", async () => {
  const causes = JSON.parse((await site.files("causes-json"))["api/causes.json"] ?? "").causes;
  expect(causes).toHaveLength(29);
  expect(causes.find(({ id }: { id: string }) => id === "education")).toMatchObject({
    nonprofit_count: 2,
    count: 2,
  });
  const stats = JSON.parse((await site.files("stats-json"))["api/stats.json"] ?? "");
  expect(stats).toMatchObject({ nonprofits: 3, countries: 2, total_beneficiaries: 12_350 });
});

test("the counters and the day are those that the store holds", async () => {
  const counters = {
    total_donations: 7,
    total_queries: 1_234,
    queries_this_week: 56,
    queries: { llms_txt: 1, agents_md: 2, ai_plugin: 3, mcp: 4 },
  };
  const now = new Date("2026-11-02T00:00:00Z");
  const facts = { counters: JSON.stringify(counters), publication_day: "2026-11-02" };
  for (const [name, value] of Object.entries(facts)) {
    await site.store.write((tx) => saveDirectoryFact(tx, { name, value, now }));
  }
  expect(JSON.parse((await site.files("stats-json"))["api/stats.json"] ?? "")).toMatchObject(
    counters,
  );
  const { $ } = await site.page("page statistics");
  expect($("main").text()).toContain("1,234");
  expect($("time").attr("datetime")).toBe("2026-11-02");
});

test("robots.txt names the sitemap and welcomes crawlers", async () => {
  const robots = (await site.files("page robots"))["robots.txt"] ?? "";
  expect(robots).toContain(`Sitemap: ${siteBaseUrl}/sitemap.xml`);
  expect(robots).toContain("Allow: /\n");
});

test("the page of agents shows the leaderboard that the store keeps", async () => {
  const agent = {
    agent_name: "Scout 7",
    submissions: 9,
    applied: 4,
    nonprofits_touched: 3,
    last_seen: "2026-11-01 10:00:00",
    flags: [],
  };
  const totals = {
    total_submissions: 9,
    total_applied: 4,
    unique_agents: 1,
    nonprofits_improved: 3,
  };
  const recent = {
    agent_name: "Scout 7",
    field: "programme",
    nonprofit_slug: "lantern-school",
    nonprofit_name: "Lantern School",
    status: "applied",
    created_at: "2026-11-01 10:00:00",
  };
  const board = { message: "", totals, top_agents: [agent], recent_activity: [recent] };
  const fact = { name: "leaderboard", value: JSON.stringify(board), now: new Date(0) };
  await site.store.write((tx) => saveDirectoryFact(tx, fact));
  expectPage((await site.page("page agents")).$, [
    ["tbody th", [/^“Scout 7” ?last seen 1 November 2026$/]],
    ["tbody td", ["4", "9", "3"]],
    ["main .plain li", ["Lantern School: programme“Scout 7”, live, 1 November 2026"]],
  ]);
});

test("the methodology page shows what agreement costs an attacker, as computed", async () => {
  const { $ } = await site.page("page methodology");
  const { outcomes, computed_on } = consensusSimulation;
  const table = '[aria-label="What attacks achieve and cost"] tbody tr';
  expectPage($, [[table, outcomes.length]]);
  const pair = outcomes.findIndex(({ attack }) => attack === "colluding-pair");
  const cells = textsAt($, `${table}:eq(${pair}) > *`);
  expect(cells.slice(0, 2)).toEqual(["Pair on two networks", "agents"]);
  expect(cells.slice(4)).toEqual(["2 submissions", "2 ids, 2 networks", "4 minutes"]);
  expect($("main").text()).toContain(english.date(computed_on));
});

const sampleLine = {
  "": "Sample directory: every organisation, gift and submission in it is invented.",
  es: "Directorio de muestra: todas sus organizaciones, donaciones y propuestas son inventadas.",
  fr: "Annuaire d’exemple\u00A0: ses organisations, ses dons et ses propositions sont tous inventés.",
};
const keys = [
  "page home",
  "page statistics",
  "page recommendations",
  "page agents",
  "page search",
  "profile 1",
  "list-page all 1",
];

const pagesOf = async (of: TestSite, key: string) =>
  Object.entries(await of.files(key)).flatMap(([path, html]) =>
    path.endsWith(".html") ? [{ path, $: load(html ?? "") }] : [],
  );

test.each(keys)("each page of a sample says once that it is invented: %s", async (key) => {
  const pages = await pagesOf(sample, key);
  expect(pages.length).toBeGreaterThan(0);
  for (const { path, $ } of pages) {
    const [, language = ""] = /^(es|fr)(?:\/|\.html)/.exec(path) ?? [];
    expect($(".sample").text()).toBe(sampleLine[language as keyof typeof sampleLine]);
  }
});

test("a page of a real directory does not", async () => {
  for (const key of ["page home", "page statistics", "profile 1"]) {
    for (const { $ } of await pagesOf(site, key)) {
      expect($(".sample, meta[name=robots]").length).toBe(0);
    }
  }
});

test("pictures of a sample say it, too", async () => {
  for (const key of ["picture", "picture education"]) {
    expect(await sample.files(key)).not.toEqual(await site.files(key));
  }
});
