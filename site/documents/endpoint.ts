import type { APIRoute } from "astro";
import { isoTime } from "#content/contract/base/time.ts";
import type { LocalsOf, PageLocals } from "./page-locals.ts";

/** The GET of a file that is no page, named by its file under site/pages: `text` is made of what its document loaded. */
export const endpoint =
  <Page extends keyof PageLocals>(text: (loaded: LocalsOf<Page>) => string): APIRoute =>
  ({ locals }) =>
    new Response(text(locals as LocalsOf<Page>));

/** What the directory is, in one sentence for models. */
export const purpose =
  "An open directory of nonprofits: search it, read profiles, get recommendations with reasons, and complete missing data.";

/** A guide with its {{places}} filled. Throws for a place that no one fills: a slip of the pen. */
export const filled = (guide: string, values: Readonly<Record<string, string>>): string =>
  guide.replaceAll(/\{\{(\w+)\}\}/g, (_, place: string) => {
    const value = values[place];
    if (value === undefined) throw new Error(`a guide has the place ${place}, and nothing for it`);
    return value;
  });

/** An address in a sitemap, and when it last changed, in milliseconds since 1970. */
type SitemapItem = { address: string; updated_at?: number };

/** A sitemap, or an index of sitemaps, of its items. Source: sitemaps.org. */
export const sitemapXml = (
  kind: "sitemapindex" | "urlset",
  items: readonly SitemapItem[],
): string => {
  const element = kind === "urlset" ? "url" : "sitemap";
  const lines = items.map((item) => itemXml(element, item)).join("\n");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${lines}\n</${kind}>\n`;
};

function itemXml(element: string, { address, updated_at }: SitemapItem): string {
  const location = address.includes("&") ? address.replaceAll("&", "&amp;") : address;
  const lastmod = updated_at === undefined ? "" : `<lastmod>${isoTime(updated_at)}</lastmod>`;
  return `<${element}><loc>${location}</loc>${lastmod}</${element}>`;
}
