import causes from "#content/editorial/causes.json";
import {
  listCounts,
  listedChunks,
  sitemapChunkSize,
  sitemapEntries,
} from "#content/nonprofit/list-store.ts";
import { pageAddress, staticPages } from "#site/parts/address.ts";
import { sitemapXml } from "#site/parts/sitemap-xml.ts";
import {
  type DocumentKey,
  type DocumentKind,
  oneByOne,
  kindOfOne,
  type Source,
  written,
} from "./document.ts";
import { movesLists, profileIn } from "./staleness.ts";

const keyOf = (chunk: number): DocumentKey => `sitemap ${chunk}`;

/** The profiles of one run of ids: a chunk is smaller than it may be, so that a change rewrites less. */
export const sitemap: DocumentKind = {
  ...oneByOne(
    "sitemap",
    async function* ({ store }) {
      for (const { chunk } of await listedChunks(store)) yield [keyOf(chunk)];
    },
    async ({ store, baseUrl }: Source, chunk) => {
      const last = Number(chunk) * sitemapChunkSize;
      const profiles = await sitemapEntries(store, { after: last - sitemapChunkSize, last });
      const items = profiles.map(({ slug, updated_at }) => ({
        address: `${baseUrl}/nonprofits/${slug}`,
        updated_at,
      }));
      const body = items.length === 0 ? null : sitemapXml("urlset", items);
      return { path: `sitemaps/${chunk}.xml`, body };
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
  written(
    ["sitemap.xml"],
    async ({ store, baseUrl }) =>
      sitemapXml("sitemapindex", [
        { address: `${baseUrl}/sitemaps/pages.xml` },
        ...(await listedChunks(store)).map(({ chunk, updated_at }) => ({
          address: `${baseUrl}/sitemaps/${chunk}.xml`,
          updated_at,
        })),
      ]),
    (change) => profileIn(change) !== null,
  ),
);

/** Source: sitemaps.org. */
const urlsMax = 50_000;

const ownPaths = [
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

/** The sitemap of the pages that are no profiles. */
export const sitemapPages = kindOfOne(
  "sitemap-pages",
  written(
    ["sitemaps/pages.xml"],
    async ({ store, baseUrl }) => {
      const counts = await listCounts(store);
      const countries = [...counts.keys()].filter((list) => list.startsWith("country:"));
      const lists = [...causes.map(({ id }) => `cause:${id}`), ...countries];
      const pages = lists.flatMap((list) =>
        Array.from(
          { length: staticPages(list, counts.get(list) ?? 0) },
          (_, at) => `/${pageAddress(list, at + 1)}`,
        ),
      );
      const all = [...ownPaths, ...pages].slice(0, urlsMax);
      return sitemapXml(
        "urlset",
        all.map((path) => ({ address: baseUrl + path })),
      );
    },
    movesLists,
  ),
);
