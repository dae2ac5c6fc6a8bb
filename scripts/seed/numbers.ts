import { Keypair } from "@solana/web3.js";
import type { Random } from "./random.ts";

// Sizes of organisations follow heavy tails: most are small, a few are a thousand times larger. They are drawn as a
// power of ten and a factor, which needs no logarithm and so gives the same integers on every machine.

const budget = [
  [1_000, 150],
  [10_000, 350],
  [100_000, 340],
  [1_000_000, 148],
  [10_000_000, 12],
] as const;

const age = [
  [[1, 9], 240],
  [[10, 24], 380],
  [[25, 49], 240],
  [[50, 99], 110],
  [[100, 185], 30],
] as const;

/** What one person reached costs in a year, in USD: a meal, a course, a bed. */
const costEach = [
  [25, 80],
  [80, 250],
  [250, 350],
  [800, 220],
  [3_000, 100],
] as const;
/** No more people are reached than volunteers and those who are paid can look after. */
const reachedByVolunteers = 400;
const reachedPerJob = 100;

const newestYear = 2025;
const usdPerJob = 42_000;
/** With less than this no one is paid. */
export const paidFromUsd = 30_000;

/** What an organisation spends in a year, public or not. */
export const annualBudgetUsd = (random: Random): number => {
  const scale = random.weighted(budget);
  return Math.floor((scale * random.between(100, 999)) / 100) + random.below(scale / 10);
};

/** People reached in a year with such a budget: often a round figure, sometimes an exact one. */
export const beneficiariesPerYear = (random: Random, budgetUsd: number): number => {
  const centsEach = random.weighted(costEach) * random.between(60, 180);
  const most = reachedByVolunteers + Math.floor(budgetUsd / usdPerJob) * reachedPerJob;
  const paidFor = Math.min(most, Math.floor((budgetUsd * 100) / centsEach));
  const exact = Math.max(random.between(8, 60), paidFor);
  return random.chance(60) ? rounded(exact) : exact;
};

/** A year from `oldest` to 2025, more often a late one. */
export const foundedYear = (random: Random, oldest: number): number => {
  const [low, high] = random.weighted<readonly [number, number]>(age);
  const year = newestYear - random.between(low, high);
  return year >= oldest ? year : newestYear - 5 - random.below(newestYear - 5 - oldest);
};

/** How many are paid from such a budget: at least one. */
export const teamSize = (random: Random, budgetUsd: number): number =>
  Math.max(1, Math.floor((budgetUsd / usdPerJob) * (random.between(60, 140) / 100)));

/** The two leading digits of a number, as people report it. */
export function rounded(value: number): number {
  let scale = 1;
  while (value / scale >= 100) scale *= 10;
  return Math.floor(value / scale) * scale;
}

/**
 * A valid Solana address for one organisation of the sample, the same in every run. Its secret key can be computed by
 * anyone who reads this line: it is for devnet and the local chain, never for money.
 */
export function sampleWallet(seedNumber: number, index: number): string {
  const secret = new Uint8Array(32);
  new TextEncoder().encodeInto(`almoner sample ${seedNumber} ${index}`, secret);
  return Keypair.fromSeed(secret).publicKey.toBase58();
}
