/** Items on one HTML page of a cause or a country. */
export const htmlPageSize = 100;
/** Items on one JSON page of the whole list: the default limit of GET /api/nonprofits. */
export const jsonPageSize = 50;

/** Nonprofits, by id, in one part of the snapshot. */
export const snapshotPartSize = 100;
export const snapshotPartOf = (nonprofitId: number): number =>
  Math.floor((nonprofitId - 1) / snapshotPartSize) + 1;

/** Nonprofits, by id, in one sitemap file. */
export const sitemapChunkSize = 10_000;
export const sitemapChunkOf = (nonprofitId: number): number =>
  Math.floor((nonprofitId - 1) / sitemapChunkSize) + 1;

/** Items on a page of this list. */
export const pageSizeOf = (list: string): number => (list === "all" ? jsonPageSize : htmlPageSize);
/** The page that holds the place (from 0) in this list. */
export const pageOf = (list: string, place: number): number =>
  Math.floor(place / pageSizeOf(list)) + 1;
