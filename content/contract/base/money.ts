import { fail, ok, type Result } from "./result.ts";
import type { MicroUsdc } from "#content/contract/transfer.ts";

const perUsdc = 1_000_000n;
const decimals = 6;

/** Source: spec, "Limits"; its decisions, "Donation". */
export const donationMax = micro(10_000n * perUsdc);
export const donationDefault = micro(perUsdc);

/** What is wrong with the amount of a donation. */
export const amountErrors = {
  form: "amount is a plain decimal number of USDC with at most 6 decimals, like 2.5.",
  none: "amount is more than 0.",
  high: `amount is at most ${usdcText(donationMax)}.`,
} as const;

/**
 * Plain decimal text as money: digits, and at most six more after a point. Null for every other form (signs, spaces,
 * exponents, separators, digits of other scripts), because a form that two programs read differently is not an amount.
 */
export function microUsdcFrom(text: string): MicroUsdc | null {
  const match = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,6}))?$/.exec(text);
  if (match === null) return null;
  const [, whole = "", fraction = ""] = match;
  return micro(BigInt(whole) * perUsdc + BigInt(fraction.padEnd(decimals, "0")));
}

/** The amount that a donor asks to give: more than 0, at most 10,000; 1 when nothing is said. The failure says why. */
export function donationAmount(text: string | null): Result<MicroUsdc, string> {
  if (text === null) return ok(donationDefault);
  const amount = microUsdcFrom(text);
  if (amount === null) return fail(amountErrors.form);
  if (amount === 0n) return fail(amountErrors.none);
  return amount > donationMax ? fail(amountErrors.high) : ok(amount);
}

/** Money as it stands on the wire: a number of USDC. Exact below eight thousand million USDC. */
export const usdcNumber = (amount: MicroUsdc): number => Number(amount) / Number(perUsdc);

/** The other way round: exact for a number that stands for a whole count of millionths. */
export const microUsdcOf = (usdc: number): MicroUsdc =>
  micro(BigInt(Math.round(usdc * Number(perUsdc))));

/** Money as text: "2.5", "0.000001", "10000". The only form for links and pages; never rounded. */
export function usdcText(amount: MicroUsdc): string {
  const fraction = (amount % perUsdc).toString().padStart(decimals, "0").replace(/0+$/, "");
  const whole = (amount / perUsdc).toString();
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/** A count of millionths as money. */
export function micro(amount: bigint): MicroUsdc {
  if (amount < 0n) throw new RangeError("money is never negative");
  return amount as MicroUsdc;
}
