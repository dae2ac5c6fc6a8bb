import {
  type FacetCounts,
  type FacetName,
  type Facets,
  causeName,
  facetNames,
  incomeBands,
  noCause,
} from "#content/contract/browse.ts";
import { countryName } from "./country.ts";

const flags = new Map([
  ["claimed true", "Claimed by the organisation"],
  ["claimed false", "Listed by a register alone"],
  ["accepts usdc", "Takes gifts in USDC"],
  ["has_website true", "Has a website"],
  ["has_website false", "No website known"],
]);

const bandNames = new Map(incomeBands.map(({ id, name }) => [id, name]));
const bandPlaces = new Map(incomeBands.map(({ id }, at) => [id, at]));

/** The value of a facet in words: for income without its currency, which is the register's own. */
export function facetValueName(facet: FacetName, value: string): string {
  if (facet === "cause") return value === noCause ? "No cause known" : causeName(value);
  if (facet === "country") return countryName(value) ?? value;
  if (facet === "income") return bandNames.get(value) ?? value;
  return flags.get(`${facet} ${value}`) ?? value;
}

/** The counts as answers have them: with names, incomes in rising order. */
export function facetsAnswer(counts: FacetCounts): Facets {
  const named = facetNames.map((facet) => {
    const values = counts[facet].map(({ value, count }) => ({
      value,
      name: facetValueName(facet, value),
      count,
    }));
    if (facet === "income") {
      values.sort((a, b) => (bandPlaces.get(a.value) ?? 0) - (bandPlaces.get(b.value) ?? 0));
    }
    return [facet, values] as const;
  });
  return Object.fromEntries(named) as Facets;
}
