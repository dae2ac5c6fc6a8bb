import { readFile } from "node:fs/promises";
import { answers } from "./answers.ts";
import { atom } from "./atom.ts";
import { discovery } from "./discovery.ts";
import type { DocumentKey, DocumentKind } from "./document.ts";
import { feed, snapshotPart } from "./feed.ts";
import { listPage } from "./list-page.ts";
import { lunr } from "./lunr.ts";
import { page } from "./pages.ts";
import { picture } from "./pictures.ts";
import { donations, profile, profileHistory } from "./profile.ts";
import { sitemap, sitemapIndex, sitemapPages } from "./sitemap.ts";
import { standing } from "./standing.ts";

export const assetsKey: DocumentKey = "assets";

/** Style sheets, the icon and what else pages refer to. Those under _astro/ carry a digest in their name. */
export const assets: DocumentKind = {
  kind: "assets",
  all: () => [[assetsKey]],
  render: (_, { renderer }) =>
    Promise.all(
      renderer.assets.map(async ({ path, file }) => ({ path, body: await readFile(file) })),
    ),
};

/** All that the bundle consists of, in the order in which a full build renders it: what pages refer to comes first. */
export const documentKinds: readonly DocumentKind[] = [
  assets,
  picture,
  profile,
  listPage,
  page,
  profileHistory,
  donations,
  atom,
  discovery,
  ...answers,
  sitemapPages,
  sitemapIndex,
  sitemap,
  feed,
  snapshotPart,
  standing,
  lunr,
];
