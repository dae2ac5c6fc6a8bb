import { describe, expect, test } from "bun:test";
import { mayAlter, sketchOf } from "#content/search/kept-search.ts";
import {
  allOf,
  anyOf,
  inName,
  phrase,
  phrasesOf,
  stemMatch,
  without,
} from "#content/search/match.ts";

const stemsOf = (text: string) =>
  text
    .toLowerCase()
    .split(" ")
    .map((word) => word.replace(/s$/, ""));
const profile = { id: 7, stems: ["clean", "water", "well"], words: ["clean", "water", "wells"] };
const keptFor = (match: Parameters<typeof stemMatch>[0], members: number[] | null = []) => ({
  match: stemMatch(match, stemsOf),
  members: members === null ? null : sketchOf(members),
});

describe("a changed profile", () => {
  test.each([
    [phrase("Wells"), true],
    [phrase("rivers"), false],
    [phrase("clean wells"), true],
    [phrase("clean rivers"), false],
    [phrase("wat", true), true],
    [phrase("well", true), true],
    [phrase("dry wel", true), true],
    [phrase("rive", true), false],
    [allOf([phrase("clean"), phrase("rivers")]), false],
    [anyOf([phrase("clean"), phrase("rivers")]), true],
    [inName(phrase("clean")), true],
    [without(phrase("clean"), phrase("water")), true],
  ])("with clean water wells may alter a search for %j: %p", (match, altered) => {
    expect(mayAlter(keptFor(match), profile)).toBe(altered);
  });

  test("alters a search that it matched before, and one of which nobody knows who matched", () => {
    const rivers = phrase("rivers");
    expect(mayAlter(keptFor(rivers, [3, 7]), profile)).toBe(true);
    expect(mayAlter(keptFor(rivers, [3, 8]), profile)).toBe(false);
    expect(mayAlter(keptFor(rivers, null), profile)).toBe(true);
  });

  test("is told from members unless there are very many", () => {
    const members = Array.from({ length: 1_000 }, (_, at) => 2 * at);
    const sketch = sketchOf(members);
    expect(
      members.every((id) =>
        mayAlter(
          { match: stemMatch(phrase("x"), stemsOf), members: sketch },
          { id, stems: [], words: [] },
        ),
      ),
    ).toBe(true);
    expect(sketchOf(Array.from({ length: 100_000 }, (_, at) => at)).byteLength).toBe(16_384);
  });
});

test("phrases that nothing is found by are not counted, and one stem is kept once", () => {
  const match = without(allOf([phrase("a"), inName(phrase("b"))]), phrase("c"));
  expect(phrasesOf(match).map(({ phrase: { text }, nameOnly }) => [text, nameOnly])).toEqual([
    ["a", false],
    ["b", true],
  ]);
  const same = stemMatch(anyOf([phrase("wells"), phrase("well")]), stemsOf);
  expect(same).toEqual({ kind: "any", of: [{ kind: "stems", stems: ["well"], begun: null }] });
});
