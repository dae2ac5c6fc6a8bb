import { type FilterParameters, filtersOf } from "#content/contract/browse.ts";
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  allOf,
  filterMatches,
  halfTypedWord,
  kindsIn,
  searchWords,
  typedWords,
  wordMatch,
} from "#content/find/query.ts";
import { anyText } from "#test/support/any-text.ts";

const matchOf = (text: string) => allOf(searchWords(text).map((word) => wordMatch(word, null)));

describe("a search text", () => {
  test.each([
    ["water", '"water"*'],
    ["Clean  water", '("Clean" AND "water"*)'],
    ['schools "clean  water" kenya', '("schools" AND "clean water" AND "kenya"*)'],
    ['wells "clean water"', '("wells" AND "clean water")'],
    ["“clean water” wells", '("clean water" AND "wells"*)'],
    ['"never closed here', '("never" AND "closed" AND "here"*)'],
    ["the the THE last", '("THE" AND "last"*)'],
    ["co-op bank", '(("co op" OR "coop") AND "bank"*)'],
    ["Moloka\u02BBi land", '(("Moloka i" OR "Molokai" OR "Moloka\u02BBi") AND "land"*)'],
    ["\u02BBAiea", '("Aiea"* OR "\u02BBAiea"*)'],
    ["women's", '("women s" OR "womens"*)'],
    ["health/education", '("health" AND "education"*)'],
    ["a AND b OR NOT NEAR(c)", '("a" AND "AND" AND "b" AND "OR" AND "NOT" AND "NEAR" AND "c")'],
    ["name:x* ^y -z {col}", '("name" AND "x" AND "y" AND "z" AND "col"*)'],
    ["水", '"水"*'],
    ["\uE000education", '"education"*'],
    ["!!! --- \u0000", "()"],
  ])("%p asks for %s", (text, match) => {
    expect(matchOf(text)).toBe(match);
  });

  test("keeps repeated words as typed, and asks for them once", () => {
    const words = typedWords("walla walla");
    expect(words.map(({ forms }) => forms[0])).toEqual(["walla", "walla"]);
    expect(allOf(words.map((word) => wordMatch(word, null)))).toBe('"walla"*');
  });

  test("has at most 16 words of at most 100 characters", () => {
    const words = searchWords(Array.from({ length: 50 }, (_, at) => `w${at}x`).join(" "));
    expect(words).toHaveLength(16);
    expect(searchWords("x".repeat(5_000))[0]?.forms[0]).toHaveLength(100);
  });

  test("never leaves its quotes, whatever it holds", () => {
    fc.assert(
      fc.property(anyText(60), (text) => {
        for (const { forms } of searchWords(text)) {
          for (const form of forms) expect(form).toMatch(/^[\p{L}\p{N}\p{M} ]+$/u);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a half-typed word", () => {
  test.each([
    ["food comm", "comm"],
    ["Éducat", "educat"],
    ["co-op", null],
    ["foo", null],
    ['"whole phrase"', null],
  ])("in %p is %p", (text, half) => {
    expect(halfTypedWord(searchWords(text))).toBe(half);
  });

  test("matches its completions, or all that begins with it", () => {
    const [word = { forms: [], prefix: false }] = searchWords("communi");
    const completed = '("communi" OR "community" OR "communion")';
    expect(wordMatch(word, ["community", "communion"])).toBe(completed);
    expect(wordMatch(word, [])).toBe('"communi"');
    expect(wordMatch(word, null)).toBe('"communi"*');
  });
});

test.each([
  // Music, neighbourhood development, Protestants, flats for the old and emergency help are wider than these kinds.
  ["orchestra", ["ntee:A69", "ukcat:AR306"]],
  ["choir", ["ntee:A6B", "ukcat:AR301"]],
  ["village hall", ["ntee:P28", "ukcat:FA103", "ukcat:FA107"]],
  ["baptist church", []],
  ["nursing home", ["ntee:E91", "ntee:P75", "ntee:P70", "ukcat:SC106", "ukcat:SC107"]],
  ["disaster relief", ["ntee:M20", "ukcat:SL102"]],
])("organisations of the kind %s have the codes %j", (words, codes) => {
  expect(kindsIn(searchWords(words)).map(({ kind }) => kind.codes)).toEqual([codes]);
});

describe("filters", () => {
  const wordsOf = (given: FilterParameters) =>
    filterMatches(filtersOf(given))?.map((match) =>
      match.replaceAll(/["\uE000-\uF8FF]+/g, " ").trim(),
    );
  test.each([
    [{}, []],
    [{ cause: "Education " }, ["education"]],
    [{ country: "kenya" }, ["KE"]],
    [{ country: "ke", cause: "youth-empowerment" }, ["youth empowerment", "KE"]],
    [{ city: "São  Paulo" }, ["sao paulo"]],
    [{ ghd_aligned: "1" }, ["1"]],
    [{ accepts: "usdc", has_website: "false" }, ["usdc", "false"]],
  ])("%j are %j", (given, words) => {
    expect(wordsOf(given)).toEqual(words);
  });

  test.each([{ cause: "no such cause" }, { country: "Atlantis" }])("%j match nothing", (given) => {
    expect(wordsOf(given)).toBeUndefined();
  });
});
