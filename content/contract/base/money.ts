import { fail, ok, type Result } from "./result.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";

const perUsdc = 1_000_000n;
export const usdcDecimals = 6 as const;

export const donationMax = micro(10_000n * perUsdc);
export const donationDefault = micro(perUsdc);
/** The amounts that pages suggest, in USDC. */
export const suggestedUsdc = ["5", "25", "100"] as const;

export const amountErrors = {
  form: "amount is a plain decimal number of USDC with at most 6 decimals, like 2.5.",
  none: "amount is more than 0.",
  high: `amount is at most ${usdcText(donationMax)}.`,
} as const;

/**
 * Parses plain decimal text: digits, and at most six more after a point. Null for every other form (signs, spaces,
 * exponents, separators, digits of other scripts): a form that two programs may read differently is not an amount.
 */
export function microUsdcFrom(text: string): MicroUsdc | null {
  const match = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,6}))?$/.exec(text);
  if (match === null) return null;
  const [, whole = "", fraction = ""] = match;
  return micro(BigInt(whole) * perUsdc + BigInt(fraction.padEnd(usdcDecimals, "0")));
}

/** Parses a donation's amount: more than 0, at most 10,000; default 1. The failure says what is wrong. */
export function donationAmount(text: string | null): Result<MicroUsdc, string> {
  if (text === null) return ok(donationDefault);
  const amount = microUsdcFrom(text);
  if (amount === null) return fail(amountErrors.form);
  if (amount === 0n) return fail(amountErrors.none);
  return amount > donationMax ? fail(amountErrors.high) : ok(amount);
}

/** Money as a JSON number of USDC. Exact below eight thousand million USDC. */
export const usdcNumber = (amount: MicroUsdc): number => Number(amount) / Number(perUsdc);

/** The inverse of `usdcNumber`, exact for whole numbers of millionths. */
export const microUsdcOf = (usdc: number): MicroUsdc =>
  micro(BigInt(Math.round(usdc * Number(perUsdc))));

/** Money as text: "2.5", "0.000001", "10000". The only form for links and pages; never rounded. */
export function usdcText(amount: MicroUsdc): string {
  const fraction = (amount % perUsdc).toString().padStart(usdcDecimals, "0").replace(/0+$/, "");
  const whole = (amount / perUsdc).toString();
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/** Money from a count of millionths. Throws a RangeError below zero. */
export function micro(amount: bigint): MicroUsdc {
  if (amount < 0n) throw new RangeError("money is never negative");
  return amount as MicroUsdc;
}
