import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nameSimilarity, nearNameFrom, similarTo } from "#content/nonprofit/near-name.ts";
import { anyText } from "#test/support/any-text.ts";

type Pair = { same: boolean; one: string; other: string; similarity: number };

/** 1 or 0 (the same organisation or not, in one place), and two names. Labelled by hand before anything was measured. */
const pairs: Pair[] = readFileSync(join(import.meta.dirname, "name-pairs.tsv"), "utf8")
  .trim()
  .split("\n")
  .map((line) => {
    const [same, one = "", other = ""] = line.split("\t");
    return { same: same === "1", one, other, similarity: nameSimilarity(one, other) };
  });

function figures(some: readonly Pair[], threshold: number) {
  const found = some.filter(({ similarity }) => similarity >= threshold);
  const right = found.filter(({ same }) => same).length;
  const all = some.filter(({ same }) => same).length;
  return { precision: right / found.length, recall: right / all };
}
const tuned = pairs.filter((_, at) => at % 2 === 0);
const held = pairs.filter((_, at) => at % 2 === 1);

describe("the measure of near-same names", () => {
  test("has a labelled fixture of 200 pairs or more, of both kinds", () => {
    expect(pairs.length).toBeGreaterThanOrEqual(200);
    expect(pairs.filter(({ same }) => same).length).toBeWithin(100, pairs.length - 100);
    expect(new Set(pairs.map(({ one, other }) => `${one}\t${other}`)).size).toBe(pairs.length);
  });

  test("finds 96 % of the same, and 96 % of what it finds are, also where it was not tuned", () => {
    for (const some of [tuned, held, pairs]) {
      const { precision, recall } = figures(some, nearNameFrom);
      expect(precision).toBeGreaterThanOrEqual(0.96);
      expect(recall).toBeGreaterThanOrEqual(0.96);
    }
  });

  test("has the threshold that is best on the half it was chosen on", () => {
    const score = (threshold: number) => {
      const { precision, recall } = figures(tuned, threshold);
      return (2 * precision * recall) / (precision + recall);
    };
    const thresholds = Array.from({ length: 31 }, (_, at) => (65 + at) / 100);
    expect(score(nearNameFrom)).toBe(Math.max(...thresholds.map(score)));
  });
});

describe("two names", () => {
  test.each([
    ["Hope Kitchen", "THE HOPE KITCHEN, INC.", 1],
    ["St. Mary's Hospital", "Saint Marys Hospital", 1],
    ["Médecins Sans Frontières", "medecins sans frontieres", 1],
    ["Surf for Change", "Surf4Change", 1],
    ["Waves for Change", "Waves for Change (South Africa)", 1],
    ["(MSF)", "(msf)", 1],
    ["North East Kitchen", "Northeast Kitchen", 1],
    ["The", "The", 1],
    ["", "", 1],
    ["", "Hope", 0],
    ["A", "B", 0],
    ["希望之家", "希望之家", 1],
    // Cyrillic, Greek, fullwidth: made to look like the other.
    ["\u041D\u043E\u0440\u0435 \u041A\u0456tchen", "Hope Kitchen", 1],
    ["\u0397op\u03B5 Kitchen", "Hope Kitchen", 1],
    ["\uFF28\uFF4F\uFF50\uFF45 Kitchen", "Hope Kitchen", 1],
    ["Фонд помощи детям", "Фонд помощи детям", 1],
  ])("%j and %j", (one, other, similarity) => {
    expect(nameSimilarity(one, other)).toBe(similarity);
  });

  test.each([
    ["Masonic Lodge No. 12", "Masonic Lodge No. 14", nearNameFrom],
    ["West Side Center", "East Side Center", nearNameFrom],
    ["Фонд помощи детям", "Фонд защиты животных", 0.5],
    ["Ελληνικός Ερυθρός Σταυρός", "Hellenic Red Cross", 0.3],
  ])("%j and %j are distinguished", (one, other, limit) => {
    expect(nameSimilarity(one, other)).toBeLessThan(limit);
  });

  test("are as similar one way as the other, and each to itself", () =>
    fc.assert(
      fc.property(anyText(), anyText(), (one, other) => {
        const similarity = nameSimilarity(one, other);
        expect(similarity).toBe(nameSimilarity(other, one));
        expect(similarity).toBeWithin(0, 1.000_001);
        expect(nameSimilarity(one, one)).toBe(1);
        const compare = similarTo(one);
        expect([compare(other), compare(other)]).toEqual([similarity, similarity]);
      }),
    ));
});
