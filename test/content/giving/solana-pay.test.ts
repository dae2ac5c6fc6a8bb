import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { micro, microUsdcFrom } from "#content/contract/base/money.ts";
import { solanaPayLink } from "#content/giving/memo.ts";
import { readPayLink } from "#scripts/chain/client-commands.ts";
import { anyText } from "#test/support/any-text.ts";

const asked = {
  recipient: "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T",
  amount: micro(2_500_000n),
  mint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  reference: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin",
  memo: "AAAADAAAJiWgahLUwAAAKlRm3EkL9mXq",
  label: "Water & Light",
};

test("a payment as a Solana Pay link", () => {
  expect(solanaPayLink(asked)).toBe(
    "solana:4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T?amount=2.5&spl-token=EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v&reference=9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin&memo=AAAADAAAJiWgahLUwAAAKlRm3EkL9mXq&label=Water%20%26%20Light",
  );
});

test.each([
  ["", null],
  ["\u202Egp&amount=9", "gp&amount=9"],
  ["\ud800half", "half"],
  ["😀".repeat(80), "😀".repeat(30)],
  [`a${"😀".repeat(80)}`, `a${"😀".repeat(29)}`],
])("the name %p is shown as %p", (label, shown) => {
  expect(new URL(solanaPayLink({ ...asked, label })).searchParams.get("label")).toBe(shown);
});

test("no amount is written with an exponent, and no name adds a parameter", () => {
  fc.assert(
    fc.property(fc.bigInt(1n, 10_000_000_000n), anyText(), (amount, label) => {
      const link = readPayLink(solanaPayLink({ ...asked, amount: micro(amount), label }));
      expect(microUsdcFrom(link?.amount ?? "")).toBe(micro(amount));
      expect(link).toMatchObject({
        to: asked.recipient,
        memo: asked.memo,
        references: [asked.reference],
      });
    }),
  );
});
