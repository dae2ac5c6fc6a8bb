import { entriesPerPage, staticPagesMax } from "#content/contract/browse.ts";
import { listLimit } from "#content/contract/nonprofit.ts";

/** Nonprofits, by id, in one part of the snapshot. */
export const snapshotPartSize = 100;
export const snapshotPartOf = (nonprofitId: number): number =>
  Math.floor((nonprofitId - 1) / snapshotPartSize) + 1;

/** Nonprofits, by id, in one sitemap file. */
export const sitemapChunkSize = 10_000;
export const sitemapChunkOf = (nonprofitId: number): number =>
  Math.floor((nonprofitId - 1) / sitemapChunkSize) + 1;

/** Items on a page of this list; of the whole one, in JSON, the default limit of GET /api/nonprofits. */
export const pageSizeOf = (list: string): number =>
  list === "all" ? listLimit.default : entriesPerPage;
/** How many pages of this list are in the bundle when so many stand in it. */
export const staticPages = (list: string, count: number): number =>
  Math.min(staticPagesMax, Math.max(1, Math.ceil(count / pageSizeOf(list))));

/** The page that holds the place (from 0) in this list. */
export const pageOf = (list: string, place: number): number =>
  Math.floor(place / pageSizeOf(list)) + 1;
