import { endpoint } from "#site/documents/endpoint.ts";
import { sitemapXml } from "#site/parts/sitemap-xml.ts";

export const GET = endpoint<"/sitemaps/[chunk].xml">(({ baseUrl, profiles }) =>
  sitemapXml(
    "urlset",
    profiles.map(({ slug, updated_at }) => ({
      address: `${baseUrl}/nonprofits/${slug}`,
      updated_at,
    })),
  ),
);
