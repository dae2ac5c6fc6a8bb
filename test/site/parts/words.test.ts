import { expect, test } from "bun:test";
import { grouped, placesInLine } from "#site/parts/words.ts";

test.each([
  [0, "0"],
  [999, "999"],
  [1_234_567, "1,234,567"],
  [-1_234_567, "-1,234,567"],
  [-123, "-123"],
  [1_234_567.89, "1,234,567.89"],
  [999.5, "999.50"],
  [1_234.999, "1,235.00"],
])("%d is shown as %s", (count, shown) => {
  expect(grouped(count)).toBe(shown);
});

test("a place from right to left turns only itself", () => {
  expect(placesInLine(["القاهرة", null, "Egypt"])).toBe("\u2068القاهرة\u2069, Egypt");
  expect(placesInLine(["Kisumu", "Nyanza", "Kenya"])).toBe("Kisumu, Nyanza, Kenya");
});
