import type { Cause } from "#content/contract/cause.ts";
import type { Leaderboard } from "#content/contract/enrichment-answers.ts";
import type { DataResource } from "#content/contract/feed.ts";
import type { Stats } from "#content/contract/stats.ts";
import type { DrawnChart } from "#content/statistics/charts.ts";
import type { CountryCount } from "#content/nonprofit/list-store.ts";
import type { PageContext } from "#site/parts/page-context.ts";
import type { DonateView, ProfileView } from "#site/profile/profile-view.ts";
import type { ListPageView, Recommended } from "#site/lists/list-view.ts";
import type { referenceView } from "#site/parts/reference-view.ts";
import type { HistoryView } from "#site/profile/history-view.ts";
import type { organisationView } from "#site/profile/organisation-view.ts";
import type { correctionView } from "#site/forms/correction-view.ts";
import type { onboardView } from "#site/forms/onboard-view.ts";
import type { compareView } from "#site/profile/compare-view.ts";
import type { SearchView } from "#site/lists/search-view.ts";
import type { refusalView, StatusView } from "#site/forms/status-view.ts";

type Nothing = object;

/** What pages say of who runs the directory, and of how long it keeps what. */
export type PublicSettings = {
  contact: string | null;
  operator: string | null;
  operatorCountry: string | null;
  recommendationLogDays: number;
};

/** What only this page, named by its file under site/pages, is handed by its document. */
export type PageLocals = {
  "/": {
    stats: Stats;
    causes: Cause[];
    countries: CountryCount[];
    picks: Recommended[];
  };
  "/recommendations": { picks: Recommended[] };
  "/causes": { causes: Cause[] };
  "/browse": { view: ListPageView };
  "/history/[slug]": { view: HistoryView };
  "/organisations/[id]": { view: ReturnType<typeof organisationView> };
  "/search": { view: SearchView; answered: boolean };
  "/compare": { view: ReturnType<typeof compareView> };
  "/countries": { countries: CountryCount[] };
  "/nonprofits/[slug]": { view: ProfileView };
  "/donate/[slug]": { view: DonateView };
  "/statistics": {
    stats: Stats;
    charts: DrawnChart[];
    publicationDay: string | null;
  };
  "/agents": { leaderboard: Leaderboard };
  "/onboard": { view: ReturnType<typeof onboardView> };
  "/onboard/status": { view: StatusView };
  "/corrections": { view: ReturnType<typeof correctionView> };
  "/corrections/status": { view: StatusView };
  "/about": PublicSettings;
  "/privacy": PublicSettings;
  "/data": { resources: readonly DataResource[] };
  "/developers": { rooms: ReturnType<typeof referenceView> };
  "/refusal": { view: ReturnType<typeof refusalView> };
} & Record<"/methodology" | "/match" | "/receipt" | "/widget" | "/404", Nothing>;

/** All that a page is handed. */
export type LocalsOf<Page extends keyof PageLocals> = PageContext & PageLocals[Page];
