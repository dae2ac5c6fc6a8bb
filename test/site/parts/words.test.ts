import { expect, test } from "bun:test";
import { clipped, placesInLine } from "#site/parts/words.ts";

test("a place from right to left turns only itself", () => {
  expect(placesInLine(["القاهرة", null, "Egypt"])).toBe("\u2068القاهرة\u2069, Egypt");
  expect(placesInLine(["Kisumu", "Nyanza", "Kenya"])).toBe("Kisumu, Nyanza, Kenya");
});

test.each([
  ["to carry on the business of: (a) providing houses", 36, "to carry on the business of…"],
  [
    "to carry on the business of; (iv) hostels, and so on",
    45,
    "to carry on the business of; (iv) hostels…",
  ],
  ["Friends of the Fund (UK) in Belfast", 30, "Friends of the Fund (UK) in…"],
  ["Friends of the Fund (UK) Ltd, in Belfast", 26, "Friends of the Fund (UK)…"],
])("%s is cut at %i to %s", (text, lengthMax, cut) => {
  expect(clipped(text, lengthMax)).toBe(cut);
});
