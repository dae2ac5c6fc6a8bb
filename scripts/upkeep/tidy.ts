import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "#api/config.ts";
import { systemClock } from "#content/contract/base/time.ts";
import { everyPath } from "#content/runtime/files.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import { prune, sweepBlobs } from "#site/bundle/garbage-collection.ts";
import { bundleExists, openManifest } from "#site/bundle/manifest.ts";
import { openWebExport } from "#site/bundle/precompress.ts";
import { PublisherBusy, takePublisherLock } from "#site/publisher/lock.ts";
import { publisherFolders } from "#site/publisher/open-publisher.ts";
import { siteDigest } from "#site/renderer/compile.ts";

const blockBytes = 512;

/** Room on the disk of all files under a folder: one that has several names counts once. */
export function bytesUnder(folder: string): number {
  const seen = new Set<number>();
  let bytes = 0;
  for (const path of everyPath(folder)) {
    const found = lstatSync(join(folder, path), { throwIfNoEntry: false });
    if (found === undefined || seen.has(found.ino)) continue;
    seen.add(found.ino);
    bytes += found.blocks * blockBytes;
  }
  return bytes;
}

/**
 * Forgets releases beyond those that are kept, and removes blobs that nothing names. False where a publisher runs, which
 * does so itself.
 */
export async function pruneBundle(config: Config, log: Logger): Promise<boolean> {
  const { bundle, blobs } = publisherFolders(config.dataDir);
  if (!bundleExists(bundle)) return true;
  const lock = lockOf(bundle);
  if (lock === null) return false;
  const manifest = openManifest(bundle);
  try {
    const exported = await openWebExport(config.publicDir, config);
    const context = {
      manifest,
      exported,
      blobs: openBlobs(blobs),
      clock: systemClock,
      log: (event: string, detail = {}) => log.info(detail, event),
    };
    // A rollback may go back to any release that is there.
    if (manifest.state().held_at === 0) while (prune(context, config.releasesKept));
    await sweepBlobs(context);
    manifest.db.run("VACUUM");
    return true;
  } finally {
    manifest.close();
    lock.release();
  }
}

function lockOf(bundle: string): { release(): void } | null {
  try {
    return takePublisherLock(bundle);
  } catch (error) {
    if (error instanceof PublisherBusy) return null;
    throw error;
  }
}

const dayMs = 86_400_000;
/** A process that was started with an older version may run for this long. */
const siteDaysKept = 30;

/** Drafts of commands that were killed, with the logs of their stores. */
const leftover = /^backup-work|^upgrade-trial-\d+\.db|\.(?:restoring|part)-\d+(?:-\w+)?$/;

/**
 * Removes what killed commands left behind for a day, and sites that were compiled from another version of the code a
 * month ago. Answers their paths.
 */
export async function removeLeftovers(dataDir: string, now: Date): Promise<string[]> {
  const { compiled } = publisherFolders(dataDir);
  const current = siteDigest().slice(0, 16);
  const rules: [folder: string, isLeft: (name: string) => boolean, days: number][] = [
    [dataDir, (name) => leftover.test(name), 1],
    [compiled, (name) => name.startsWith("compiling-"), 1],
    [compiled, (name) => /^[0-9a-f]{16}$/.test(name) && name !== current, siteDaysKept],
  ];
  const removed = rules.flatMap(([folder, isLeft, days]) =>
    (existsSync(folder) ? readdirSync(folder) : [])
      .filter(isLeft)
      .map((name) => join(folder, name))
      .filter((path) => now.getTime() - lstatSync(path).mtimeMs > days * dayMs),
  );
  for (const path of removed) rmSync(path, { recursive: true, force: true });
  return removed;
}
