import { existsSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { digestOf } from "./blobs.ts";
import type { PublisherParts } from "./publisher-parts.ts";

const blobsPerRoundMax = 2_000;
const bootIdFile = "/proc/sys/kernel/random/boot_id";

/** Tells one run of the machine from the next; "" where the system has no such thing. */
const bootId = (): string =>
  existsSync(bootIdFile) ? readFileSync(bootIdFile, "utf8").trim() : "";

/**
 * Brings the blobs of newer releases onto the disk, behind the readers' backs: a release is visible before it is
 * durable, and what a power loss takes is published again. Answers whether all is durable now.
 */
export async function makeDurable({ manifest, blobs }: PublisherParts): Promise<boolean> {
  const { durable_release, current_release, boot_id } = manifest.state();
  if (boot_id !== bootId()) manifest.setState({ boot_id: bootId() });
  if (durable_release >= current_release) return true;
  const newer = manifest.db
    .query<{ digest: string; release: number }, [number, number]>(
      "SELECT digest, release FROM files WHERE release > ? ORDER BY release LIMIT ?",
    )
    .all(durable_release, blobsPerRoundMax);
  for (const { digest } of newer) {
    const file = await open(blobs.pathOf(digest)).catch(() => null);
    await file?.datasync();
    await file?.close();
  }
  const last = newer.length < blobsPerRoundMax ? current_release : (newer.at(-1)?.release ?? 1) - 1;
  manifest.setState({ durable_release: Math.max(last, durable_release) });
  return last >= current_release;
}

/** One sync of the whole file system that holds the folder, after a full build. */
export async function syncAll({ manifest, blobs }: PublisherParts): Promise<void> {
  const { exited } = Bun.spawn(["sync", "-f", blobs.folder], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  if ((await exited) !== 0) return;
  manifest.setState({ durable_release: manifest.state().current_release, boot_id: bootId() });
}

/**
 * After the machine itself went down: whether every blob that was not durable then is whole. A blob that is not is
 * removed, so that rendering writes it again.
 */
export function survivedBoot({ manifest, blobs, log }: PublisherParts): boolean {
  const { boot_id, durable_release } = manifest.state();
  if (boot_id === "" || boot_id === bootId()) return true;
  const newer = manifest.db
    .query<{ path: string; digest: string }, [number]>(
      "SELECT path, digest FROM files WHERE release > ?",
    )
    .all(durable_release);
  const torn = newer.filter(
    ({ digest }) => !blobs.has(digest) || digestOf(blobs.read(digest)) !== digest,
  );
  for (const { digest } of torn) blobs.remove(digest);
  if (torn.length > 0)
    log("files were lost with the machine, rendering anew", { files: torn.length });
  return torn.length === 0;
}
