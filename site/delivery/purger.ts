import { type BackgroundWork, inBackground } from "#site/publisher/in-background.ts";
import type { Manifest } from "#site/bundle/manifest.ts";
import { type PurgeConfig, purgeRelease } from "./purge.ts";

const purgedRelease = "purged_release";
const settledRelease = "purged_in_folder";

/**
 * Keeps caches in step with the releases, one after the other in the background. How far it came is remembered in the
 * manifest, so that releases made just before a crash are purged on the next start.
 */
export function startPurger(manifest: Manifest, config: PurgeConfig): BackgroundWork {
  const work = inBackground(
    () => purgeNew(manifest, config),
    (error) => config.log("purging failed", { error: String(error) }),
  );
  return { ...work, notice: () => config.urls.length > 0 && work.notice() };
}

/**
 * A release of many files comes into the folder for other web servers bit by bit, after it is current. A cache before
 * such a server may fetch an old file anew meanwhile: so what was purged too early is purged once more.
 */
async function purgeNew(manifest: Manifest, config: PurgeConfig): Promise<void> {
  const { db } = manifest;
  const { current_release, exported_release } = manifest.state();
  const noted = (name: string) =>
    db.query<{ value: number }, [string]>("SELECT value FROM state WHERE name = ?").get(name)
      ?.value ?? 0;
  const note = db.query<null, [string, number]>(
    "INSERT INTO state (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  const [purged, settled] = [noted(purgedRelease), noted(settledRelease)];
  // Every path that a release touched has a note of what it held before.
  const changed = db
    .query<{ path: string }, [number, number, number, number]>(
      `SELECT DISTINCT path FROM history
       WHERE (release > ?1 AND release <= ?2) OR (release > ?3 AND release <= ?4)`,
    )
    .all(purged, current_release, settled, Math.min(exported_release, purged));
  await purgeRelease({ changed }, config);
  note.run(purgedRelease, current_release);
  note.run(settledRelease, Math.max(settled, Math.min(exported_release, current_release)));
}
