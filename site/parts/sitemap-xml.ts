import { isoTime } from "#content/contract/base/time.ts";

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
