import { endpoint, sitemapXml } from "#site/documents/endpoint.ts";

export const GET = endpoint<"/sitemaps/[chunk].xml">(({ baseUrl, profiles }) =>
  sitemapXml(
    "urlset",
    profiles.map(({ slug, updated_at }) => ({
      address: `${baseUrl}/nonprofits/${slug}`,
      updated_at,
    })),
  ),
);
