import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { allOf, anyOf, searchWords, wordMatch } from "#content/find/query.ts";
import { indexWords } from "#content/nonprofit/filters.ts";
import type { NonprofitRecord } from "#content/nonprofit/record.ts";
import { type CuratedIndex, openCuratedIndex } from "#content/recommendation/pick-store.ts";
import { aNonprofit } from "#test/support/records.ts";

const vocabulary = [
  "water",
  "wells",
  "well",
  "clean",
  "village",
  "schools",
  "school",
  "co-op",
  "music",
  "café",
  "health",
  "healthy",
];
const textAt = (at: number) => {
  const wordAt = (word: number) => vocabulary[(at * 5 + word * (1 + (at % 4))) % 12];
  return Array.from({ length: 3 + (at % 7) }, (_, word) => wordAt(word)).join(" ");
};
const records = Array.from({ length: 60 }, (_, at) => {
  const texts = { name: textAt(at), mission: textAt(at + 3), tagline: textAt(at + 11) };
  return aNonprofit({ ...texts, id: at + 1 });
});

const picked = (record: NonprofitRecord, why_recommended = "") => ({
  record,
  pick: {
    nonprofit_id: record.id,
    recommended_for: [],
    causes: null,
    origin: "operator" as const,
    why_recommended,
  },
});
const matchesOf = (text: string) =>
  searchWords(text).map((word) => wordMatch({ ...word, prefix: false }, []));

let index: CuratedIndex;
let whole: Database;
beforeEach(() => {
  index = openCuratedIndex();
  const picks = records.map((record) => picked(record));
  index.update(picks, []);
  whole = new Database(":memory:");
  whole.run(`CREATE VIRTUAL TABLE whole USING fts5(name, tagline, mission, description, facets, pick,
    tokenize = "porter unicode61 remove_diacritics 2")`);
  const insert =
    whole.query(`INSERT INTO whole (rowid, name, tagline, mission, description, facets, pick)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  for (const r of records)
    insert.run(r.id, r.name, r.tagline, r.mission, r.description, indexWords(r), ". ");
});
afterEach(() => {
  index.close();
  whole.close();
});

/** What FTS5 says when it is asked for all words at once, none of them half typed. */
const asked = (text: string, which: typeof allOf) =>
  whole
    .query<{ id: number; strength: number }, [string]>(
      "SELECT rowid AS id, -bm25(whole, 10.0, 5.0, 2.0, 1.0, 1.0, 5.0) AS strength FROM whole WHERE whole MATCH ? ORDER BY rowid",
    )
    .all(which(matchesOf(text)));

const ascending = (ids: Iterable<number>) => [...ids].sort((a, b) => a - b);
const someWords = fc
  .array(fc.constantFrom(...vocabulary, "nothing", '"clean water"', "heal"), {
    minLength: 1,
    maxLength: 5,
  })
  .map((words) => words.join(" "));

test("finds and weighs as FTS5 does when it is asked for everything at once", () => {
  fc.assert(
    fc.property(someWords, (text) => {
      const words = matchesOf(text);
      const any = asked(text, anyOf);
      expect(ascending(index.matching(words, "any"))).toEqual(any.map(({ id }) => id));
      const all = asked(text, allOf).map(({ id }) => id);
      expect(ascending(index.matching(words, "all"))).toEqual(all);
      const strengths = index.strengths(words);
      expect(strengths.size).toBe(any.length);
      for (const { id, strength } of any) expect(strengths.get(id)).toBeCloseTo(strength, 9);
    }),
    { numRuns: 80 },
  );
});

/** The first profile, with this name as its only text. */
const rename = (name: string) =>
  index.update([picked(aNonprofit({ id: 1, slug: "p0", name }))], []);

test.each([
  // Its last word only begins one.
  ["pure water", "Waterford Trust", false],
  ["car", "We carry on", false],
  ["heal", "Healthcare for All", false],
  // The profile has its stem.
  ["cars", "The Car Pool", true],
  ["teaching", "We teach", true],
  ["cafe", "Café Zuflucht", true],
])("a need of %s picks %s: %p", (need, name, isPicked) => {
  rename(name);
  expect(index.matching(matchesOf(need), "any").has(1)).toBe(isPicked);
  expect(index.strengths(matchesOf(need)).has(1)).toBe(isPicked);
});

describe("a profile that changes", () => {
  const found = (text: string) => ascending(index.matching(matchesOf(text), "all"));

  test("is found by its new words only, at once", () => {
    expect(found("zebra")).toEqual([]);
    rename("Zebra");
    expect(found("zebra")).toEqual([1]);
    expect(found("water")).not.toContain(1);
  });

  test("is gone when it is taken out", () => {
    const before = found("water");
    index.update([], before.slice(0, 2));
    expect(found("water")).toEqual(before.slice(2));
  });
});
