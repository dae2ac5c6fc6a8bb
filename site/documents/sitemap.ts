import causes from "#content/editorial/causes.json";
import { isoTime } from "#content/contract/time.ts";
import { listCounts, sitemapChunks, sitemapEntries } from "#content/nonprofit/list-store.ts";
import { type DocumentKind, partsOf, type Rendered, type Source } from "./document.ts";
import { folderOf, keyOf, pageSizeOf, sitemapChunkSize } from "./keys.ts";

/** Source: sitemaps.org. A chunk of profiles is smaller, so that a change rewrites less. */
const urlsMax = 50_000;

/** The file that names all other sitemaps. */
export const sitemapIndex: DocumentKind = {
  kind: "sitemap-index",
  all: () => [[keyOf.sitemapIndex]],
  render: async (keys, { store, baseUrl }) => {
    const chunks = await sitemapChunks(store, sitemapChunkSize);
    const body = xml("sitemapindex", [
      item("sitemap", `${baseUrl}/sitemaps/pages.xml`),
      ...chunks.map(({ chunk, updated_at }) =>
        item("sitemap", `${baseUrl}/sitemaps/${chunk}.xml`, updated_at),
      ),
    ]);
    return keys.map((key) => ({ key, files: [{ path: "sitemap.xml", body }] }));
  },
};

/** The pages that are no profiles. */
export const sitemapPages: DocumentKind = {
  kind: "sitemap-pages",
  all: () => [[keyOf.sitemapPages]],
  render: async (keys, { store, baseUrl }) => {
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
    const items = paths.slice(0, urlsMax).map((path) => item("url", baseUrl + path));
    const body = xml("urlset", items);
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

async function renderChunk(key: string, { store, baseUrl }: Source): Promise<Rendered> {
  const chunk = Number(partsOf(key)[1]);
  const last = chunk * sitemapChunkSize;
  const entries = await sitemapEntries(store, { after: last - sitemapChunkSize, last });
  const items = entries.map(({ slug, updated_at }) =>
    item("url", `${baseUrl}/nonprofits/${slug}`, updated_at),
  );
  const body = items.length === 0 ? null : xml("urlset", items);
  return { key, files: [{ path: `sitemaps/${chunk}.xml`, body }] };
}

const xml = (element: string, items: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<${element} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${items.join("\n")}
</${element}>
`;

function item(element: string, address: string, updatedAtMs?: number): string {
  const location = address.includes("&") ? address.replaceAll("&", "&amp;") : address;
  const lastmod = updatedAtMs === undefined ? "" : `<lastmod>${isoTime(updatedAtMs)}</lastmod>`;
  return `<${element}><loc>${location}</loc>${lastmod}</${element}>`;
}
