import { dayMs, hourMs } from "#content/contract/base/time.ts";
import { randomOf } from "./random.ts";

/** When a sample was made, and so what is past in it: stored times are part of it, and do not come from the clock. */
export type Calendar = { seedNumber: number; nowMs: number };

/** The calendar of a sample as of a day, "YYYY-MM-DD". */
export const calendarOf = (seedNumber: number, day: string): Calendar => ({
  seedNumber,
  nowMs: Date.parse(`${day}T06:00:00Z`),
});
export const defaultDay = "2026-09-01";
export const defaultCalendar = calendarOf(1, defaultDay);

/** Profiles with a story of agents, gifts and corrections, which goes over all months: they came in the first wave. */
export const storied = 400;

/** Registers are read by and by: so many days ago, and how much of the directory came then. */
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

/** The next profiles come in all waves, so that a sample of some thousands grows; later ones by so many, as files are read. */
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

/** When an organisation claimed its profile, for those that did. */
export function claimMs(index: number, calendar: Calendar): number {
  const arrived = arrivalMs(index, calendar);
  const days = Math.min(claimedWithinDays, (calendar.nowMs - arrived) / dayMs);
  const random = randomOf(calendar.seedNumber, -1_000_000_000 - index);
  return arrived + random.between(24, days * 24 - 1) * hourMs;
}
