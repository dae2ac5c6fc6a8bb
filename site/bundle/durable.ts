import { open } from "node:fs/promises";
import { bootId } from "#content/runtime/timing.ts";
import type { BundleContext } from "./release.ts";

/** More new files than these are brought onto the disk with everything else that is there, at once. */
const filesPerRoundMax = 2_000;

/**
 * Brings the blobs of newer releases onto the disk, behind the readers' backs: a release is visible before it is
 * durable, and what a power loss takes is published again. Answers whether all is durable now.
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

/** One sync of the whole file system that holds the folder; answers whether it went well. */
export async function syncAll({ manifest, blobs }: BundleContext): Promise<boolean> {
  // What is published while the disk works may not be part of it.
  const { current_release } = manifest.state();
  const { exited } = Bun.spawn(["sync", "-f", blobs.folder], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  if ((await exited) !== 0) return false;
  manifest.setState({ durable_release: current_release, boot_id: bootId() });
  return true;
}

/**
 * After the machine itself went down: whether every blob that was not durable then is whole. A blob that is not is
 * removed, so that rendering writes it again.
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
