import { expect, test } from "bun:test";
import { placesInLine } from "#site/parts/words.ts";

test("a place from right to left turns only itself", () => {
  expect(placesInLine(["القاهرة", null, "Egypt"])).toBe("\u2068القاهرة\u2069, Egypt");
  expect(placesInLine(["Kisumu", "Nyanza", "Kenya"])).toBe("Kisumu, Nyanza, Kenya");
});
