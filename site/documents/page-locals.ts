import type { Cause, CauseList } from "#content/contract/browse.ts";
import type { DonationHistory } from "#content/contract/donation.ts";
import type {
  EnrichmentStats,
  Exemplars,
  History,
  Leaderboard,
  Needs,
} from "#content/contract/enrichment-answers.ts";
import type { DataResource } from "#content/contract/feed.ts";
import type { NonprofitDetail, NonprofitList } from "#content/contract/nonprofit.ts";
import type { Stats } from "#content/contract/stats.ts";
import type { DrawnChart } from "#content/statistics/charts.ts";
import type { CountryCount } from "#content/nonprofit/list-store.ts";
import type { PageContext } from "#site/parts/page-head.ts";
import type { DonateView, ProfileView } from "#site/profile/profile-view.ts";
import type { ListPageView, RecommendedCard } from "#site/lists/list-view.ts";
import type { referenceView } from "#site/parts/reference-view.ts";
import type { HistoryView } from "#site/profile/history-view.ts";
import type { organisationView } from "#site/profile/organisation-view.ts";
import type { correctionView, onboardView } from "#site/forms/form-view.ts";
import type { compareView } from "#site/profile/compare-view.ts";
import type { SearchView } from "#site/lists/search-view.ts";
import type { refusalView, StatusView } from "#site/forms/status-view.ts";

type Nothing = object;

type Answer<Shape> = { answer: Shape };

/** Settings that pages show: who runs the directory, and how long it keeps logs. */
export type PublicSettings = {
  contact: string | null;
  operator: string | null;
  operatorCountry: string | null;
  recommendationLogDays: number;
};

/** What a page's document passes to it, by the page's file under site/pages. */
type PagesOnly = {
  "/": {
    stats: Stats;
    causes: Cause[];
    countries: CountryCount[];
    picks: RecommendedCard[];
  };
  "/recommendations": { picks: RecommendedCard[] };
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

/** What a file's document passes to it; site/pages/[...file].ts renders all of these. */
export type FileLocals = {
  "/llms.txt": { nonprofits: number; countries: number };
  "/agents.md": {
    /** Some of the profiles that need help, and the fields that they lack. */
    wanted: { slug: string; name: string; needs: string[] }[];
    /** The first profile of all; null in an empty directory. */
    firstSlug: string | null;
  };
  "/openapi.json": Answer<object>;
  "/openapi.yaml": Answer<object>;
  /** `day` is the day of publication, "YYYY-MM-DD". */
  "/.well-known/security.txt": { day: string; contact: string | null };
  "/.well-known/x402": Answer<object>;
  "/.well-known/mcp.json": { tools: { name: string; title: string; description: string }[] };
  /** Chunks count from 1; times are milliseconds since 1970. */
  "/sitemap.xml": { chunks: { chunk: number; updated_at: number }[] };
  "/sitemaps/[chunk].xml": { profiles: { slug: string; updated_at: number }[] };
  /** Addresses of the pages of lists, without a leading slash. */
  "/sitemaps/pages.xml": { lists: string[] };

  "/api/causes.json": Answer<CauseList>;
  "/api/stats.json": Answer<Stats>;
  "/api/needs-enrichment.json": Answer<Needs>;
  "/api/agents/leaderboard.json": Answer<Leaderboard>;
  "/api/agents/exemplars.json": Answer<Exemplars>;
  "/api/enrichments/stats.json": Answer<EnrichmentStats>;
  "/api/nonprofits.json": Answer<NonprofitList>;
  "/api/nonprofits/pages/[page].json": Answer<NonprofitList>;
  "/api/nonprofits/[slug].json": Answer<NonprofitDetail>;
  "/api/history/[slug].json": Answer<History>;
  "/api/donations/[slug].json": Answer<DonationHistory>;
} & Record<
  | "/robots.txt"
  | "/agents.arazzo.yaml"
  | "/verify-receipt.md"
  | "/skill.md"
  | "/.well-known/agent-skills/index.json"
  | "/server.json"
  | "/.well-known/api-catalog"
  | "/.well-known/ai-plugin.json",
  Nothing
>;

export type PageLocals = PagesOnly & FileLocals;

/** All locals of a page or a file, with those that every page gets. */
export type LocalsOf<Page extends keyof PageLocals> = PageContext & PageLocals[Page];
