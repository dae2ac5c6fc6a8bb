import { sitemapXml } from "#site/parts/sitemap.ts";
import { endpoint } from "#site/parts/endpoint.ts";

export const GET = endpoint<"/sitemaps/[chunk].xml">(({ items }) => sitemapXml("urlset", items));
