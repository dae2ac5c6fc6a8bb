import { causeIds } from "#content/contract/browse.ts";
import type { DataResource } from "#content/contract/feed.ts";
import type { DonationNetwork } from "#content/contract/transfer.ts";
import type { PageLanguages, Texts } from "#content/language/texts.ts";
import type { GivingPlace } from "#content/nonprofit/ways-to-give.ts";
import { clipped } from "./words.ts";

/** Not two letters, because edge servers take such a folder for a language. */
const picturesFolder = "pictures";
export const sitePicture = `${picturesFolder}/home.png`;

/**
 * The path of the picture that other sites show for a page, without a leading slash: that of its cause, else the site's.
 * See docs/decisions/40.
 */
export const pictureOf = (cause: string | null | undefined): string =>
  causeIds.some((id) => id === cause) ? `${picturesFolder}/causes/${cause}.png` : sitePicture;

const escapes: Record<string, string> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** A value as JSON that is safe in a script element: no text in it can end the element or count as markup. */
export const scriptJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => escapes[character] ?? "");

/** The list of a page: the addresses on this page, the position of the first, and the total, if known. */
export type PageItems = { paths: readonly string[]; start?: number; total?: number | undefined };

/** The schema.org form of a page that is no profile. `addressOf`: the full address of a path. */
export const pageJsonLd = (
  type: string,
  page: { url: string; name: string; description: string },
  { paths, start = 1, total }: PageItems = { paths: [] },
  addressOf = (path: string): string => path,
): string =>
  scriptJson({
    "@context": "https://schema.org",
    "@type": type,
    ...page,
    mainEntity:
      paths.length === 0
        ? undefined
        : {
            "@type": "ItemList",
            numberOfItems: total,
            itemListElement: paths.map((path, at) => ({
              "@type": "ListItem",
              position: start + at,
              url: addressOf(path),
            })),
          },
  });

/** The schema.org form of the files of /data, whose base address is `at`. */
export const dataJsonLd = (
  resources: readonly DataResource[],
  { at, ...page }: { at: string; url: string; name: string; description: string },
): string =>
  scriptJson({
    "@context": "https://schema.org",
    "@type": "Dataset",
    ...page,
    isAccessibleForFree: true,
    license: [
      ...new Set(resources.flatMap(({ licenses = [] }) => licenses.map((license) => license.path))),
    ],
    distribution: resources.map(({ path, mediatype, bytes, hash }) => ({
      "@type": "DataDownload",
      name: path,
      contentUrl: `${at}/${path}`,
      encodingFormat: mediatype,
      contentSize: `${bytes} B`,
      sha256: hash.replace("sha256:", ""),
    })),
  });

const brackets: Record<string, string> = { "<": "‹", ">": "›" };

/**
 * At most `lengthMax` characters of a text, for an attribute in the head. Angle brackets are harmless there, but programs
 * that search pages for tags may not know that.
 */
export function metaText(text: string, lengthMax: number): string {
  const short = clipped(text, lengthMax);
  return /[<>]/.test(short)
    ? short.replaceAll(/[<>]/g, (bracket) => brackets[bracket] ?? "")
    : short;
}

/** The inputs of pages other than the store and the code. */
export type BuildInputs = Readonly<GivingPlace> & {
  /** The network of donations: pages with a wallet say plainly when no real money moves there. */
  readonly network: DonationNetwork;
  /** Whether the directory has invented nonprofits, which every page then says; absent: no. */
  readonly isSample?: boolean;
  /** The language of the page; absent: English. */
  readonly t?: Texts;
};

/** What every page and each of its components finds in Astro.locals. */
export type PageContext = BuildInputs & PageLanguages;
