import { expect, test } from "bun:test";
import { initialsOf, indexWords, wantedBy } from "#content/nonprofit/filters.ts";
import { emptyRecord } from "#content/nonprofit/record.ts";

test.each([
  ["Veterans of Foreign Wars Inc", "vfw"],
  ["Young Men's Christian Association", "ymca"],
  ["Parent-Teacher Organization (Kona)", "ptok"],
  ["One Two Three Four Five Six Seven Eight Nine", "ottffsse"],
])("the initials of %p are %p", (name, initials) => {
  expect(initialsOf(name)).toBe(initials);
});

test("the search index has the values of filters, places and initials as words that no query holds", () => {
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
  expect(indexWords(nonprofit).split(" ")).toEqual([
    "\uE000clean\uE003water\uE003",
    "\uE000health\uE003",
    "\uE001US\uE003",
    "\uE008missouri\uE003",
    "\uE009st\uE003louis\uE003",
    "\uE00Afalse\uE003",
    "\uE006usdc\uE003",
    "\uE007true\uE003",
    "\uE00Bunknown\uE003",
    "\uE0021\uE003",
    "\uE004St\uE003Louis\uE003",
    "\uE004Missouri\uE003",
    "\uE00C20331331332311021323",
    "\uE005c\uE003w\uE003f\uE003",
  ]);
});

test.each([
  ["water-sanitation", "water-sanitation"],
  ["Water & Sanitation", "water-sanitation"],
  [" NONE ", "none"],
  ["wells", null],
])("the cause %p is %p", (asked, id) => {
  expect(wantedBy("cause", asked)).toBe(id);
});
