import {
  type FilterName,
  type Filters,
  filterNames,
  givenFilters,
  incomeBands,
  noCause,
  type FacetCounts,
  type FacetName,
  type Facets,
  causeName,
  facetNames,
} from "#content/contract/browse.ts";
import allCauses from "#content/editorial/causes.json";
import kinds from "#content/editorial/kinds.json";
import { countryCode, states, countryName } from "./country.ts";
import { incomeOf } from "./listing.ts";
import { cellOf, postalPlaceOf } from "./postal-points.ts";
import type { NonprofitRecord, RegisterRecord } from "./record.ts";
import { fold } from "./text.ts";

export type FilterFacts = {
  causes: readonly string[];
  country_code: string | null;
  region: string | null;
  city: string | null;
  claimed: boolean;
  has_wallet: boolean;
  has_website: boolean;
  /** The greatest income in any register, in that register's currency; null when unknown. */
  income: number | null;
  ghd_aligned: boolean;
};

export const filteredOf = (record: NonprofitRecord): FilterFacts => ({
  ...record,
  claimed: record.verified === 1,
  has_wallet: record.usdc_wallet !== null,
  has_website: (record.website ?? "") !== "",
  income: incomeOf(record),
  ghd_aligned: record.ghd_aligned === 1,
});

/** The values under which each filter finds a nonprofit: none where nothing is known, several for its causes. */
export const valuesByFilter: Readonly<
  Record<FilterName, (nonprofit: FilterFacts) => readonly string[]>
> = {
  cause: ({ causes }) => (causes.length === 0 ? [noCause] : causes),
  country: ({ country_code }) => values(country_code),
  region: ({ region }) => values(region),
  city: ({ city }) => values(city),
  claimed: ({ claimed }) => [String(claimed)],
  accepts: ({ has_wallet }) => (has_wallet ? ["usdc"] : []),
  has_website: ({ has_website }) => [String(has_website)],
  income: ({ income }) => [incomeBand(income)],
  ghd_aligned: ({ ghd_aligned }) => (ghd_aligned ? ["1"] : []),
};

const values = (text: string | null): string[] => (text === null || text === "" ? [] : [text]);

/** The band of a yearly income. */
export const incomeBand = (income: number | null): string =>
  (income === null
    ? undefined
    : incomeBands.find(({ below }) => below === null || income < below)?.id) ?? "unknown";

/** A value as filters compare it: letter case, accents and punctuation of places are ignored, and HI is Hawaii. */
export const comparedAs = (filter: FilterName, value: string): string =>
  filter === "region" || filter === "city"
    ? fold((filter === "region" ? states.get(value.toUpperCase()) : undefined) ?? value)
    : value;

/** The value that a filter asks for, in the form of `comparedAs`; null when no nonprofit can have it. */
export function wantedBy(filter: FilterName, text: string): string | null {
  if (filter === "country") return countryCode(text);
  if (filter !== "cause") return comparedAs(filter, text);
  return causeNamed.get(fold(text)) ?? null;
}

/** Ids of causes by their folded ids and names. */
const causeNamed = new Map(
  [{ id: noCause, name: noCause }, ...allCauses].flatMap(({ id, name }) => [
    [fold(id), id],
    [fold(name), id],
  ]),
);

/** Whether filters let a nonprofit through. */
export const passes = (nonprofit: FilterFacts, filters: Filters): boolean =>
  givenFilters(filters).every(([filter, text]) => {
    const wanted = wantedBy(filter, text);
    return valuesByFilter[filter](nonprofit).some((value) => comparedAs(filter, value) === wanted);
  });

// Index words begin with private-use characters, which no query can contain. Hyphens and spaces would end a word of the
// index, and the mark at the end prevents stemming.
const mark = "\uE003";
const marked = (first: string, value: string): string =>
  `${first}${value.replaceAll(/['’.]/g, "").replaceAll(/[-, ]/g, mark)}${mark}`;

const firstOf: Readonly<Record<FilterName, string>> = {
  cause: "\uE000",
  country: "\uE001",
  ghd_aligned: "\uE002",
  accepts: "\uE006",
  has_website: "\uE007",
  region: "\uE008",
  city: "\uE009",
  claimed: "\uE00A",
  income: "\uE00B",
};

/** The index word for a filter's value; `wanted` is in the form of `wantedBy`. */
export const filterWord = (filter: FilterName, wanted: string): string =>
  marked(firstOf[filter], wanted);
/** The index word for everything in a city, region, county or island of this name, as searches in words use it. */
export const placeWord = (name: string): string => marked("\uE004", name);
/** The index word for everything in a cell of the globe (see `cellOf`); a prefix of it stands for a larger cell. */
export const cellWord = (cell: string): string => `\uE00C${cell}`;
/** The prefix of the index words of names with these initials. */
export const initialsWord = (letters: string): string =>
  `\uE005${letters.replaceAll(/./gu, `$&${mark}`)}`;

/** The index word for every organisation of this kind, according to registers or its causes. */
export const kindWord = (code: string): string =>
  code.startsWith(causePrefix)
    ? filterWord("cause", code.slice(causePrefix.length))
    : marked("\uE00D", code.replace(":", mark));

/** The index words of a nonprofit in addition to its texts. */
export function indexWords(record: NonprofitRecord): string {
  const filtered = filteredOf(record);
  const place = postalPlaceOf(record);
  return [
    ...filterNames.flatMap((name) =>
      valuesByFilter[name](filtered).map((value) => filterWord(name, comparedAs(name, value))),
    ),
    ...[record.city, record.region, ...(place?.areas.split(";") ?? [])]
      .flatMap(values)
      .map(placeWord),
    ...kindCodes(record.register_records).map(kindWord),
    ...(place === null ? [] : [cellWord(cellOf(place.point))]),
    initialsWord(initialsOf(record.name)),
    ...record.register_records.flatMap(({ facts }) => facts["other_name"] ?? []),
  ].join(" ");
}

/** The initials of a name, at most eight, skipping the words that initials skip: "Veterans of Foreign Wars" is vfw. */
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

/**
 * A kind of organisation: the folded words that people use for it in English, and in Spanish and French (`foreign`), and its
 * codes. "ntee:K3" stands for all NTEE codes that begin with K3, "cause:health" for a cause of this directory.
 */
export type Kind = {
  words: readonly string[];
  foreign: readonly string[];
  codes: readonly string[];
};

export const causePrefix = "cause:";
const nteeLengthMax = 3;

/** All kinds that searches know. */
export const allKinds: readonly Kind[] = kinds;
const searched = new Set(allKinds.flatMap(({ codes }) => codes));

/** The register codes under which a nonprofit is searched. */
export const kindCodes = (records: readonly Pick<RegisterRecord, "facts">[]): string[] =>
  records.flatMap(({ facts }) =>
    [
      ...beginnings(text(facts["ntee"])).map((code) => `ntee:${code}`),
      `irs:${text(facts["foundation"])}`,
      ...text(facts["tags"])
        .split(";")
        .map((tag) => `ukcat:${tag}`),
    ].filter((code) => searched.has(code)),
  );

const beginnings = (code: string): string[] =>
  Array.from({ length: Math.min(nteeLengthMax, code.length) }, (_, at) => code.slice(0, at + 1));

const text = (fact: string | number | undefined): string => String(fact ?? "");

const flags = new Map([
  ["claimed true", "Claimed by the organisation"],
  ["claimed false", "Listed by a register alone"],
  ["accepts usdc", "Takes gifts in USDC"],
  ["has_website true", "Has a website"],
  ["has_website false", "No website known"],
]);

const bandNames = new Map(incomeBands.map(({ id, name }) => [id, name]));
const bandPlaces = new Map(incomeBands.map(({ id }, at) => [id, at]));

/** The name of a facet's value. Income has no currency, because each register has its own. */
export function facetValueName(facet: FacetName, value: string): string {
  if (facet === "cause") return value === noCause ? "No cause known" : causeName(value);
  if (facet === "country") return countryName(value) ?? value;
  if (facet === "income") return bandNames.get(value) ?? value;
  return flags.get(`${facet} ${value}`) ?? value;
}

/** The counts as answers show them: with names, incomes in ascending order. */
export function facetsAnswer(counts: FacetCounts): Facets {
  const facets = facetNames.map((facet) => {
    const named = counts[facet].map(({ value, count }) => ({
      value,
      name: facetValueName(facet, value),
      count,
    }));
    if (facet === "income") {
      named.sort((a, b) => (bandPlaces.get(a.value) ?? 0) - (bandPlaces.get(b.value) ?? 0));
    }
    return [facet, named] as const;
  });
  return Object.fromEntries(facets) as Facets;
}
