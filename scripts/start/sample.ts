import { nonprofits } from "#content/store/tables/nonprofits.ts";
import type { Config } from "#api/config.ts";
import type { Store } from "#content/store/open.ts";
import { profilesDefault, seedDirectory, unfinishedSample } from "#scripts/seed/seed-directory.ts";
import { stopWith } from "../support/config.ts";
import { startProgress } from "../support/progress.ts";

const noSample =
  "The data folder is empty, and a sample of invented nonprofits is nothing for ALMONER_NETWORK=solana, where money is real. Fill it first: bun run import --help";

/** The sample that everyone gets who starts with an empty folder. */
const seedNumber = 1;

/** Fills an empty store with the sample directory, and completes one whose making was cut off. */
export async function fillEmptyStore(
  store: Store,
  asked: string | undefined,
  { network }: Pick<Config, "network">,
): Promise<void> {
  const profiles = asked === undefined ? profilesDefault : Number(asked);
  if (!Number.isInteger(profiles) || profiles < 1) {
    stopWith("--profiles: give a whole number of at least 1.", 2);
  }
  const unfinished = await unfinishedSample(store);
  if (network === "solana" && (await store.db.$count(nonprofits)) === 0) stopWith(noSample, 2);
  if (unfinished === null && (await store.db.$count(nonprofits)) > 0) return;
  const sample = unfinished ?? { profiles, seed_number: seedNumber };
  console.log(`An empty data folder: making a sample directory of ${sample.profiles} nonprofits.`);
  const progress = startProgress("Sample nonprofits", sample.profiles);
  await seedDirectory(store, {
    profiles: sample.profiles,
    seedNumber: sample.seed_number,
    onProgress: progress.at,
  });
  progress.end();
  if (store.embedded) await store.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)");
}
