import { endpoint } from "#site/documents/endpoint.ts";
import { sitemapXml } from "#site/parts/sitemap-xml.ts";

export const GET = endpoint<"/sitemap.xml">(({ baseUrl, chunks }) =>
  sitemapXml("sitemapindex", [
    { address: `${baseUrl}/sitemaps/pages.xml` },
    ...chunks.map(({ chunk, updated_at }) => ({
      address: `${baseUrl}/sitemaps/${chunk}.xml`,
      updated_at,
    })),
  ]),
);
