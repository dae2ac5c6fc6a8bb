import { describe, expect, test } from "bun:test";
import {
  beginnings,
  editDistance,
  mistakesMax,
  nearestWords,
  otherFirstLetters,
  splits,
} from "#content/contract/base/edit-distance.ts";
import { placeOf, placesBeside, placeSpans, placeSpellings } from "#content/find/places.ts";
import {
  causeOf,
  joinedPairs,
  needed,
  searchWords,
  tellingText,
  textOf,
  withForms,
  withPair,
} from "#content/find/query.ts";

const formsOf = (text: string, alone = false) =>
  withForms(searchWords(text), { text, alone }).map(({ forms, also = [] }) => [
    ...forms,
    ...also.map((match) => (match.endsWith("*") ? "initials" : match.replaceAll('"', ""))),
  ]);

describe("words that must match", () => {
  test.each([
    ["Friends of the Library", ["Friends", "Library"]],
    ["The Arc Inc", ["Arc"]],
    ["of the", ["of", "the"]],
  ])("of %p are %j", (typed, words) => {
    expect(needed(searchWords(typed)).map(textOf)).toEqual(words);
    expect(tellingText(typed)).toBe(words.join(" ").toLowerCase());
  });

  test.each([
    ["St Vincent", [["St", "saint", "ste"], ["Vincent"]]],
    ["foodbank", [["foodbank", "food bank"]]],
    ['"st paul"', [["st paul"]]],
    ["VFW Hawaii", [["VFW", "initials"], ["Hawaii"]]],
    ["VFW POST", [["VFW"], ["POST"]]],
  ])("of %p also match %j", (typed, forms) => {
    expect(formsOf(typed)).toEqual(forms);
  });

  test.each([
    ["vfw", true],
    ["CARE", true],
    ["care", false],
    ["xy", false],
  ])("alone: %p may be initials: %p", (typed, isAcronym) => {
    expect(formsOf(typed, true)[0]?.includes("initials")).toBe(isAcronym);
  });

  test("are joined with their neighbours", () => {
    const words = searchWords('food bank "of hawaii"');
    const pair = { at: 0, text: "foodbank" };
    expect(joinedPairs(words)).toEqual([pair]);
    const joined = ['"foodbank"'];
    expect(withPair(words, pair).map(({ also }) => also)).toEqual([joined, joined, undefined]);
  });

  test.each([
    ["clean water", "water-sanitation"],
    ["food banks", "food-security"],
    ["Adventure & Travel", "adventure-travel"],
    ["animal rescue", "animals"],
    // Beside other things.
    ["animal robots", "animals"],
    ["animals food bank", "food-security"],
    ["robots", null],
  ])("%p name the cause %p", (typed, id) => {
    expect(causeOf(needed(searchWords(typed)))).toBe(id);
  });
});

describe("words that may be a place", () => {
  const spans = (typed: string) => placeSpans(searchWords(typed)).map(({ text }) => text);
  test.each([
    ["food bank honolulu", "food bank honolulu|bank honolulu|honolulu|food bank|food"],
    [
      "schools in Kenya for girls",
      "Kenya for girls|Kenya for|Kenya|girls|schools in Kenya|schools in|schools",
    ],
    ['"new york"', ""],
  ])("of %p are %s", (typed, texts) => {
    expect(spans(typed).join("|")).toBe(texts);
  });

  test("beside a place stand before and after it", () => {
    const words = searchWords("library portland maine usa");
    const beside = placesBeside(words, { from: 2, to: 3 }).map(({ text }) => text);
    expect(beside).toEqual(["library portland", "portland", "usa"]);
  });

  test.each([
    ["St. Louis", ["st louis", "saint louis"]],
    ["Mount Airy", ["mount airy", "mt airy"]],
    ["Coeur d'Alene", ["coeur dalene"]],
  ])("%p are spelled %j", (text, spellings) => {
    expect(placeSpellings(text)).toEqual(spellings);
  });

  const fife = { city: "Fife", region: "Scotland", country_code: "GB" };
  const nairobi = { city: "Nairobi", region: null, country_code: null };
  const hilo = { city: "Hilo", region: "Hawaii", country_code: "US" };
  test.each([
    ["hilo", hilo, "Hilo", ["Hawaii", "United States"], false],
    ["hawaii", hilo, "Hawaii", ["United States"], true],
    ["nebraska", null, "Nebraska", ["United States"], true],
    ["kenya", null, "Kenya", [], true],
    ["scotland", null, "United Kingdom", [], true],
    ["scotland", fife, "Scotland", ["United Kingdom"], false],
    ["Nairobi", nairobi, "Nairobi", [], false],
  ])("%p is %p", (text, located, name, around, isSure) => {
    const place = placeOf(text, located);
    expect(place).toMatchObject({ name, isSure });
    expect(place?.around.map((outer) => outer.name)).toEqual(around);
  });

  test.each(["water", "us", "in"])("%p is none", (text) => {
    expect(placeOf(text, null)).toBeNull();
  });
});

describe("a word with a mistake", () => {
  test.each([
    ["foodbank", "foodbank", 0],
    ["foodbnk", "foodbank", 1],
    ["fodobank", "foodbank", 1],
    ["foodbankk", "foodbank", 1],
    ["fuudbank", "foodbank", 2],
    ["house", "horses", 2],
    ["water", "wine", 3],
    ["aaaa", "aaaabbbb", 3],
  ])("%p is from %p %i steps away", (one, other, steps) => {
    expect(editDistance(one, other, 2)).toBe(steps);
    expect(editDistance(other, one, 2)).toBe(steps);
  });

  test.each([
    ["cat", 0],
    ["2026ers", 0],
    ["water", 1],
    ["sanctuary", 2],
  ])("%p may hold %i", (word, most) => {
    expect(mistakesMax(word)).toBe(most);
  });

  test("is nearest to what differs least and begins alike", () => {
    const words = ["eatr", "water", "watt", "waiter", "watr"];
    expect(nearestWords("watr", words)).toEqual(["watt", "water", "eatr"]);
  });

  test("is looked for by its beginning, swapped, missing and wrong letters", () => {
    expect(beginnings("kenya")).toEqual(["ke", "k", "ek", "en"]);
    expect(beginnings("eel")).toEqual(["ee", "e"]);
    expect(otherFirstLetters("enya")).toContain("kenya");
    expect(otherFirstLetters("genya")).toContain("kenya");
  });

  test("may be two", () => {
    expect(splits("foodbank")).toEqual(["foo dbank", "food bank", "foodb ank"]);
    expect(splits("bank")).toEqual([]);
    expect(splits("x".repeat(31))).toEqual([]);
  });
});
