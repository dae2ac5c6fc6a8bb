import { feedPaths } from "#content/contract/feed.ts";
import { keptAnswer } from "#content/enrichment/leaderboard-store.ts";
import { needsAnswer, needsDefault, storedNeedsTotals } from "#content/enrichment/needs-store.ts";
import { causeList, countryList } from "#content/nonprofit/list-store.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { answerBytes } from "#content/nonprofit/wire.ts";
import { openApiDocument } from "#content/openapi/document.ts";
import { directoryFact, storedCounters } from "#content/operation/directory-facts-store.ts";
import { auditHeadsFact } from "#content/operation/audit-chain-store.ts";
import { curatedPicks } from "#content/recommendation/pick-store.ts";
import { chartIds, chartsOf, csvOf, drawn } from "#content/statistics/charts.ts";
import { directoryStats, storedCharts } from "#content/statistics/charts-store.ts";
import type { Recommended } from "#site/lists/list-view.ts";
import { referenceView } from "#site/parts/reference-view.ts";
import { searchView } from "#site/lists/search-view.ts";
import {
  agentsGuide,
  apiCatalog,
  arazzo,
  llmsText,
  mcpCard,
  mcpRegistryEntry,
  pluginManifest,
  publicationDay,
  receiptGuide,
  robotsText,
  contactFact,
  securityText,
} from "./discovery.ts";
import { emptyForms } from "./form-page.ts";
import { type SingleDocument, single, singles, type Source } from "./document.ts";
import { keyOf } from "./keys.ts";
import { sitemapIndex, sitemapOfPages } from "./sitemap.ts";

const nothing = () => ({});
const statsOf = async ({ store }: Source) => directoryStats(store, await storedCounters(store));

const recommendedOnHome = 3;
const recommendedMax = 500;

/** The profiles that the operator picked or approved, those that were picked first before others. */
async function recommended({ store }: Source, most: number): Promise<Recommended[]> {
  const picks = (await curatedPicks(store, { phase: 2 })).slice(0, most);
  const records = await recordsById(
    store,
    picks.map(({ nonprofit_id }) => nonprofit_id),
  );
  const byId = new Map(records.map((record) => [record.id, record]));
  return picks.flatMap(({ nonprofit_id, why_recommended: why, recommended_for, origin }) => {
    const record = byId.get(nonprofit_id);
    if (record === undefined) return [];
    const { slug, name, city, country_code } = record;
    const intents = recommended_for.join("; ");
    return [{ slug, name, city, country: country_code, why, intents, by: saidBy[origin] }];
  });
}

const saidBy = {
  operator: "recommendations.picked",
  draft: "recommendations.drafted",
  consensus: null,
} as const;

/** A value as the service would answer it. */
const json = (of: (source: Source) => unknown) => async (source: Source) =>
  answerBytes(await of(source));

type Singles = Readonly<Record<string, SingleDocument>>;

/** Pages of which there is one: each reads what it shows, and nothing else. */
export const pages: Singles = {
  [keyOf.page("home")]: single("/", async (source) => ({
    stats: await statsOf(source),
    causes: (await causeList(source.store)).causes,
    countries: await countryList(source.store),
    picks: (await recommended(source, recommendedOnHome)).map((pick) => ({ ...pick, by: null })),
  })),
  [keyOf.page("recommendations")]: single("/recommendations", async (source) => ({
    picks: (await recommended(source, recommendedMax)).sort((a, b) => (a.name < b.name ? -1 : 1)),
  })),
  [keyOf.page("causes")]: single("/causes", ({ store }) => causeList(store)),
  [keyOf.page("countries")]: single("/countries", async ({ store }) => ({
    countries: await countryList(store),
  })),
  [keyOf.page("statistics")]: single("/statistics", async (source) => {
    const stats = await statsOf(source);
    return {
      stats,
      charts: await drawn(chartsOf(stats.charts, source.t), source.t),
      publicationDay: await directoryFact(source.store, "publication_day"),
    };
  }),
  [keyOf.page("methodology")]: single("/methodology", nothing),
  [keyOf.page("agents")]: single("/agents", async ({ store }) => ({
    leaderboard: await keptAnswer(store, "leaderboard"),
  })),
  [keyOf.page("match")]: single("/match", nothing),
  [keyOf.page("onboard")]: single("/onboard", emptyForms.onboard),
  [keyOf.page("onboard-status")]: single("/onboard/status", emptyForms.onboardStatus),
  [keyOf.page("corrections")]: single("/corrections", emptyForms.corrections),
  [keyOf.page("correction-status")]: single("/corrections/status", emptyForms.correctionStatus),
  [keyOf.page("receipt")]: single("/receipt", nothing),
  [keyOf.page("widget")]: single("/widget", nothing),
  [keyOf.page("search")]: single("/search", ({ t }) => ({
    view: searchView({}, null, t),
    answered: false,
  })),
  [keyOf.page("about")]: single("/about", async ({ store }) => ({
    contact: (await directoryFact(store, contactFact)) || null,
  })),
  [keyOf.page("privacy")]: single("/privacy", async ({ store }) => ({
    contact: (await directoryFact(store, contactFact)) || null,
  })),
  [keyOf.page("data")]: single("/data", nothing),
  [keyOf.page("developers")]: single("/developers", ({ baseUrl }) => ({
    rooms: referenceView(openApiDocument(baseUrl)),
  })),
  [keyOf.page("not-found")]: single("/404", nothing),
  [keyOf.page("robots")]: single("/robots.txt", robotsText),
};
export const page = singles("page", pages);

/** The files by which programs find out about the directory. */
export const discoveryFiles: Singles = {
  [keyOf.discovery("llms")]: single("/llms.txt", llmsText),
  // Some look for the name in capitals; it is the same guide, so that a folder that ignores letter case can hold it.
  [keyOf.discovery("agents")]: single("/agents.md", agentsGuide, ["agents.md", "AGENTS.md"]),
  [keyOf.discovery("security")]: single("/.well-known/security.txt", securityText),
  [keyOf.discovery("openapi")]: single(
    "/openapi.json",
    json(({ baseUrl }) => openApiDocument(baseUrl)),
  ),
  [keyOf.discovery("arazzo")]: single("/agents.arazzo.yaml", arazzo),
  [keyOf.discovery("catalog")]: single("/.well-known/api-catalog", json(apiCatalog), [
    ".well-known/api-catalog",
  ]),
  [keyOf.discovery("plugin")]: single("/.well-known/ai-plugin.json", json(pluginManifest)),
  [keyOf.discovery("receipts")]: single("/verify-receipt.md", receiptGuide),
  [keyOf.discovery("mcp")]: single("/.well-known/mcp.json", json(mcpCard), [
    ".well-known/mcp.json",
    ".well-known/mcp/server-card.json",
  ]),
  [keyOf.discovery("mcp-registry")]: single("/server.json", json(mcpRegistryEntry)),
};
export const discovery = singles("discovery", discoveryFiles);

export const needsPath = "api/needs-enrichment.json";

/** Each head is signed and stored as its day begins, so that the file is a function of the store. */
const auditHeads: SingleDocument = {
  paths: [feedPaths.audit],
  render: async ({ store }) => {
    const heads = await directoryFact(store, auditHeadsFact);
    return [{ path: feedPaths.audit, body: `${heads ?? '{"heads":[]}'}\n` }];
  },
};

/** The numbers of each chart, for those who draw their own. */
const chartFiles: SingleDocument = {
  paths: chartIds.map((id) => `statistics/${id}.csv`),
  render: async ({ store }) =>
    chartsOf(await storedCharts(store)).map((chart) => ({
      path: `statistics/${chart.id}.csv`,
      body: csvOf(chart),
    })),
};

/** Answers and sitemaps, each a kind of its own. */
export const answers = Object.entries({
  [keyOf.causes]: single(
    "/api/causes.json",
    json(({ store }) => causeList(store)),
  ),
  // The counters are those of the last checkpoint: live ones would make the bundle depend on more than the store.
  [keyOf.stats]: single("/api/stats.json", json(statsOf)),
  [keyOf.chartFiles]: chartFiles,
  [keyOf.leaderboard]: single(
    "/api/agents/leaderboard.json",
    json(({ store }) => keptAnswer(store, "leaderboard")),
  ),
  [keyOf.exemplars]: single(
    "/api/agents/exemplars.json",
    json(({ store }) => keptAnswer(store, "exemplars")),
  ),
  [keyOf.enrichmentStats]: single(
    "/api/enrichments/stats.json",
    json(({ store }) => keptAnswer(store, "enrichment_stats")),
  ),
  [keyOf.auditHeads]: auditHeads,
  [keyOf.needs]: single("/api/needs-enrichment.json", json(needsOf)),
  [keyOf.sitemapPages]: single("/sitemaps/pages.xml", sitemapOfPages),
  [keyOf.sitemapIndex]: single("/sitemap.xml", sitemapIndex),
}).map(([key, document]) => singles(key, { [key]: document }));

/**
 * GET /api/needs-enrichment without parameters, for readers of the bundle alone. The day that turns the rotation and
 * the totals are facts of the store; second opinions are left to the service, which knows them to the second.
 */
async function needsOf({ store, baseUrl }: Source) {
  const query = needsDefault(await publicationDay({ store }));
  const totals = await storedNeedsTotals(store);
  return needsAnswer(store, query, { baseUrl, totals, secondOpinions: null });
}
