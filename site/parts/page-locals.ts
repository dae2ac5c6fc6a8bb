import type { Cause } from "#content/contract/cause.ts";
import type { Leaderboard } from "#content/contract/enrichment-answers.ts";
import type { DonationNetwork } from "#content/contract/network.ts";
import type { Stats } from "#content/contract/stats.ts";
import type { CountryCount } from "#content/nonprofit/list-store.ts";
import type { DonateView } from "./donate-view.ts";
import type { ListPageView } from "./list-view.ts";
import type { ProfileView } from "./profile-view.ts";

/** What every page is handed: where it lies, as absolute addresses need it. */
type PageBase = {
  /** Without a trailing slash. */
  baseUrl: string;
};

/** What each page, named by its file under site/pages, is handed by its document. */
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
};
