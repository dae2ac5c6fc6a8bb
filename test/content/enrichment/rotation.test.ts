import { describe, expect, test } from "bun:test";
import { shareOfDay } from "#content/enrichment/needs-store.ts";

const items = ["a", "b", "c", "d", "e"];

describe("the share of a day", () => {
  // 2026-11-21 is day 20,778 since 1970: two items a day begin at 41,556, the remainder by five being 1.
  test.each([
    ["2026-11-21", ["b", "c"]],
    ["2026-11-22", ["d", "e"]],
    ["2026-11-23", ["a", "b"]],
  ])("%s is %j", (day, share) => expect(shareOfDay(items, day, 2)).toEqual(share));

  test("goes on at the beginning, and every item has its day", () => {
    const days = Array.from({ length: 5 }, (_, at) => `2026-11-${21 + at}`);
    expect(new Set(days.flatMap((day) => shareOfDay(items, day, 2)))).toEqual(new Set(items));
    expect(days.every((day) => new Set(shareOfDay(items, day, 4)).size === 4)).toBe(true);
  });

  test("is all of them when there are no more", () => {
    expect(shareOfDay(items, "2026-11-21", 5)).toEqual(items);
    expect(shareOfDay(items.slice(0, 2), "2026-11-22", 5)).toEqual(["a", "b"]);
    expect(shareOfDay([], "2026-11-21", 5)).toEqual([]);
  });
});
