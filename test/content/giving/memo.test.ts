import { base58Bytes } from "#content/contract/transfer.ts";
import { expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  type DonationMemo,
  asksToPay,
  readMemo,
  referenceOf,
  writeMemo,
} from "#content/giving/memo.ts";
import { donationMax, micro } from "#content/contract/base/money.ts";

const key = new Uint8Array(32).fill(7);
const seal = { key, network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" };
const wallet = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
const asked: DonationMemo = {
  nonprofit_id: 12,
  amount: micro(2_500_000n),
  issued_at_s: 1_780_000_000,
  nonce: 42,
};
const memo = writeMemo(asked, wallet, seal);

test("a memo is 32 ASCII characters, and the same for the same", () => {
  expect(memo).toMatch(/^[A-Za-z0-9_-]{32}$/);
  expect(writeMemo(asked, wallet, seal)).toBe(memo);
});

test("whatever is asked for can be read from it", () => {
  const any = fc.record({
    nonprofit_id: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    amount: fc.bigInt({ min: 1n, max: donationMax }).map(micro),
    issued_at_s: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    nonce: fc.integer({ min: 0, max: 2 ** 24 - 1 }),
  });
  fc.assert(
    fc.property(any, (one) => {
      const text = writeMemo(one, wallet, seal);
      expect(readMemo(text, seal)).toEqual(one);
      expect(asksToPay(text, wallet, seal)).toBe(true);
    }),
  );
});

/** The memo with one bit of this byte turned. */
const changed = (at: number) => {
  const bytes = Buffer.from(memo, "base64url");
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes.toString("base64url");
};

test.each<[string, string, Partial<typeof seal>?]>([
  ["another text", "thanks for the fish"],
  ["nothing", ""],
  ["a shorter one", memo.slice(1)],
  ["a longer one", `${memo}A`],
  ["one with a space", ` ${memo.slice(1)}`],
  ["a random one, as x402 clients make", "0123456789abcdef0123456789abcdef"],
  ["one of another network", memo, { network: "solana:devnet" }],
  ["one of another directory", memo, { key: new Uint8Array(32) }],
  ...Array.from({ length: 20 }, (_, at): [string, string] => [`byte ${at} changed`, changed(at)]),
])("is no memo of ours: %s", (_, text, other = {}) => {
  expect(readMemo(text, { ...seal, ...other })).toBeNull();
});

test.each([
  ["another wallet", memo, "9aE476sH92Vz7DMPyq5WLPkrKWivxeuTKEFKd2sZZcde"],
  ["no wallet", memo, ""],
  ["what is no memo", "no memo", wallet],
  ["a changed seal of the wallet", changed(23), wallet],
])("asks to pay one wallet alone, and not %s", (_, text, to) => {
  expect(asksToPay(text, to, seal)).toBe(false);
});

test("the reference is 32 bytes of the memo, another for another", () => {
  expect(base58Bytes(referenceOf(memo), 32)).not.toBeNull();
  expect(referenceOf(memo)).toEqual(referenceOf(memo));
  expect(referenceOf(memo)).not.toEqual(referenceOf(`${memo} `));
});
