import { endpoint } from "#site/documents/endpoint.ts";
import { sitemapXml } from "#site/parts/sitemap-xml.ts";

/** Source: sitemaps.org. */
const urlsMax = 50_000;

const paths = [
  "/",
  "/recommendations",
  "/causes",
  "/countries",
  "/agents",
  "/statistics",
  "/methodology",
  "/about",
  "/data",
  "/developers",
  "/privacy",
  "/match",
  "/compare",
  "/onboard",
  "/corrections",
  "/widget",
];

export const GET = endpoint<"/sitemaps/pages.xml">(({ baseUrl, lists }) => {
  const all = [...paths, ...lists.map((address) => `/${address}`)].slice(0, urlsMax);
  return sitemapXml(
    "urlset",
    all.map((path) => ({ address: baseUrl + path })),
  );
});
