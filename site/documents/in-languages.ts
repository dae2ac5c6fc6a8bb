import { languages } from "#content/language/languages.ts";
import { english, type Texts } from "#content/language/texts.ts";
import type { BuildInputs } from "#site/profile/profile-view.ts";
import type { Renderer } from "#site/renderer/renderer.ts";

/** Pages, named by their files under site/pages, whose texts are in no catalogue yet: they are there in English only. */
export const inEnglishOnly: ReadonlySet<string> = new Set([
  "/organisations/[id]",
  "/methodology",
  "/match",
  "/onboard",
  "/onboard/status",
  "/corrections",
  "/corrections/status",
  "/receipt",
  "/widget",
  "/refusal",
]);

/** The languages that a page is there in, English first. */
export const languagesOf = (page: string): readonly Texts[] =>
  inEnglishOnly.has(page) || page.includes(".") ? [english] : [...languages.values()];

/** What a page is drawn with. */
export type Drawing = BuildInputs & { readonly renderer: Renderer };

/** A page as HTML in the language of `t`, named by its file under site/pages; `own` is what it shows. */
export async function drawn(
  { renderer, baseUrl, network, t = english }: Drawing,
  page: string,
  own: object,
): Promise<string | Uint8Array> {
  const known = languagesOf(page);
  const locals = { baseUrl, network, t, languages: known.length > 1 ? known : [], ...own };
  const html = await renderer.render(page, locals);
  return t === english ? html : withLinksIn(t, new TextDecoder().decode(html));
}

/** Links and forms of a page lead to pages of its language, where these are there in it. A link that names a language stays. */
const withLinksIn = (t: Texts, html: string): string => {
  const links = new HTMLRewriter();
  for (const [selector, attribute] of [
    ['a[href^="/"]:not([hreflang])', "href"],
    ['form[action^="/"]', "action"],
  ] as const) {
    links.on(selector, {
      element: (found) => {
        const [, path = "", rest = ""] =
          /^([^?#]*)(.*)$/.exec(found.getAttribute(attribute) ?? "") ?? [];
        if (isPage(path)) found.setAttribute(attribute, t.path(path) + rest);
      },
    });
  }
  return links.transform(html);
};

/** The first parts of addresses that are for programs and operators. */
const notForReaders = /^\/(?:api|desk|mcp|organisations|reconcile)(?:\/|$)/;
const isPage = (path: string): boolean =>
  !notForReaders.test(path) && !path.includes(".") && !inEnglishOnly.has(pageAt(path));

/** The page that stands at an address: "/nonprofits/[slug]" at /nonprofits/hope-kitchen. */
function pageAt(path: string): string {
  const [, folder = "", ...more] = path.split("/");
  return more.length === 0 ? path : (folders[folder] ?? path);
}
const folders: Readonly<Record<string, string>> = {
  nonprofits: "/nonprofits/[slug]",
  donate: "/donate/[slug]",
  history: "/history/[slug]",
  causes: "/causes/[id]",
  countries: "/countries/[code]",
};
