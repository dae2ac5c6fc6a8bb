import type { DocumentKind } from "./document.ts";
import { causesAnswer, statsAnswer } from "./answers.ts";
import { assets } from "./assets.ts";
import { discovery } from "./discovery.ts";
import { feed } from "./feed.ts";
import { helpWanted } from "./help-wanted.ts";
import { listPage } from "./list-page.ts";
import { lunr } from "./lunr.ts";
import { page } from "./page.ts";
import { profileHistory } from "./profile-history.ts";
import { profileMarkdown } from "./profile-markdown.ts";
import { profile } from "./profile.ts";
import { snapshotPart } from "./snapshot.ts";
import { sitemap, sitemapIndex, sitemapPages } from "./sitemap.ts";

/** All that the bundle consists of, in the order in which a full build renders it: what pages refer to comes first. */
export const documentKinds: readonly DocumentKind[] = [
  assets,
  profile,
  listPage,
  page,
  profileMarkdown,
  profileHistory,
  discovery,
  causesAnswer,
  statsAnswer,
  helpWanted,
  sitemap,
  sitemapPages,
  sitemapIndex,
  feed,
  snapshotPart,
  lunr,
];
