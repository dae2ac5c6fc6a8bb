import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { bestOf } from "#content/search/best-of.ts";
import {
  difference,
  IdBits,
  intersection,
  placeOf,
  Scratch,
  union,
} from "#content/search/id-sets.ts";
import { SortedWords } from "#content/search/sorted-words.ts";

const anySet = fc
  .uniqueArray(fc.nat({ max: 500 }), { maxLength: 200 })
  .map((ids) => Uint32Array.from(ids).sort());
const fewOrMany = fc.oneof(
  anySet,
  anySet.map((set) => set.subarray(0, 3)),
);

describe("sets of ids", () => {
  test("are cut, joined and taken from each other as sets are", () => {
    const scratch = new Scratch(1_000);
    fc.assert(
      fc.property(fewOrMany, fewOrMany, fewOrMany, (one, other, third) => {
        scratch.clear();
        const [a, b] = [new Set(one), new Set(other)];
        const both = intersection(one, other, scratch);
        const left = difference(one, other, scratch);
        const any = union([one, other, third], scratch);
        expect([...both]).toEqual([...one].filter((id) => b.has(id)));
        expect([...left]).toEqual([...one].filter((id) => !b.has(id)));
        expect([...any]).toEqual([...new Set([...a, ...b, ...third])].sort((x, y) => x - y));
      }),
      { numRuns: 500 },
    );
  });

  test("know where an id stands or would stand", () => {
    fc.assert(
      fc.property(anySet, fc.nat({ max: 600 }), (set, id) => {
        const at = set.findIndex((own) => own >= id);
        expect(placeOf(set, id)).toBe(at === -1 ? set.length : at);
      }),
    );
  });

  test("in memory of their own are whole until it is given back, however much is asked for", () => {
    const scratch = new Scratch(10_000);
    for (const length of [3_000, 3_000, 6_000, 20_000]) {
      scratch.clear();
      const sets = Array.from({ length: 4 }, (_, at) => {
        const set = scratch.take(length).fill(at);
        return scratch.keep(set, length - 1);
      });
      for (const [at, set] of sets.entries()) {
        expect(set).toHaveLength(length - 1);
        expect(set.every((value) => value === at)).toBe(true);
      }
    }
  });

  test("can be collected in any order", () => {
    const bits = new IdBits(64);
    bits.addAll(Uint32Array.from([64, 0, 31, 32]));
    expect([bits.has(31), bits.has(30), bits.count()]).toEqual([true, false, 4]);
    const ids = new Uint32Array(4);
    expect(bits.write(ids)).toBe(4);
    expect([...ids]).toEqual([0, 31, 32, 64]);
  });
});

describe("the best of a contest", () => {
  test.each([0, 1, 7, 100, 101, 400])("the first %p are those that sorting finds", (wanted) => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 20 }), { maxLength: 300 }), (points) => {
        const order = (a: number, b: number) => (points[b] ?? 0) - (points[a] ?? 0) || a - b;
        const sorted = points.map((_, at) => at).sort(order);
        expect(bestOf({ count: points.length, order }, wanted)).toEqual(sorted.slice(0, wanted));
      }),
    );
  });
});

describe("sorted words", () => {
  const bytes = (word: string) => Buffer.from(word);
  const anyWords = fc
    .uniqueArray(
      fc.string({ unit: fc.constantFrom("a", "b", "é", "水", "z"), minLength: 1, maxLength: 6 }),
      { maxLength: 300 },
    )
    .map((words) => words.sort((a, b) => Buffer.compare(bytes(a), bytes(b))));

  test("are found by whole and by beginning", () => {
    fc.assert(
      fc.property(
        anyWords,
        fc.string({ unit: fc.constantFrom("a", "é", "z"), maxLength: 3 }),
        (words, start) => {
          const list = new SortedWords();
          for (const word of words) list.push(word);
          expect(list.count).toBe(words.length);
          for (const [at, word] of words.entries()) {
            expect([list.indexOf(word), list.at(at)]).toEqual([at, word]);
          }
          const [from, to] = list.beginning(start);
          expect(words.slice(from, to)).toEqual(words.filter((word) => word.startsWith(start)));
          expect(list.indexOf(`${start}x`)).toBe(-1);
        },
      ),
      { numRuns: 300 },
    );
  });
});
