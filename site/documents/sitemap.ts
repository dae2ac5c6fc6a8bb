import causes from "#content/editorial/causes.json";
import {
  listCounts,
  listedChunks,
  sitemapChunkSize,
  sitemapEntries,
} from "#content/nonprofit/list-store.ts";
import { pageAddress, staticPages } from "#site/parts/address.ts";
import {
  type DocumentKey,
  type DocumentKind,
  fileOf,
  oneByOne,
  kindOfOne,
  single,
  type Source,
  movesLists,
  profileIn,
} from "./document.ts";

const keyOf = (chunk: number): DocumentKey => `sitemap ${chunk}`;

/** The sitemap of the profiles of one range of ids. A chunk is smaller than allowed, so that a change rewrites less. */
export const sitemap: DocumentKind = {
  ...oneByOne(
    "sitemap",
    async function* ({ store }) {
      for (const { chunk } of await listedChunks(store)) yield [keyOf(chunk)];
    },
    async (source: Source, chunk) => {
      const last = Number(chunk) * sitemapChunkSize;
      const profiles = await sitemapEntries(source.store, { after: last - sitemapChunkSize, last });
      const path = `sitemaps/${chunk}.xml`;
      if (profiles.length === 0) return { path, body: null };
      return fileOf(source, "/sitemaps/[chunk].xml", { profiles }, path);
    },
  ),
  staleLater: (change) => {
    const id = profileIn(change);
    return id === null ? [] : [keyOf(Math.floor((id - 1) / sitemapChunkSize) + 1)];
  },
};

/** The file that names all other sitemaps. */
export const sitemapIndex = kindOfOne(
  "sitemap-index",
  single("/sitemap.xml", async ({ store }) => ({ chunks: await listedChunks(store) }), {
    staleAfter: (change) => profileIn(change) !== null,
  }),
);

/** The sitemap of the pages of lists and of single pages. */
export const sitemapPages = kindOfOne(
  "sitemap-pages",
  single(
    "/sitemaps/pages.xml",
    async ({ store }) => {
      const counts = await listCounts(store);
      const countries = [...counts.keys()].filter((list) => list.startsWith("country:"));
      const lists = [...causes.map(({ id }) => `cause:${id}`), ...countries];
      return {
        lists: lists.flatMap((list) =>
          Array.from({ length: staticPages(list, counts.get(list) ?? 0) }, (_, at) =>
            pageAddress(list, at + 1),
          ),
        ),
      };
    },
    { staleAfter: movesLists },
  ),
);
