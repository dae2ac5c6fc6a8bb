import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  donationAmount,
  micro,
  microUsdcFrom,
  usdcNumber,
  usdcText,
} from "#content/contract/base/money.ts";

test.each([
  ["1", 1_000_000n],
  ["0", 0n],
  ["2.50", 2_500_000n],
  ["0.000001", 1n],
  ["10000.000001", 10_000_000_001n],
  ["1.000000", 1_000_000n],
  ["999999999999.999999", 999_999_999_999_999_999n],
])("the amount %s is %d micro-USDC", (text, amount) => {
  expect(microUsdcFrom(text)).toBe(micro(amount));
});

test.each([
  ["spaces", ["", " ", " 1", "1 ", "1\n", "1 000"]],
  ["exponents and other bases", ["1e3", "1E3", "0x1", "0b1", "1n"]],
  ["signs", ["+1", "-1", "-0", "1$", "1\u0000"]],
  ["other digits", ["１", "١", "٫5", "½", "one", "NaN", "Infinity"]],
  ["points and zeros out of place", ["1.", ".5", "01", "00.5", "1.2.3"]],
  ["separators", ["1,5", "1,000", "1_000"]],
  ["too many digits", ["1.0000001", "9".repeat(13)]],
])("no amount: %s", (_, texts) => {
  expect(texts.filter((text) => microUsdcFrom(text) !== null)).toEqual([]);
});

describe("an amount to give", () => {
  test.each([
    [null, 1_000_000n],
    ["2.5", 2_500_000n],
    ["0.000001", 1n],
    ["10000", 10_000_000_000n],
    ["10000.000000", 10_000_000_000n],
  ])("may be %s", (text, amount) => {
    expect(donationAmount(text)).toEqual({ ok: true, value: micro(amount) });
  });

  test.each([
    ["", "plain decimal"],
    ["1.0000001", "6 decimals"],
    ["0", "more than 0"],
    ["0.000000", "more than 0"],
    ["10000.000001", "at most 10000"],
    ["99999", "at most 10000"],
  ])("may not be %j", (text, why) => {
    const read = donationAmount(text);
    expect(read.ok ? "" : read.failure).toContain(why);
  });
});

describe("on the wire", () => {
  test.each([
    [1n, 0.000001, "0.000001"],
    [100_000n, 0.1, "0.1"],
    [300_000n, 0.3, "0.3"],
    [2_500_000n, 2.5, "2.5"],
    [10_000_000_000n, 10_000, "10000"],
    [4_000_000_000_000_001n, 4_000_000_000.000001, "4000000000.000001"],
  ])("%d is the number %d and the text %s", (amount, number, text) => {
    expect(usdcNumber(micro(amount))).toBe(number);
    expect(usdcText(micro(amount))).toBe(text);
  });

  test("text and number say the same, whatever the amount", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 7_999_999_999_999_999n }), (amount) => {
        expect(microUsdcFrom(usdcText(micro(amount)))).toBe(micro(amount));
        expect(microUsdcFrom(usdcNumber(micro(amount)).toFixed(6))).toBe(micro(amount));
      }),
    );
  });
});

test("money is never negative", () => {
  expect(() => micro(-1n)).toThrow(RangeError);
});
