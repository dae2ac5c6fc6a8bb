import { Keypair } from "@solana/web3.js";
import { dayMs, hourMs } from "#content/contract/base/time.ts";

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

/** Cost of reaching one person for a year, in USD: a meal, a course, a bed. */
const costEach = [
  [25, 80],
  [80, 250],
  [250, 350],
  [800, 220],
  [3_000, 100],
] as const;
/** Volunteers and paid people can look after at most this many. */
const reachedByVolunteers = 400;
const reachedPerJob = 100;

const newestYear = 2025;
const usdPerJob = 42_000;
/** Below this budget no one is paid. */
export const paidFromUsd = 30_000;

/** The yearly spending of an organisation, public or not. */
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

/** The number of paid people for such a budget: at least one. */
export const teamSize = (random: Random, budgetUsd: number): number =>
  Math.max(1, Math.floor((budgetUsd / usdPerJob) * (random.between(60, 140) / 100)));

/** A number rounded down to its two leading digits, as people report it. */
export function rounded(value: number): number {
  let scale = 1;
  while (value / scale >= 100) scale *= 10;
  return Math.floor(value / scale) * scale;
}

/**
 * A valid Solana address for one organisation of the sample, the same in every run. Anyone who reads this line can compute
 * its secret key: it is for devnet and the local chain, never for money.
 */
export function sampleWallet(seedNumber: number, index: number): string {
  const secret = new Uint8Array(32);
  new TextEncoder().encodeInto(`almoner sample ${seedNumber} ${index}`, secret);
  return Keypair.fromSeed(secret).publicKey.toBase58();
}

/** The time at which a sample was made. Times in the sample depend on it, not on the clock. */
export type Calendar = { seedNumber: number; nowMs: number };

/** The calendar of a sample as of a day, "YYYY-MM-DD". */
export const calendarOf = (seedNumber: number, day: string): Calendar => ({
  seedNumber,
  nowMs: Date.parse(`${day}T06:00:00Z`),
});
export const defaultDay = "2026-09-01";

/** Profiles with a story of agents, gifts and corrections over all months, so they came in the first wave. */
export const storied = 400;

/** Registers are imported in waves: how many days ago, and which share of the directory came then (in percent). */
const waves = [
  [330, 24],
  [290, 3],
  [262, 5],
  [228, 14],
  [201, 3],
  [166, 5],
  [131, 12],
  [104, 5],
  [74, 9],
  [41, 12],
  [9, 8],
] as const;

/** The profiles up to this number come in all waves, so that small samples grow; later ones in batches of it. */
const inAllWaves = 2_000;
const goldenSection = 0.618_034;

/** When a profile came into the directory, in milliseconds since 1970. */
export function arrivalMs(index: number, { seedNumber, nowMs }: Calendar): number {
  const share =
    index < inAllWaves
      ? randomOf(seedNumber, -1 - index).below(100)
      : ((Math.floor(index / inAllWaves) * goldenSection) % 1) * 100;
  let left = share;
  const [daysAgo] = waves.find(([, weight]) => (left -= weight) < 0) ?? waves[0];
  return nowMs - (index < storied ? waves[0][0] : daysAgo) * dayMs;
}

const claimedWithinDays = 60;

/** When an organisation claimed its profile, for claimed ones. */
export function claimMs(index: number, calendar: Calendar): number {
  const arrived = arrivalMs(index, calendar);
  const days = Math.min(claimedWithinDays, (calendar.nowMs - arrived) / dayMs);
  const random = randomOf(calendar.seedNumber, -1_000_000_000 - index);
  return arrived + random.between(24, days * 24 - 1) * hourMs;
}

/** A stream of numbers that depends only on its seeds: the same on every machine and in every run. */
export type Random = ReturnType<typeof randomOf>;

/** Chris Doty-Humphrey's sfc32, started from two numbers: 32 bits a step, integer arithmetic only. */
export function randomOf(seed: number, index: number) {
  let a = seed | 0;
  let b = index | 0;
  let c = 0x9e3779b9 | 0;
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let warmUp = 0; warmUp < 12; warmUp += 1) next();
  const below = (bound: number): number => Math.floor((next() / 2 ** 32) * bound);
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  return {
    /** An integer from 0 to below `bound`; bound at most 2^32. */
    below,
    /** An integer from `low` to `high`, both included. */
    between: (low: number, high: number): number => low + below(high - low + 1),
    /** True in `percent` of 100 cases. */
    chance: (percent: number): boolean => below(1_000) < percent * 10,
    pick,
    /** `count` different items in random order, or fewer if there are fewer. */
    some: <Item>(items: readonly Item[], count: number): Item[] => {
      // For a few items, drawing again costs less than copying the list.
      const drawn: number[] = [];
      while (drawn.length < Math.min(count, items.length)) {
        const at = below(items.length);
        if (!drawn.includes(at)) drawn.push(at);
      }
      return drawn.map((at) => items[at] as Item);
    },
    /** An item, with a probability proportional to its weight. */
    weighted: <Item>(table: readonly (readonly [item: Item, weight: number])[]): Item => {
      let left = below(table.reduce((sum, [, weight]) => sum + weight, 0));
      const [item] = table.find(([, weight]) => (left -= weight) < 0) as (typeof table)[number];
      return item;
    },
  };
}
