import type { Config } from "#api/config.ts";
import type { Context } from "#api/context.ts";
import { EncodedBody } from "#api/http/encoded-body.ts";
import { freshCacheControl, type PageForm } from "#api/http/headers.ts";
import { languages } from "#content/language/languages.ts";
import { english } from "#content/language/texts.ts";
import { renderForm } from "#site/documents/form-page.ts";
import { type Drawing, renderPage } from "#site/documents/document.ts";
import { profileFeed } from "#site/documents/atom.ts";
import { renderList, renderView } from "#site/documents/list-page.ts";
import { renderDonatePage, renderProfile } from "#site/documents/profile.ts";
import { listPageView } from "#site/lists/list-view.ts";
import { searchView } from "#site/lists/search-view.ts";
import { compareView } from "#site/profile/compare-view.ts";
import { historyView } from "#site/profile/history-view.ts";
import { organisationView } from "#site/profile/organisation-view.ts";
import { listPath } from "#site/parts/address.ts";
import { markdownPathOf } from "#site/parts/markdown.ts";
import type { BuildInputs } from "#site/parts/page-head.ts";
import { compileSite } from "#site/renderer/compile.ts";
import { openRenderer, type Renderer } from "#site/renderer/renderer.ts";
import { prefersMarkdown } from "#site/delivery/bundle-server.ts";
import { negotiatedCacheControl } from "#site/delivery/encoded-file.ts";
import { headersOf } from "#site/delivery/http-headers.ts";
import { publisherFolders } from "#site/bundle/manifest.ts";

/** `headersAs`: the bundle file whose headers the page gets: it is cached like it, or as `cacheControl` says. */
type PageHeaders = { headersAs: string; cacheControl?: string; status?: number };

/** Short, because no purge follows when a profile appears in another language. */
const missingCacheControl = "public, max-age=10";

/** Draws pages that are in no bundle, with the site as compiled for the publisher. Opened on first use. */
export function openDrawing(
  config: Pick<Config, "dataDir"> & BuildInputs,
  open: () => Promise<Renderer> = () => openCompiled(config),
): NonNullable<Context["draw"]> {
  const { baseUrl, network, isSample = false, givingLinks = [] } = config;
  let opening: Promise<Renderer> | null = null;
  const source = async (language: string): Promise<Drawing> => {
    opening ??= open();
    const renderer = await opening.catch((error: unknown) => {
      opening = null;
      throw error;
    });
    const t = languages.get(language) ?? english;
    return { renderer, baseUrl, network, isSample, givingLinks, t };
  };
  const drawPage = async (
    { language, accept, acceptEncoding }: PageForm,
    { headersAs, cacheControl, status = 200 }: PageHeaders,
    draw: (from: Drawing, format: { markdown: boolean }) => Promise<string | Uint8Array>,
  ) => {
    const markdown = prefersMarkdown(accept) ? markdownPathOf(headersAs) : null;
    const isMarkdown = markdown !== null;
    const body = await draw(await source(isMarkdown ? "en" : language), { markdown: isMarkdown });
    const { contentType, others, cacheControl: ofFile } = headersOf(markdown ?? headersAs);
    const encoded = new EncodedBody(
      typeof body === "string" ? body : [new Uint8Array(body)],
      contentType,
    );
    const encoding = encoded.encodingFor(acceptEncoding);
    const headers = {
      ...others,
      "content-type": contentType,
      "cache-control": isMarkdown ? negotiatedCacheControl : (cacheControl ?? ofFile),
      vary: "accept, accept-encoding",
      ...(encoding === "identity" ? {} : { "content-encoding": encoding }),
    };
    return new Response(encoded.bytes(encoding), { status, headers });
  };
  const inHtml = (form: PageForm): PageForm => ({ ...form, accept: null });
  return {
    list: (list, form) => {
      const [path = ""] = listPath(list, list.page).split("?");
      return drawPage(form, { headersAs: `${path.slice(1)}.html` }, (from, format) =>
        renderList(from, "/browse", { view: listPageView(list, from.t) }, format),
      );
    },
    search: (query, answer, form) =>
      drawPage(form, { headersAs: "search.html" }, (from, format) => {
        const view = searchView(query, answer, from.t);
        return renderList(from, "/search", { view, answered: true }, format);
      }),
    organisation: (view, form) =>
      drawPage(form, { headersAs: "browse.html" }, (from, format) =>
        renderView(from, "/organisations/[id]", organisationView(view, from.t ?? english), format),
      ),
    history: (record, form) => {
      const headersAs = `nonprofits/${record.history.slug}.html`;
      return drawPage(form, { headersAs, cacheControl: freshCacheControl }, (from, format) =>
        renderView(from, "/history/[slug]", historyView(record, from.t ?? english), format),
      );
    },
    feed: (record) => {
      const { contentType } = headersOf("feed.atom");
      return new EncodedBody(profileFeed(baseUrl, record), contentType, freshCacheControl);
    },
    compare: (comparison, form) =>
      drawPage(form, { headersAs: "compare.html" }, (from, format) =>
        renderView(from, "/compare", compareView(comparison, from), format),
      ),
    profile: (record, form) =>
      drawPage(inHtml(form), { headersAs: `nonprofits/${record.slug}.html` }, (from) =>
        renderProfile(from, record),
      ),
    donate: (record, form) =>
      drawPage(inHtml(form), { headersAs: `donate/${record.slug}.html` }, (from) =>
        renderDonatePage(from, record),
      ),
    missing: (form) => {
      const headers = { headersAs: "404.html", cacheControl: missingCacheControl, status: 404 };
      return drawPage(inHtml(form), headers, (from) => renderPage(from, "/404", {}));
    },
    form: async (page, { language }, status = 200) => {
      const body = await renderForm(await source(language), page);
      const { contentType, others } = headersOf("browse.html");
      const headers = { ...others, "content-type": contentType, "cache-control": "no-store" };
      return new Response(typeof body === "string" ? body : new Uint8Array(body), {
        status,
        headers,
      });
    },
  };
}

/** Opens the site as compiled for the publisher, or compiles it now. */
export async function openCompiled({ dataDir }: Pick<Config, "dataDir">): Promise<Renderer> {
  const compiled = await compileSite(publisherFolders(dataDir).compiled);
  return openRenderer(compiled.folder);
}
