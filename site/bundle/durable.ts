import { open } from "node:fs/promises";
import { bootId } from "#content/runtime/timing.ts";
import type { BundleContext } from "./release.ts";

/** For this many new files or more, one sync of the whole file system is made instead. */
const filesPerRoundMax = 2_000;

/**
 * Syncs the blobs of newer releases to the disk after readers see them; what a power loss takes is published again. Returns
 * whether all releases are durable now.
 */
export async function makeDurable(parts: BundleContext): Promise<boolean> {
  const { manifest, blobs } = parts;
  const { durable_release, current_release, boot_id } = manifest.state();
  if (boot_id !== bootId()) manifest.setState({ boot_id: bootId() });
  if (durable_release >= current_release) return true;
  const newer = manifest.db
    .query<{ digest: string; pack: number }, [number, number]>(
      `SELECT lower(hex(digest)) AS digest, pack
       FROM (SELECT digest FROM files WHERE release > ? LIMIT ?) JOIN blobs USING (digest)`,
    )
    .all(durable_release, filesPerRoundMax);
  if (newer.length === filesPerRoundMax) return syncAll(parts);
  const paths = newer.map(({ digest, pack }) => blobs.pathOf(digest, pack));
  for (const path of new Set(paths)) {
    const file = await open(path).catch(() => null);
    await file?.datasync();
    await file?.close();
  }
  manifest.setState({ durable_release: current_release });
  return manifest.state().current_release === current_release;
}

/** Syncs the whole file system that holds the folder; returns whether that succeeded. */
export async function syncAll({ manifest, blobs }: BundleContext): Promise<boolean> {
  // Read first: a release published during the sync may not be part of it.
  const { current_release } = manifest.state();
  const { exited } = Bun.spawn(["sync", "-f", blobs.folder], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  if ((await exited) !== 0) return false;
  manifest.setState({ durable_release: current_release, boot_id: bootId() });
  return true;
}

/**
 * After the machine restarted: returns whether every blob that was not durable is whole. Removes those that are not, so
 * that rendering writes them again.
 */
export function survivedBoot({ manifest, blobs, log }: BundleContext): boolean {
  const { boot_id, durable_release } = manifest.state();
  if (boot_id === "" || boot_id === bootId()) return true;
  const newer = [...manifest.files("release > ?", [durable_release])];
  const torn = newer.filter(({ digest }) => blobs.find(digest) === null);
  for (const { digest } of torn) blobs.remove(digest);
  if (torn.length > 0)
    log("files were lost in a crash; rendering them again", { files: torn.length });
  return torn.length === 0;
}
