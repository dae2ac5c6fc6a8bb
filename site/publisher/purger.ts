import { type BackgroundWork, inBackground } from "./in-background.ts";
import type { Manifest } from "./manifest.ts";
import { type PurgeConfig, purgeRelease } from "./purge.ts";

const purgedRelease = "purged_release";

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

async function purgeNew(manifest: Manifest, config: PurgeConfig): Promise<void> {
  const { db } = manifest;
  const { current_release } = manifest.state();
  const known = db
    .query<{ value: number }, [string]>("SELECT value FROM state WHERE name = ?")
    .get(purgedRelease);
  // Every path that a release touched has a note of what it held before.
  const changed = db
    .query<{ path: string }, [number, number]>(
      "SELECT DISTINCT path FROM history WHERE release > ? AND release <= ?",
    )
    .all(known?.value ?? 0, current_release);
  await purgeRelease({ changed }, config);
  db.query(
    "INSERT INTO state (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  ).run(purgedRelease, current_release);
}
