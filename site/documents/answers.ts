import { feedPaths } from "#content/contract/feed.ts";
import { storedAnswer } from "#content/enrichment/leaderboard-store.ts";
import { needsAnswer, needsDefault, storedNeedsTotals } from "#content/enrichment/needs-store.ts";
import type { Change } from "#content/nonprofit/changes-store.ts";
import { causeList } from "#content/nonprofit/list-store.ts";
import { auditHeadsFact } from "#content/operation/audit-store.ts";
import { storedCounters } from "#content/operation/directory-facts-store.ts";
import { directoryFact } from "#content/store/facts.ts";
import { chartIds, chartsOf, csvOf } from "#content/statistics/charts.ts";
import { directoryStats, storedCharts } from "#content/statistics/charts-store.ts";
import type { Queryable } from "#content/store/open.ts";
import {
  type DocumentKind,
  kindOfOne,
  single,
  type Source,
  type StaleAfter,
  changesNumbers,
  movesLists,
  needsFields,
  touches,
} from "./document.ts";
import type { PageLocals } from "./page-locals.ts";

/** The day of a directory that was never published on a schedule; the daily rotation needs a first day. */
const firstDay = "2026-01-01";

/** The day of the documents, "YYYY-MM-DD". The store holds it, so that the bundle depends on the store alone. */
export const publicationDay = async (store: Queryable): Promise<string> =>
  (await directoryFact(store, "publication_day")) ?? firstDay;

/** With the counters of the last checkpoint: live ones would make the bundle depend on more than the store. */
export const statsOf = async ({ store }: Source) =>
  directoryStats(store, await storedCounters(store));

/** An answer that is its own kind of document; by default it is stale when numbers of the directory change. */
const answering = <Page extends keyof PageLocals>(
  kind: string,
  page: Page,
  load: Parameters<typeof single<Page>>[1],
  staleAfter: StaleAfter = changesNumbers,
) => kindOfOne(kind, single(page, load, { staleAfter }));

/** Each head is signed and stored as its day begins, so the file depends on the store alone. */
const auditHeads = kindOfOne("audit-heads", {
  paths: [feedPaths.audit],
  staleAfter: changesNumbers,
  render: async ({ store }) => {
    const heads = await directoryFact(store, auditHeadsFact);
    return [{ path: feedPaths.audit, body: `${heads ?? '{"heads":[]}'}\n` }];
  },
});

/** The numbers of each chart, for readers who draw their own. */
const chartFiles = kindOfOne("chart-files", {
  paths: chartIds.map((id) => `statistics/${id}.csv`),
  staleAfter: changesNumbers,
  render: async ({ store }) =>
    chartsOf(await storedCharts(store)).map((chart) => ({
      path: `statistics/${chart.id}.csv`,
      body: csvOf(chart),
    })),
});

const needsKey = "help-wanted";

/** Fields that may move a nonprofit in the list of those that need help while it keeps its place in others. */
const needsOrder: ReadonlySet<string> = new Set([
  "verified",
  "status",
  "beneficiaries_per_year",
  "slug",
]);

const mayMoveInNeeds = (change: Change): boolean =>
  change.moved_lists.includes("thin") || touches(change, needsOrder);

/**
 * GET /api/needs-enrichment without parameters, for readers that have only the bundle. The day of the rotation and the
 * totals come from the store; second opinions are left to the service, which knows them to the second.
 */
const needs: DocumentKind = {
  ...answering(needsKey, "/api/needs-enrichment.json", async ({ store, baseUrl }) => {
    const query = needsDefault(await publicationDay(store));
    const totals = await storedNeedsTotals(store);
    const context = { baseUrl, totals, secondOpinions: null };
    return { answer: await needsAnswer(store, query, context) };
  }),
  staleAtOnce: (change, { needs: listed }) => {
    const isListed = listed?.has(change.slug ?? "") ?? true;
    return mayMoveInNeeds(change) || (isListed && touches(change, needsFields)) ? [needsKey] : [];
  },
};

const answerLoader =
  <Name extends Parameters<typeof storedAnswer>[1]>(name: Name) =>
  async ({ store }: Source) => ({ answer: await storedAnswer(store, name) });

/** Answers of the API that are the same for every client, each its own kind of document. */
export const answers: readonly DocumentKind[] = [
  answering(
    "causes-json",
    "/api/causes.json",
    async ({ store }) => ({ answer: await causeList(store) }),
    movesLists,
  ),
  answering("stats-json", "/api/stats.json", async (source) => ({ answer: await statsOf(source) })),
  chartFiles,
  answering("leaderboard-json", "/api/agents/leaderboard.json", answerLoader("leaderboard")),
  answering("exemplars-json", "/api/agents/exemplars.json", answerLoader("exemplars")),
  answering(
    "enrichment-stats-json",
    "/api/enrichments/stats.json",
    answerLoader("enrichment_stats"),
  ),
  auditHeads,
  needs,
];
