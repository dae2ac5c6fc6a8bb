import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { RouteData } from "astro";
import type { App } from "astro/app";
import type { PageLocals } from "#site/parts/page-locals.ts";
import { type Asset, compiledEntry, readCompiled } from "./compile.ts";

/** The compiled site, resident: renders one page from data, without Vite. */
export type Renderer = {
  /**
   * Renders a page, named by its file under site/pages, from what is handed to it. The page's own address plays no
   * part, so that the same data gives the same bytes, in UTF-8. Throws when the page cannot be rendered.
   */
  render<Page extends keyof PageLocals>(page: Page, locals: PageLocals[Page]): Promise<Uint8Array>;
  /** SHA-256 in hex of all that the site was compiled from. Another digest makes every page stale. */
  readonly digest: string;
  /** Style sheets and other files that pages refer to, with paths inside the bundle. */
  readonly assets: readonly Asset[];
};

/** Opens a site that `compileSite` compiled. Any number of processes may open the same folder. */
export async function openRenderer(compiledFolder: string): Promise<Renderer> {
  const { digest, assets } = await readCompiled(compiledFolder);
  const entryUrl = pathToFileURL(resolve(compiledFolder, compiledEntry)).href;
  const { app } = (await import(entryUrl)) as { app: Pick<App, "match" | "render"> };
  const routes = new Map<string, Route>();
  return {
    digest,
    assets,
    render: async (page, locals) => {
      let route = routes.get(page);
      if (route === undefined) routes.set(page, (route = findRoute(app, page)));
      const { request, routeData } = route;
      return (await app.render(request, { routeData, locals })).bytes();
    },
  };
}

type Route = { request: Request; routeData: RouteData };

/** Any path that the page answers will do: "/nonprofits/[slug]" is asked for as "/nonprofits/slug". */
function findRoute(app: Pick<App, "match">, page: string): Route {
  const request = new Request(`http://localhost${page.replaceAll(/[[\]]/g, "")}`);
  const routeData = app.match(request);
  if (routeData === undefined) throw new Error(`the compiled site has no page ${page}`);
  return { request, routeData };
}
