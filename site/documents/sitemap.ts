import causes from "#content/editorial/causes.json";
import { listCounts, sitemapChunks, sitemapEntries } from "#content/nonprofit/list-store.ts";
import type { SitemapItem } from "#site/parts/sitemap.ts";
import { type DocumentKind, fileOf, oneByOne, type Source } from "./document.ts";
import { folderOf, keyOf } from "./keys.ts";
import { pageSizeOf, sitemapChunkSize } from "./page-sizes.ts";

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
    return fileOf(source, "/sitemaps/[chunk].xml", { items }, path);
  },
);

/** The file that names all other sitemaps. */
export async function sitemapIndex({ store, baseUrl }: Source): Promise<SitemapItem[]> {
  const chunks = await sitemapChunks(store, sitemapChunkSize);
  const profiles = chunks.map(({ chunk, updated_at }) => ({
    address: `${baseUrl}/sitemaps/${chunk}.xml`,
    updated_at,
  }));
  return [{ address: `${baseUrl}/sitemaps/pages.xml` }, ...profiles];
}

/** Source: sitemaps.org. A chunk of profiles is smaller, so that a change rewrites less. */
const urlsMax = 50_000;

/** The pages that are no profiles. */
export async function sitemapPaths({ store, baseUrl }: Source): Promise<SitemapItem[]> {
  const counts = await listCounts(store);
  const paths = [
    "/",
    "/causes",
    "/countries",
    "/agents",
    "/statistics",
    "/methodology",
    "/onboard",
    "/widget",
  ];
  const countries = [...counts.keys()].filter((list) => list.startsWith("country:"));
  for (const list of [...causes.map(({ id }) => `cause:${id}`), ...countries]) {
    const root = `/${folderOf(list)}`;
    const pageCount = Math.ceil((counts.get(list) ?? 0) / pageSizeOf(list));
    paths.push(root);
    for (let number = 2; number <= pageCount; number++) paths.push(`${root}/${number}`);
  }
  return paths.slice(0, urlsMax).map((path) => ({ address: baseUrl + path }));
}
