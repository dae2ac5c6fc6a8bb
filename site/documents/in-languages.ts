import { addressesWhere } from "#content/language/address-pattern.ts";
import { languages } from "#content/language/languages.ts";
import { english, type Texts } from "#content/language/texts.ts";
import type { BuildInputs } from "#site/profile/profile-view.ts";
import type { Renderer } from "#site/renderer/renderer.ts";

/** The languages that a page, named by its file under site/pages, is there in, English first; what is no page is English. */
export const languagesOf = (page: string): readonly Texts[] =>
  page.includes(".") ? [english] : [...languages.values()];

/** What a page is drawn with. */
export type Drawing = BuildInputs & { readonly renderer: Renderer };

/** A page as HTML in the language of `t`, named by its file under site/pages; `own` is what it shows. */
export async function drawn(
  { renderer, baseUrl, network, isSample = false, t = english }: Drawing,
  page: string,
  own: object,
): Promise<string | Uint8Array> {
  const locals = { baseUrl, network, isSample, t, languages: languagesOf(page), ...own };
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
        const isPage = !notForReaders.test(path) && !path.includes(".");
        found.setAttribute(attribute, isPage ? t.path(path) + rest : otherwise(address));
      },
    });
  lead('a[href^="/"]:not([hreflang])', "href", (address) => address);
  lead('form[action^="/"]', "action", (address) => `${address}?language=${t.language}`);
  return links.transform(html);
};

/** Addresses of programs and operators. */
const notForReaders = addressesWhere((form) => form.for !== "people" && form.from !== "file");
