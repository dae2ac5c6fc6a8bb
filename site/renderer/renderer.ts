import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { RouteData } from "astro";
import type { App } from "astro/app";
import { compiledEntry, readCompiled } from "./compile.ts";

/** The compiled site in memory: renders pages from data, without Vite. */
export type Renderer = Awaited<ReturnType<typeof openRenderer>>;

/** Opens a site compiled by `compileSite`. Any number of processes may open the same folder. */
export async function openRenderer(compiledFolder: string) {
  const { digest, assets } = await readCompiled(compiledFolder);
  const entryUrl = pathToFileURL(resolve(compiledFolder, compiledEntry)).href;
  const { app } = (await import(entryUrl)) as { app: CompiledApp };
  const routes = new Map<string, Route>();
  return {
    /** SHA-256 in hex of the site's sources. When it changes, every page is stale. */
    digest,
    /** Style sheets and other files that pages use, with their paths in the bundle. */
    assets,
    /**
     * Renders a page, named by its file under site/pages, or another file, from its locals. The result, in UTF-8, does not
     * depend on the request's address, so equal data give equal bytes. Throws when the page cannot be rendered.
     */
    render: async (page: string, locals: Record<string, unknown>) => {
      let route = routes.get(page);
      if (route === undefined) routes.set(page, (route = await findRoute(app, page)));
      const { request, routeData, endpoint } = route;
      // Called directly: Astro's routing costs more than the endpoint, and each profile has two of these files.
      const response =
        endpoint === null
          ? await app.render(request, { routeData, locals })
          : await endpoint({ params: { file: page }, locals });
      return response.bytes();
    },
  };
}

type CompiledApp = Pick<App, "manifest" | "render">;

/** The route that makes all files that are no pages. */
const endpointRoute = "/[...file]";

type Endpoint = (context: {
  params: { file: string };
  locals: unknown;
}) => Response | Promise<Response>;

type Route = { request: Request; routeData: RouteData; endpoint: Endpoint | null };

async function findRoute({ manifest }: CompiledApp, page: string): Promise<Route> {
  const named = (name: string) => manifest.routes.find(({ routeData }) => routeData.route === name);
  const route = named(page) ?? named(endpointRoute);
  if (route === undefined) throw new Error(`the compiled site has no page ${page}`);
  const { routeData } = route;
  // Any path of the page will do: for "/nonprofits/[slug]" it is "/nonprofits/slug".
  const request = new Request(`http://localhost${page.replaceAll(/[[\]]/g, "")}`);
  const compiled = await manifest.pageMap?.get(routeData.component)?.();
  // Cached: Astro would import it for each page that it renders.
  if (compiled !== undefined) manifest.pageMap?.set(routeData.component, async () => compiled);
  if (routeData.type !== "endpoint") return { request, routeData, endpoint: null };
  const GET: unknown = Reflect.get((await compiled?.page()) ?? {}, "GET");
  if (!isEndpoint(GET)) throw new Error(`the endpoint ${page} has no GET`);
  return { request, routeData, endpoint: GET };
}

const isEndpoint = (value: unknown): value is Endpoint => typeof value === "function";
