import { readFile } from "node:fs/promises";
import type { DocumentKind } from "./document.ts";
import { feed, snapshotPart } from "./feed.ts";
import { keyOf } from "./keys.ts";
import { listPage } from "./list-page.ts";
import { lunr } from "./lunr.ts";
import { picture } from "./picture.ts";
import { answers, discovery, page } from "./single-pages.ts";
import { donations, profile, profileHistory } from "./profile.ts";
import { sitemap } from "./sitemap.ts";
import { standing } from "./standing.ts";

/** Style sheets, the icon and what else pages refer to. Those under _astro/ carry a digest in their name. */
export const assets: DocumentKind = {
  kind: "assets",
  all: () => [[keyOf.assets]],
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
  discovery,
  ...answers,
  sitemap,
  feed,
  snapshotPart,
  standing,
  lunr,
];
