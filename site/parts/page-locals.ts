import type { SitemapItem } from "./sitemap.ts";
import type { Cause } from "#content/contract/cause.ts";
import type { Leaderboard } from "#content/contract/enrichment-answers.ts";
import type { DonationNetwork } from "#content/contract/transfer.ts";
import type { Stats } from "#content/contract/stats.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { CountryCount } from "#content/nonprofit/list-store.ts";
import type { DonateView, ProfileView } from "./profile-view.ts";
import type { ListPageView } from "./list-view.ts";

/** What every page is handed: where it lies, as absolute addresses need it. */
type PageBase = {
  /** Without a trailing slash. */
  baseUrl: string;
};

/** What an endpoint is handed: a value, whose JSON is the file; or a text, which is the file. */
type Answer = { answer: unknown };
type Text = { text: string };

/** What each page and endpoint, named by its file under site/pages, is handed by its document. */
export type PageLocals = {
  "/": PageBase & { stats: Stats; causes: Cause[]; countries: CountryCount[] };
  "/causes": PageBase & { causes: Cause[] };
  "/causes/[id]/[...page]": PageBase & { view: ListPageView };
  "/countries": PageBase & { countries: CountryCount[] };
  "/countries/[code]/[...page]": PageBase & { view: ListPageView };
  "/nonprofits/[slug]": PageBase & { view: ProfileView };
  "/donate/[slug]": PageBase & { view: DonateView };
  "/statistics": PageBase & { stats: Stats; publicationDay: string | null };
  "/methodology": PageBase;
  "/agents": PageBase & { leaderboard: Leaderboard };
  "/onboard": PageBase & { network: DonationNetwork };
  "/onboard/status": PageBase & { network: DonationNetwork };
  "/receipt": PageBase & { network: DonationNetwork };
  "/widget": PageBase & { network: DonationNetwork };
  "/404": PageBase;
  "/api/causes.json": Answer;
  "/api/needs-enrichment.json": Answer;
  "/api/nonprofits.json": Answer;
  "/api/nonprofits/[slug].json": Answer;
  "/api/nonprofits/[slug]/history.json": Answer;
  "/api/nonprofits/pages/[page].json": Answer;
  "/api/stats.json": Answer;
  "/nonprofits/[slug].md": PageBase & { record: NonprofitRecord };
  "/openapi.json": Answer;
  "/agents.arazzo.yaml": Text;
  "/agents.md": Text;
  "/llms.txt": Text;
  "/robots.txt": PageBase;
  "/sitemap.xml": { items: SitemapItem[] };
  "/sitemaps/[chunk].xml": { items: SitemapItem[] };
  "/sitemaps/pages.xml": { items: SitemapItem[] };
  "/.well-known/ai-plugin.json": PageBase;
  "/.well-known/api-catalog": PageBase;
  "/.well-known/mcp.json": PageBase & {
    tools: { name: string; title: string; description: string }[];
  };
  "/.well-known/security.txt": PageBase & { day: string };
};
