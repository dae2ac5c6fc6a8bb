import { isoTime } from "#content/contract/base/time.ts";
import causes from "#content/editorial/causes.json";
import { listCounts, sitemapChunks, sitemapEntries } from "#content/nonprofit/list-store.ts";
import { type DocumentKind, fileOf, oneByOne, type Source } from "./document.ts";
import { pageAddress, keyOf } from "./keys.ts";
import { sitemapChunkSize, staticPages } from "./page-sizes.ts";

/** The profiles of one run of ids. */
export const sitemap: DocumentKind = oneByOne(
  "sitemap",
  async function* ({ store }) {
    for (const { chunk } of await sitemapChunks(store, sitemapChunkSize)) {
      yield [keyOf.sitemap(chunk)];
    }
  },
  async (source: Source, chunk) => {
    const last = Number(chunk) * sitemapChunkSize;
    const entries = await sitemapEntries(source.store, { after: last - sitemapChunkSize, last });
    const items = entries.map(({ slug, updated_at }) => ({
      address: `${source.baseUrl}/nonprofits/${slug}`,
      updated_at,
    }));
    const path = `sitemaps/${chunk}.xml`;
    if (items.length === 0) return { path, body: null };
    return fileOf(source, "/sitemaps/[chunk].xml", sitemapXml("urlset", items), path);
  },
);

/** The file that names all other sitemaps. */
export async function sitemapIndex({ store, baseUrl }: Source): Promise<string> {
  const chunks = await sitemapChunks(store, sitemapChunkSize);
  const profiles = chunks.map(({ chunk, updated_at }) => ({
    address: `${baseUrl}/sitemaps/${chunk}.xml`,
    updated_at,
  }));
  return sitemapXml("sitemapindex", [{ address: `${baseUrl}/sitemaps/pages.xml` }, ...profiles]);
}

/** Source: sitemaps.org. A chunk of profiles is smaller, so that a change rewrites less. */
const urlsMax = 50_000;

/** The sitemap of the pages that are no profiles. */
export async function sitemapOfPages({ store, baseUrl }: Source): Promise<string> {
  const counts = await listCounts(store);
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
    "/onboard",
    "/corrections",
    "/widget",
  ];
  const countries = [...counts.keys()].filter((list) => list.startsWith("country:"));
  for (const list of [...causes.map(({ id }) => `cause:${id}`), ...countries]) {
    const pageCount = staticPages(list, counts.get(list) ?? 0);
    for (let page = 1; page <= pageCount; page++) paths.push(`/${pageAddress(list, page)}`);
  }
  const items = paths.slice(0, urlsMax).map((path) => ({ address: baseUrl + path }));
  return sitemapXml("urlset", items);
}

/** An address in a sitemap, and when it last changed, in milliseconds since 1970. */
type SitemapItem = { address: string; updated_at?: number };

/** A sitemap, or an index of sitemaps, of its items. */
const sitemapXml = (kind: "sitemapindex" | "urlset", items: readonly SitemapItem[]): string => {
  const element = kind === "urlset" ? "url" : "sitemap";
  const lines = items.map((item) => itemXml(element, item)).join("\n");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${lines}\n</${kind}>\n`;
};

function itemXml(element: string, { address, updated_at }: SitemapItem): string {
  const location = address.includes("&") ? address.replaceAll("&", "&amp;") : address;
  const lastmod = updated_at === undefined ? "" : `<lastmod>${isoTime(updated_at)}</lastmod>`;
  return `<${element}><loc>${location}</loc>${lastmod}</${element}>`;
}
