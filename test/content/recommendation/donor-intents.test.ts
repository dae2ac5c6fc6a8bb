import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { normaliseIntent, normaliseIntents } from "#content/recommendation/pick-text.ts";
import { anyText } from "#test/support/any-text.ts";

describe("a donor intent", () => {
  test.each([
    ["Donors interested in Rural Water", "rural water"],
    ["Recommended for donors interested in rural water.", "rural water"],
    ["for people who are interested in rural water!", "rural water"],
    ["recommended for rural water", "rural water"],
    ["rural-water", "rural water"],
    ["  rural \t water ", "rural water"],
    ["Écoles à Québec", "ecoles a quebec"],
    ["ＲＵＲＡＬ water", "rural water"],
    ["people displaced by floods", "people displaced by floods"],
    ["donors", "donors"],
    ["for donors interested in", "for donors interested in"],
    ["हिन्दी पाठशाला", "हिन्दी पाठशाला"],
    ["ミルク", "ミルク"],
    ["…", ""],
    ["🐟", ""],
  ])("%p is compared as %p", (raw, compared) => {
    expect(normaliseIntent(raw)).toBe(compared.normalize("NFC"));
  });

  test("in its compared form stays what it is", () => {
    fc.assert(
      fc.property(anyText(60), (text) => {
        const once = normaliseIntent(text);
        // The words around a topic come off once: "for donors interested in donors interested in x" is odd, and stable.
        const twice = normaliseIntent(once);
        expect(once.endsWith(twice)).toBe(true);
      }),
    );
  });
});

describe("donor intents", () => {
  test.each([
    [
      ["b", "a"],
      ["A", "B."],
    ],
    [["wells", "Wells", "wells "], ["wells"]],
    [
      ["donors interested in wells", "schools"],
      ["schools", "wells", "…"],
    ],
  ])("%j are the same as %j", (one, other) => {
    expect(normaliseIntents(one)).toBe(normaliseIntents(other));
  });

  test.each([
    [["wells"], ["well"]],
    [["wells", "schools"], ["wells"]],
    [["a b"], ["a", "b"]],
  ])("%j are others than %j", (one, other) => {
    expect(normaliseIntents(one)).not.toBe(normaliseIntents(other));
  });
});
