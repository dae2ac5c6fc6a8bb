import { causeIds } from "#content/contract/cause.ts";

/** Not of two letters: edge servers take such a folder for a language. */
const picturesFolder = "pictures";
export const sitePicture = `${picturesFolder}/home.png`;

/**
 * Where the picture lies that other sites show of a page, without a leading slash: that of its cause, else the site's. See
 * docs/decisions/0197.
 */
export const pictureOf = (cause: string | null | undefined): string =>
  causeIds.some((id) => id === cause) ? `${picturesFolder}/causes/${cause}.png` : sitePicture;
