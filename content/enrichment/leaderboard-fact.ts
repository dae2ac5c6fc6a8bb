import { Leaderboard } from "#content/contract/enrichment-answers.ts";
import { leaderboard } from "./stats.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import { directoryFact, saveDirectoryFact } from "#content/operation/stats.ts";

const name = "leaderboard";

/**
 * Keeps the leaderboard as a fact of the directory: submissions come without a change of public data, and published
 * pages depend on such facts alone. Does nothing when it is as before; call it every few minutes.
 */
export async function saveLeaderboard(store: Store, now: Date): Promise<void> {
  const value = JSON.stringify(await leaderboard(store));
  await store.write((tx) => saveDirectoryFact(tx, { name, value, now }));
}

/** The leaderboard as it was last kept, null before the first time. */
export async function storedLeaderboard(store: Queryable): Promise<Leaderboard | null> {
  const value = await directoryFact(store, name);
  return value === null ? null : (Leaderboard.safeParse(JSON.parse(value)).data ?? null);
}
