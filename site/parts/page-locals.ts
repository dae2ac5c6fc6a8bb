import type { SitemapItem } from "./sitemap.ts";
import type { Cause } from "#content/contract/cause.ts";
import type { Leaderboard } from "#content/contract/enrichment-answers.ts";
import type { Stats } from "#content/contract/stats.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import type { CountryCount } from "#content/nonprofit/list-store.ts";
import type { BuildInputs, DonateView, ProfileView } from "./profile-view.ts";
import type { ListPageView } from "./list-view.ts";

/** What an endpoint is handed: a value, whose JSON is the file; or a text, which is the file. */
type Answer = { answer: unknown };
type Text = { text: string };
type Nothing = object;

/** What only this page or endpoint, named by its file under site/pages, is handed by its document. */
export type PageLocals = {
  "/": { stats: Stats; causes: Cause[]; countries: CountryCount[] };
  "/causes": { causes: Cause[] };
  "/causes/[id]/[...page]": { view: ListPageView };
  "/countries": { countries: CountryCount[] };
  "/countries/[code]/[...page]": { view: ListPageView };
  "/nonprofits/[slug]": { view: ProfileView };
  "/donate/[slug]": { view: DonateView };
  "/statistics": { stats: Stats; publicationDay: string | null };
  "/methodology": Nothing;
  "/agents": { leaderboard: Leaderboard };
  "/onboard": Nothing;
  "/onboard/status": Nothing;
  "/receipt": Nothing;
  "/widget": Nothing;
  "/404": Nothing;
  "/api/causes.json": Answer;
  "/api/needs-enrichment.json": Answer;
  "/api/nonprofits.json": Answer;
  "/api/nonprofits/[slug].json": Answer;
  "/api/nonprofits/[slug]/history.json": Answer;
  "/api/nonprofits/pages/[page].json": Answer;
  "/api/stats.json": Answer;
  "/nonprofits/[slug].md": { record: NonprofitRecord };
  "/openapi.json": Answer;
  "/agents.arazzo.yaml": Text;
  "/agents.md": Text;
  "/llms.txt": Text;
  "/robots.txt": Nothing;
  "/sitemap.xml": { items: SitemapItem[] };
  "/sitemaps/[chunk].xml": { items: SitemapItem[] };
  "/sitemaps/pages.xml": { items: SitemapItem[] };
  "/.well-known/ai-plugin.json": Nothing;
  "/.well-known/api-catalog": Nothing;
  "/.well-known/mcp.json": {
    tools: { name: string; title: string; description: string }[];
  };
  "/.well-known/security.txt": { day: string };
};

/** All that a page or an endpoint is handed. */
export type LocalsOf<Page extends keyof PageLocals> = BuildInputs & PageLocals[Page];
