import { readFile } from "node:fs/promises";
import causes from "#content/editorial/causes.json";
import { pictureOf } from "#site/parts/page-head.ts";
import { drawPicture } from "#site/pictures/picture.ts";
import { answers } from "./answers.ts";
import { atom } from "./atom.ts";
import { discovery } from "./discovery.ts";
import { type DocumentKey, type DocumentKind, oneByOne, type Source } from "./document.ts";
import { feed, snapshotPart } from "./feed.ts";
import { listPage } from "./list-page.ts";
import { lunr } from "./lunr.ts";
import { page } from "./pages.ts";
import { donations, profile, profileHistory } from "./profile.ts";
import { sitemap, sitemapIndex, sitemapPages } from "./sitemap.ts";
import { standing } from "./standing.ts";

export const assetsKey: DocumentKey = "assets";

/** Style sheets, the icon and other files that pages use. Those under _astro/ have a digest in their name. */
export const assets: DocumentKind = {
  kind: "assets",
  all: () => [[assetsKey]],
  render: (_, { renderer }) =>
    Promise.all(
      renderer.assets.map(async ({ path, file }) => ({ path, body: await readFile(file) })),
    ),
};

const ofSite = {
  kicker: "For people and for software agents",
  title: "Find a nonprofit, check it, give to it.",
  line: "Every value says where it came from, and gifts go straight to the organisation.",
};

/** The pictures that other sites show for a page: one of the site and one of each cause. No change makes them stale. */
export const picture = oneByOne<Pick<Source, "isSample">>(
  "picture",
  () => [["picture", ...causes.map(({ id }) => `picture ${id}`)]],
  async ({ isSample = false }, id) => {
    const cause = causes.find((each) => each.id === id);
    const words =
      cause === undefined
        ? ofSite
        : { kicker: "Cause", title: cause.name, line: cause.description };
    return { path: pictureOf(id), body: drawPicture({ ...words, isSample }) };
  },
);

/** All kinds of documents in the bundle, in the order of a full build: files that pages use come first. */
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
