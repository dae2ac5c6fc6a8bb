import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { consensusSimulation } from "#content/contract/stats.ts";
import { english } from "#content/language/texts.ts";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { keepAgentAnswers } from "#content/enrichment/leaderboard-store.ts";
import { saveDirectoryFact } from "#content/nonprofit/save.ts";
import { curatedPicks } from "#content/store/tables/recommendations.ts";
import { documentKinds } from "#site/documents/kinds.ts";
import { aRichNonprofit, aSite, siteBaseUrl, type TestSite } from "#test/support/compiled-site.ts";
import { clientFile, clientsInstalled } from "#test/support/clients.ts";
import { runProgram } from "#test/support/processes.ts";
import { aNonprofit } from "#test/support/records.ts";

let site: TestSite;
beforeAll(async () => {
  site = await aSite();
  await site.save([
    aRichNonprofit(),
    aNonprofit({ country_code: "KE", causes: ["water-sanitation"], beneficiaries_per_year: 5 }),
    aNonprofit({ country_code: "NO" }),
    aRichNonprofit({ slug: "gone", status: "withdrawn", registrations: [], country_code: "FR" }),
  ]);
});
afterAll(() => site.close());

const everyPage = [
  "page home",
  "page causes",
  "page countries",
  "page statistics",
  "page methodology",
  "page agents",
  "page onboard",
  "page onboard-status",
  "page corrections",
  "page correction-status",
  "page receipt",
  "page widget",
  "page not-found",
  "page onboard es/",
  "page onboard-status fr/",
  "page corrections fr/",
  "page correction-status es/",
  "page receipt fr/",
  "page widget es/",
  "page match fr/",
  "page methodology es/",
  "list-page cause:education 1",
  "list-page cause:animals 1",
  "list-page country:KE 1",
  "profile 1",
  "profile 1 donate/",
  "profile 2",
  "profile 4",
];

/** A document's page; "donate/" or "es/" at the end asks for the one in that folder. */
const opened = (name: string) => {
  const [, key = name, folder] = /^(.+) ((?:donate|es|fr)\/)$/.exec(name) ?? [];
  return site.page(key, folder);
};

test.skipIf(!clientsInstalled)(
  "every page is valid HTML",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "almoner-html-"));
    try {
      for (const [at, key] of everyPage.entries()) {
        const { html } = await opened(key);
        writeFileSync(join(folder, `${at} ${key.replaceAll(/[/:]/g, "-")}.html`), html);
      }
      const program = clientFile("node_modules/html-validate/bin/html-validate.mjs");
      // Scripts and styles are of this origin: no digest has to vouch for them.
      const checks = ["--preset", "standard,document", "--rule", "require-sri:off"];
      const { code, out, err } = await runProgram(["node", program, ...checks, folder]);
      expect([out + err, code]).toEqual(["", 0]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  240_000,
);

test("what is recommended is marked as English on pages in other languages", async () => {
  const own = await aSite([aNonprofit({ slug: "well" })]);
  const said = { recommended_for: ["rural water"], why_recommended: "Wells last here." };
  await own.store.write((tx) =>
    tx.db.insert(curatedPicks).values({ nonprofit_id: 1, ...said, added_by: "ada" }),
  );
  const { $ } = await own.page("page recommendations", "es/");
  const marked = $('.cards [lang="en"]').map((_, one) => $(one).text().trim());
  expect(marked.get()).toEqual([said.why_recommended, "rural water"]);
  own.close();
});

describe.each(everyPage)("%s", (key) => {
  test("can be read by everyone", async () => {
    const { $ } = await opened(key);
    expect($("html").attr("lang")).toBe(/ (es|fr)\/$/.exec(key)?.[1] ?? "en");
    expect($("h1").length).toBe(1);
    expect($("main").length).toBe(1);
    expect($("head title").text().trim()).not.toBe("");
    expect($("img:not([alt])").length).toBe(0);
    // Headings descend one step at a time.
    const levels = $("h1, h2, h3, h4")
      .toArray()
      .map((heading) => Number(heading.tagName.slice(1)));
    expect(levels.filter((level, at) => at > 0 && level > (levels[at - 1] ?? 0) + 1)).toEqual([]);
    for (const field of $('input:not([type="hidden"]), select, textarea').toArray()) {
      expect(
        $(`label[for="${$(field).attr("id")}"]`)
          .text()
          .trim(),
      ).not.toBe("");
    }
    for (const link of $("a, button").toArray()) expect($(link).text().trim()).not.toBe("");
    for (const landmark of $("nav, aside").toArray()) {
      expect($(landmark).attr("aria-label")).toBeString();
    }
    const ids = $("[id]")
      .toArray()
      .map((element) => $(element).attr("id"));
    expect(new Set(ids).size).toBe(ids.length);
    expect($("a.skip").attr("href")).toBe("#content");
  });

  test("is described to machines", async () => {
    const { $ } = await opened(key);
    const canonical = $('link[rel="canonical"]').attr("href") ?? "";
    expect(canonical.startsWith(`${siteBaseUrl}/`)).toBe(true);
    const description = $('meta[name="description"]').attr("content") ?? "";
    expect(description.length).toBeWithin(20, 201);
    expect($('meta[property="og:description"]').attr("content")).toBe(description);
    expect($('meta[property="og:title"]').attr("content")).toBe($("head title").text());
    expect(JSON.parse($('script[type="application/ld+json"]').text())).toHaveProperty("@type");
  });

  test("asks nothing of other hosts and holds no script or style inside", async () => {
    const { $ } = await opened(key);
    expect($('script:not([type="application/ld+json"]):not([src])').length).toBe(0);
    expect($("style, [style]").length).toBe(0);
    const loaded = $('link[rel="stylesheet"], link[rel="icon"], img, script[src], iframe')
      .toArray()
      .map((element) => $(element).attr("href") ?? $(element).attr("src") ?? "");
    expect(loaded.filter((address) => !/^\/(?!\/)/.test(address))).toEqual([]);
    expect(loaded).toContainEqual(expect.stringMatching(/^\/_astro\/.+\.css$/));
  });
});

test("every page that a page links to exists", async () => {
  const known = new Set([...madeByOthers, ...(await rendered())]);
  const linked = (await Promise.all(everyPage.map(linksOf))).flat();
  const missing = new Set(
    linked
      .filter((href) => !answeredByService.test(href))
      .filter((href) => !known.has(href) && !known.has(href.replace(/\.[a-z]+$/, ""))),
  );
  expect([...missing]).toEqual([]);
});

const madeByOthers = ["/llms.txt", "/agents.md", "/openapi.json", "/.well-known/almoner-keys.json"];

/** The service draws histories, and profiles in other languages, and tells that of a profile that never changed: decision 03. */
const answeredByService =
  /^\/(?:|404|api\/search.*|(?:api\/)?history\/[^/]+|[a-z]{2}\/(?:browse|(?:nonprofits|donate|history|causes|countries)\/[^/]+))$/;

/** Every path of the bundle, as links name it. */
async function rendered(): Promise<string[]> {
  const found: string[] = [];
  for (const kind of documentKinds) {
    for await (const keys of kind.all(site)) {
      const files = await kind.render(keys, site);
      found.push(...files.filter(({ body }) => body !== null).map(({ path }) => path));
    }
  }
  return found.map((path) => `/${path.replace(/(?:^index)?\.(?:html|json)$/, "")}`);
}

/** Where a page links to within the directory, without query and fragment. */
async function linksOf(page: string): Promise<string[]> {
  const { $ } = await opened(page);
  return $("a[href], link[href]")
    .toArray()
    .map((link) => ($(link).attr("href") ?? "").replace(siteBaseUrl, "").replace(/[?#].*$/, ""))
    .filter((href) => href.startsWith("/"));
}

describe("the home page", () => {
  test("tells numbers, causes and countries, without the withdrawn", async () => {
    const { $ } = await site.page("page home");
    const figures = $(".figures").text();
    expect(figures).toBe("nonprofits3countries2claimed profiles1");
    expect($('a[href="/causes/education"]').text()).toBe("Education2");
    expect($('a[href="/countries/ke"]').length).toBe(1);
    expect($('a[href="/countries/fr"]').length).toBe(0);
  });

  test("has a search that works without a script", async () => {
    const { $ } = await site.page("page home");
    expect($("#search").attr("action")).toBe("/search");
    expect($("#search-words").attr("name")).toBe("q");
  });
});

test("the answers of causes and stats stand in the bundle", async () => {
  const causes = JSON.parse((await site.files("causes-json"))["api/causes.json"] ?? "").causes;
  expect(causes).toHaveLength(29);
  expect(causes.find(({ id }: { id: string }) => id === "education")).toMatchObject({
    nonprofit_count: 2,
    count: 2,
  });
  const stats = JSON.parse((await site.files("stats-json"))["api/stats.json"] ?? "");
  expect(stats).toMatchObject({
    nonprofits: 3,
    verified_nonprofits: 1,
    countries: 2,
    causes: 29,
    total_beneficiaries: 12_350,
    total_beneficiaries_per_year: 12_350,
    total_queries: 0,
    queries: { llms_txt: 0 },
  });
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

describe("the page of agents", () => {
  test("says so when no agent has come yet", async () => {
    expect((await site.page("page agents")).$("main").text()).toContain("No agent has completed");
  });

  test("shows the leaderboard that the store keeps", async () => {
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
      ...{ agent_name: "Scout 7", field: "programme" },
      ...{ nonprofit_slug: "lantern-school", nonprofit_name: "Lantern School" },
      ...{ status: "applied", created_at: "2026-11-01 10:00:00" },
    };
    const board = { message: "", totals, top_agents: [agent], recent_activity: [recent] };
    const fact = { name: "leaderboard", value: JSON.stringify(board), now: new Date(0) };
    await site.store.write((tx) => saveDirectoryFact(tx, fact));
    const { $ } = await site.page("page agents");
    expect($("tbody th").text()).toMatch(/^\s*“Scout 7”\s*last seen 1 November 2026\s*$/);
    const numbers = $("tbody td").toArray();
    expect(numbers.map((one) => $(one).text())).toEqual(["4", "9", "3"]);
    const said = $("main .plain li").text().replaceAll(/\s+/g, " ").trim();
    expect(said).toBe("Lantern School: programme“Scout 7”, live, 1 November 2026");
  });

  test("is kept again only when it differs", async () => {
    const now = new Date("2026-11-04T00:00:00Z");
    await keepAgentAnswers(site.store, now);
    expect((await site.page("page agents")).$("tbody").length).toBe(0);
    const before = await newestSequence(site.store);
    await keepAgentAnswers(site.store, now);
    expect(await newestSequence(site.store)).toBe(before);
  });
});

test("the methodology page shows what agreement costs an attacker, as computed", async () => {
  const { $ } = await site.page("page methodology");
  const { outcomes, computed_on } = consensusSimulation;
  const tables = $('[aria-label="What attacks achieve and cost"] tbody tr');
  expect(tables.length).toBe(outcomes.length);
  const pair = outcomes.findIndex(({ attack }) => attack === "colluding-pair");
  const cells = tables
    .eq(pair)
    .find("th, td")
    .toArray()
    .map((cell) => $(cell).text().trim());
  expect(cells.slice(0, 2)).toEqual(["Pair on two networks", "agents"]);
  expect(cells.slice(4)).toEqual(["2 submissions", "2 ids, 2 networks", "4 minutes"]);
  expect($("main").text()).toContain(english.date(computed_on));
});
