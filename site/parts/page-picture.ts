import type { NonprofitRecord } from "#content/nonprofit/record.ts";

// Where the pictures lie that other sites show of a page, without a leading slash. See docs/decisions/0186.

/** Not of two letters: edge servers take such a folder for a language. */
export const picturesFolder = "pictures/";
export const homePicture = `${picturesFolder}home.png`;
export const causePicture = (id: string): string => `${picturesFolder}causes/${id}.png`;
export const countryPicture = (code: string): string =>
  `${picturesFolder}countries/${code.toLowerCase()}.png`;

/** What the picture of a profile shows of it. */
export type PicturedRecord = Pick<
  NonprofitRecord,
  "slug" | "name" | "city" | "region" | "country_code" | "verified" | "status"
> & { cause: string | null };

/**
 * The picture of a profile that its organisation has claimed; null for another. Named by a digest of what it shows: a
 * path that the bundle holds is as it should be.
 */
export function ownPicture({ slug, verified, status, ...shown }: PicturedRecord): string | null {
  if (verified !== 1 || status === "withdrawn") return null;
  const { name, city, region, country_code, cause } = shown;
  const words = JSON.stringify([name, city, region, country_code, cause]);
  const digest = Bun.CryptoHasher.hash("sha256", words, "hex").slice(0, 12);
  return `${picturesFolder}nonprofits/${slug}-${digest}.png`;
}

/** The picture of a profile: its own once it is made, else that of its cause. */
export function pictureOf(record: PicturedRecord, holds: (path: string) => boolean): string {
  const own = ownPicture(record);
  if (own !== null && holds(own)) return own;
  return record.cause === null ? homePicture : causePicture(record.cause);
}
