import causes from "#content/editorial/causes.json";
import { listCounts, sitemapChunks, sitemapEntries } from "#content/nonprofit/list-store.ts";
import { type DocumentKind, partsOf, type Rendered, type Source } from "./document.ts";
import { folderOf, keyOf, pageSizeOf, sitemapChunkSize } from "./keys.ts";

/** Source: sitemaps.org. A chunk of profiles is smaller, so that a change rewrites less. */
const urlsMax = 50_000;

/** The file that names all other sitemaps. */
export const sitemapIndex: DocumentKind = {
  kind: "sitemap-index",
  all: () => [[keyOf.sitemapIndex]],
  render: async (keys, { store, baseUrl, renderer }) => {
    const chunks = await sitemapChunks(store, sitemapChunkSize);
    const items = [
      { address: `${baseUrl}/sitemaps/pages.xml` },
      ...chunks.map(({ chunk, updated_at }) => ({
        address: `${baseUrl}/sitemaps/${chunk}.xml`,
        updated_at,
      })),
    ];
    const body = await renderer.render("/sitemap.xml", { items });
    return keys.map((key) => ({ key, files: [{ path: "sitemap.xml", body }] }));
  },
};

/** The pages that are no profiles. */
export const sitemapPages: DocumentKind = {
  kind: "sitemap-pages",
  all: () => [[keyOf.sitemapPages]],
  render: async (keys, { store, baseUrl, renderer }) => {
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
      const pages = Math.ceil((counts.get(list) ?? 0) / pageSizeOf(list));
      paths.push(root);
      for (let page = 2; page <= pages; page++) paths.push(`${root}/${page}`);
    }
    const items = paths.slice(0, urlsMax).map((path) => ({ address: baseUrl + path }));
    const body = await renderer.render("/sitemaps/pages.xml", { items });
    return keys.map((key) => ({ key, files: [{ path: "sitemaps/pages.xml", body }] }));
  },
};

/** The profiles of one run of ids. */
export const sitemap: DocumentKind = {
  kind: "sitemap",
  async *all({ store }) {
    for (const { chunk } of await sitemapChunks(store, sitemapChunkSize)) {
      yield [keyOf.sitemap(chunk)];
    }
  },
  render: async (keys, source) => {
    const rendered: Rendered[] = [];
    for (const key of keys) rendered.push(await renderChunk(key, source));
    return rendered;
  },
};

async function renderChunk(key: string, { store, baseUrl, renderer }: Source): Promise<Rendered> {
  const chunk = Number(partsOf(key)[1]);
  const last = chunk * sitemapChunkSize;
  const entries = await sitemapEntries(store, { after: last - sitemapChunkSize, last });
  const items = entries.map(({ slug, updated_at }) => ({
    address: `${baseUrl}/nonprofits/${slug}`,
    updated_at,
  }));
  const body =
    items.length === 0 ? null : await renderer.render("/sitemaps/[chunk].xml", { items });
  return { key, files: [{ path: `sitemaps/${chunk}.xml`, body }] };
}
