import { storedAnswer } from "#content/enrichment/leaderboard-store.ts";
import { causeList, countryList } from "#content/nonprofit/list-store.ts";
import type { Change } from "#content/nonprofit/changes-store.ts";
import { recordsById } from "#content/nonprofit/record-store.ts";
import { directoryFact } from "#content/store/facts.ts";
import { curatedPicks } from "#content/recommendation/pick-store.ts";
import { storedCharts } from "#content/statistics/charts-store.ts";
import { chartsOf, drawCharts } from "#content/statistics/charts.ts";
import type { RecommendedCard } from "#site/lists/list-view.ts";
import { compareView } from "#site/profile/compare-view.ts";
import { searchView } from "#site/lists/search-view.ts";
import { referenceView } from "#site/parts/reference-view.ts";
import { statsOf } from "./answers.ts";
import {
  type DocumentKey,
  type SingleDocument,
  single,
  singles,
  type Source,
  changesNumbers,
  changesRecommended,
} from "./document.ts";
import { emptyForms } from "./form-page.ts";
import type { PublicSettings } from "./page-locals.ts";

const nothing = () => ({});
const none = { slugs: [], records: [], not_found: [] };
const withNumbers = { staleAfter: changesNumbers };
const withNumbersAndPicks = {
  staleAfter: (change: Change) => changesNumbers(change) || changesRecommended(change),
};

/** Settings that pages show. The publisher stores them as a fact, so that a change renders the pages again. */
export const publicSettingsFact = "public_settings";
const publicSettingsDefault: PublicSettings = {
  contact: null,
  operator: null,
  operatorCountry: null,
  recommendationLogDays: 90,
};
const publicSettings = async ({ store }: Source): Promise<PublicSettings> => ({
  ...publicSettingsDefault,
  ...JSON.parse((await directoryFact(store, publicSettingsFact)) ?? "{}"),
});

const recommendedOnHome = 3;
const recommendedMax = 500;

/** The profiles that the operator picked or approved, the earliest picks first. */
async function recommended({ store }: Source, most: number): Promise<RecommendedCard[]> {
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

/** Single pages; each loads only the data that it shows. */
export const pages = {
  home: single(
    "/",
    async (source) => ({
      stats: await statsOf(source),
      causes: (await causeList(source.store)).causes,
      countries: await countryList(source.store),
      picks: (await recommended(source, recommendedOnHome)).map((pick) => ({ ...pick, by: null })),
    }),
    withNumbersAndPicks,
  ),
  recommendations: single(
    "/recommendations",
    async (source) => ({
      picks: (await recommended(source, recommendedMax)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    }),
    withNumbersAndPicks,
  ),
  causes: single("/causes", ({ store }) => causeList(store), withNumbers),
  countries: single(
    "/countries",
    async ({ store }) => ({ countries: await countryList(store) }),
    withNumbers,
  ),
  statistics: single(
    "/statistics",
    async (source) => {
      const charts = await storedCharts(source.store);
      return {
        stats: await statsOf(source),
        charts: (await drawCharts(chartsOf(charts, source.t), source.t)).filter(
          ({ drawing }) => drawing !== null,
        ),
        publicationDay: await directoryFact(source.store, "publication_day"),
      };
    },
    withNumbers,
  ),
  methodology: single("/methodology", nothing),
  agents: single(
    "/agents",
    async ({ store }) => ({ leaderboard: await storedAnswer(store, "leaderboard") }),
    withNumbers,
  ),
  match: single("/match", nothing),
  onboard: single("/onboard", emptyForms.onboard),
  "onboard-status": single("/onboard/status", emptyForms.onboardStatus),
  corrections: single("/corrections", emptyForms.corrections),
  "correction-status": single("/corrections/status", emptyForms.correctionStatus),
  receipt: single("/receipt", nothing),
  widget: single("/widget", nothing),
  search: single("/search", ({ t }) => ({ view: searchView({}, null, t), answered: false })),
  compare: single("/compare", (source) => ({ view: compareView(none, source) })),
  about: single("/about", publicSettings, withNumbers),
  privacy: single("/privacy", publicSettings, withNumbers),
  data: single("/data", ({ dataPackage }) => ({ resources: dataPackage?.()?.resources ?? [] })),
  developers: single("/developers", ({ baseUrl }) => ({
    rooms: referenceView(baseUrl),
  })),
  "not-found": single("/404", nothing),
  robots: single("/robots.txt", nothing),
} as const satisfies Readonly<Record<string, SingleDocument>>;

export const pageKey = (name: keyof typeof pages): DocumentKey => `page ${name}`;
export const page = singles("page", pages);
