import type { ListPageView } from "./list-view.ts";
import type { ProfileView } from "./profile-view.ts";

/** What every page is handed: where it lies, as absolute addresses need it. */
export type PageBase = {
  /** Without a trailing slash. */
  baseUrl: string;
};

/** What each page, named by its file under site/pages, is handed by its document. */
export type PageLocals = {
  "/nonprofits/[slug]": PageBase & { view: ProfileView };
  "/causes/[id]/[...page]": PageBase & { view: ListPageView };
  "/countries/[code]/[...page]": PageBase & { view: ListPageView };
};
