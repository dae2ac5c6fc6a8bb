import type { NonprofitRecord } from "./record.ts";

// Words of the private use area, which no query can contain. Hyphens and spaces would end a word of the index, and a mark at the
// end keeps the stemmer away.
const mark = "\uE003";

/** The words by which the search index knows what a nonprofit is, beside its texts. */
export const facetWords = {
  cause: (id: string) => `\uE000${id.replaceAll("-", mark)}`,
  country: (code: string) => `\uE001${code}`,
  ghdAligned: "\uE002",
  accepts: (way: "usdc") => `\uE006${way}`,
  hasWebsite: "\uE007",
  /** A city or region: its spelling but for letter case, accents and stops. */
  place: (name: string) =>
    `\uE004${name.replaceAll(/['’.]/g, "").replaceAll(/[-, ]/g, mark)}${mark}`,
  initials: (letters: string) => `\uE005${letters.replaceAll(/./gu, `$&${mark}`)}`,
} as const;

type Faceted = Pick<
  NonprofitRecord,
  "name" | "causes" | "country_code" | "ghd_aligned" | "city" | "region" | "website" | "usdc_wallet"
>;

/** What the search index has of a nonprofit beside its texts. */
export const searchFacets = (nonprofit: Faceted): string =>
  [
    ...nonprofit.causes.map(facetWords.cause),
    ...(nonprofit.country_code === null ? [] : [facetWords.country(nonprofit.country_code)]),
    ...(nonprofit.ghd_aligned === 1 ? [facetWords.ghdAligned] : []),
    ...[nonprofit.city, nonprofit.region].flatMap((name) =>
      name === null ? [] : [facetWords.place(name)],
    ),
    facetWords.initials(initialsOf(nonprofit.name)),
    ...(nonprofit.usdc_wallet === null ? [] : [facetWords.accepts("usdc")]),
    ...((nonprofit.website ?? "") === "" ? [] : [facetWords.hasWebsite]),
  ].join(" ");

/** The initials of a name, at most eight, without the words that initials leave out: "Veterans of Foreign Wars" is vfw. */
export const initialsOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[-/(&]/g, " ")
    .split(" ")
    .filter((word) => !leftOut.has(word))
    .map((word) => Array.from(word)[0] ?? "")
    .slice(0, initialsMax)
    .join("");

const initialsMax = 8;
const leftOut = new Set(
  " of the and for in a an to at on inc inc. incorporated corp corporation ltd limited llc".split(
    " ",
  ),
);
