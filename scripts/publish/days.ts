import { isoDay, type Clock } from "#content/contract/time.ts";
import { checkpointCounters } from "#content/operation/activity-store.ts";
import { helpWantedTotals } from "#content/enrichment/needs-store.ts";
import { saveLeaderboard } from "#content/enrichment/leaderboard-store.ts";
import type { Store } from "#content/store/open.ts";
import { saveDirectoryFact } from "#content/nonprofit/save.ts";
import { directoryFact } from "#content/operation/directory-store.ts";

const lookEveryMs = 30_000;

/**
 * Writes what pages show by the day: the publication day, and the counters as of its beginning, and the
 * leaderboard as it is. Each is a row of the store, so that a bundle stays a function of the store. Looks at once, then
 * every 30 s.
 */
export async function keepDays(
  store: Store,
  clock: Clock,
  onTrouble: (error: unknown) => void,
): Promise<{ stop(): void }> {
  const look = () =>
    turnDay(store, clock())
      .then(() => saveLeaderboard(store, clock()))
      .catch(onTrouble);
  await look();
  const timer = setInterval(() => void look(), lookEveryMs);
  return { stop: () => clearInterval(timer) };
}

/** Does nothing while the stored day is today. */
export async function turnDay(store: Store, now: Date): Promise<void> {
  const day = isoDay(now.getTime());
  if ((await directoryFact(store, "publication_day")) === day) return;
  await checkpointCounters(store, now);
  const totals = JSON.stringify(await helpWantedTotals(store));
  await store.write(async (tx) => {
    await saveDirectoryFact(tx, { name: "help_wanted_totals", value: totals, now });
    await saveDirectoryFact(tx, { name: "publication_day", value: day, now });
  });
}
