import { describe, expect, test } from "bun:test";
import { bm25, inNameOnly, oneMore, withMore } from "#content/search/bm25.ts";

const counts = (...texts: number[]) => texts.reduce(oneMore, 0);
const corpus = { profiles: 10, wordsAverage: 20, sizes: Uint32Array.from([0, 20, 20, 40]) };
const ids = Uint32Array.from([1, 2, 3]);

describe("occurrences in one number", () => {
  test("are counted by text", () => {
    expect(inNameOnly(counts(0, 0, 2, 3))).toBe(counts(0, 0));
    expect(withMore(counts(0, 3), counts(0, 1, 3))).toBe(counts(0, 0, 1, 3, 3));
    expect(counts(4)).toBe(0); // Facets are worth nothing.
  });

  test("stay at the most that fits", () => {
    const names = counts(...Array.from({ length: 70 }, () => 0));
    expect(names).toBe(withMore(names, names));
    expect(inNameOnly(names)).toBe(names);
  });
});

describe("bm25", () => {
  test("is what FTS5 works out, by its formula", () => {
    const phrase = {
      ids: Uint32Array.from([1, 3]),
      counts: Uint32Array.from([counts(2), counts(2)]),
    };
    const [first, second, third] = bm25(ids, [phrase], corpus);
    const idf = Math.log((10 - 2 + 0.5) / 2.5);
    expect(first).toBeCloseTo((idf * 2.2) / (1 + 1.2), 12);
    expect(second).toBe(0);
    expect(third).toBeCloseTo((idf * 2.2) / (1 + 1.2 * (0.25 + (0.75 * 40) / 20)), 12);
  });

  test("gives a word that most have next to nothing, and adds words up", () => {
    const common = { ids, counts: Uint32Array.from([counts(0), counts(0), counts(0)]) };
    const most = { ...corpus, profiles: 3 };
    const [points = 0] = bm25(ids, [common], most);
    expect(points).toBeGreaterThan(0);
    expect(points).toBeLessThan(1e-5);
    expect(bm25(ids, [common, common], most)[0]).toBe(2 * points);
  });
});
