import { languages } from "#content/language/languages.ts";
import { english, type Texts } from "#content/language/texts.ts";
import type { BuildInputs } from "#site/profile/profile-view.ts";
import type { Renderer } from "#site/renderer/renderer.ts";

/** Pages, named by their files under site/pages, whose texts are in no catalogue yet: they are there in English only. */
export const inEnglishOnly: ReadonlySet<string> = new Set([
  ...["/organisations/[id]", "/methodology"],
]);

/** The languages that a page is there in, English first; what is no page is English. */
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

/**
 * Links and forms of a page lead to pages of its language; a link that names a language stays. What is sent to the service
 * says in which language its sender reads.
 */
const withLinksIn = (t: Texts, html: string): string => {
  const links = new HTMLRewriter();
  const lead = (selector: string, attribute: string, otherwise: (address: string) => string) =>
    links.on(selector, {
      element: (found) => {
        const address = found.getAttribute(attribute) ?? "";
        const [, path = "", rest = ""] = /^([^?#]*)(.*)$/.exec(address) ?? [];
        const isPage = !(notForReaders.test(path) || path.includes(".") || inEnglishOnly.has(path));
        found.setAttribute(attribute, isPage ? t.path(path) + rest : otherwise(address));
      },
    });
  lead('a[href^="/"]:not([hreflang])', "href", (address) => address);
  lead('form[action^="/"]', "action", (address) => `${address}?language=${t.language}`);
  return links.transform(html);
};

/** The first parts of addresses that are for programs and operators. */
const notForReaders = /^\/(?:api|desk|mcp|organisations|reconcile)(?:\/|$)/;
