import { type Clock, isoDay } from "#content/contract/time.ts";
import type { DailyNumbers } from "#content/contract/operations.ts";
import {
  type ByDay,
  countedByDay,
  donationsByDay,
  followThroughsByDay,
} from "#content/operation/daily.ts";
import type { Store } from "#content/store/open.ts";

const dayMs = 86_400_000;
export const daysMax = 365;
export const daysDefault = 30;

/** What happened on each of the last days, today so far included. Days are those of UTC. */
export async function dailyNumbers(
  { store, clock }: { store: Store; clock: Clock },
  count: number,
): Promise<DailyNumbers> {
  const today = Math.floor(clock().getTime() / dayMs);
  const days = Array.from({ length: count }, (_, at) => today - count + 1 + at);
  const since = (today - count + 1) * dayMs;
  const counted = (...kinds: Parameters<typeof countedByDay>[1]) =>
    countedByDay(store, kinds, since);
  const numbers = (found: ByDay) => days.map((day) => found.get(day) ?? 0);
  const donations = await donationsByDay(store, since);
  return {
    days: days.map((day) => isoDay(day * dayMs)),
    submissions: numbers(await counted("enrich:submitted")),
    applied: numbers(await counted("enrich:applied")),
    searches: numbers(await counted("query:search")),
    mcp_searches: numbers(await counted("query:mcp")),
    recommendations: numbers(await counted("query:recommend")),
    profiles_opened: numbers(await followThroughsByDay(store, "profile", since)),
    donate_requests: numbers(await followThroughsByDay(store, "donate", since)),
    donations: numbers(donations.number),
    donated_usdc: numbers(donations.microUsdc).map((micro) => micro / 1_000_000),
    refused: numbers(
      await counted(
        "limited:enrich",
        "limited:onboard",
        "limited:donate",
        "limited:read",
        "limited:admin",
      ),
    ),
  };
}
