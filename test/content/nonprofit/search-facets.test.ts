import { expect, test } from "bun:test";
import { initialsOf, searchFacets } from "#content/nonprofit/search-facets.ts";
import { emptyRecord } from "#content/nonprofit/record.ts";

test.each([
  ["Veterans of Foreign Wars Inc", "vfw"],
  ["Young Men's Christian Association", "ymca"],
  ["Parent-Teacher Organization (Kona)", "ptok"],
  ["One Two Three Four Five Six Seven Eight Nine", "ottffsse"],
])("the initials of %p are %p", (name, initials) => {
  expect(initialsOf(name)).toBe(initials);
});

test("the search index has causes, country, places, initials and ways to give as words that no query holds", () => {
  const nonprofit = {
    ...emptyRecord,
    name: "Clean Water Fund",
    causes: ["clean-water", "health"],
    country_code: "US",
    ghd_aligned: 1 as const,
    city: "St. Louis",
    region: "Missouri",
    website: "https://cwf.example",
    usdc_wallet: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin",
  };
  expect(searchFacets(nonprofit)).toBe(
    "\uE000clean\uE003water \uE000health \uE001US \uE002 \uE004St\uE003Louis\uE003 \uE004Missouri\uE003 \uE005c\uE003w\uE003f\uE003 \uE006usdc \uE007",
  );
  expect(searchFacets({ ...emptyRecord, name: "The" })).toBe("\uE005");
});
