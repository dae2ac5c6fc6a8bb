import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "#api/config.ts";
import { openLog } from "#api/log.ts";
import { dayMs, systemClock } from "#content/contract/base/time.ts";
import { eraseRejectedContacts } from "#content/enrichment/contact-store.ts";
import { contactKeptMs } from "#content/requests/request-store.ts";
import { compactActivity } from "#content/operation/activity-store.ts";
import { everyPath } from "#content/runtime/files.ts";
import { compactStore } from "#content/store/file-work.ts";
import { filePathOf } from "#content/store/embedded-client.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import { openCompaction, prune } from "#site/bundle/garbage-collection.ts";
import { bundleExists, openManifest, publisherFolders } from "#site/bundle/manifest.ts";
import { openExport } from "#site/bundle/export-folder.ts";
import { PublisherBusy, takePublisherLock } from "#site/publisher/lock.ts";
import { siteDigest } from "#site/renderer/compile.ts";
import { flag, print, runCommand, wordedCommand } from "./support/command.ts";
import { configOrExit, openExistingStore } from "./support/config.ts";

export const command = wordedCommand("upkeep", {
  args: {
    compact: flag,
    json: flag,
    quiet: flag,
  },
  run: async ({ args }) => {
    const config = configOrExit();
    const { dataDir, databaseUrl } = config;
    const now = systemClock();
    const bytesBefore = bytesUnder(dataDir);
    const { hours_joined, contacts_erased } = await tidyStore(config, now);
    const pruned = await pruneBundle(config, openLog(config));
    const removed = await removeLeftovers(dataDir, now);
    // Last: if others hold the store, it stays uncompacted until the next time, but all else is done.
    const compacted =
      databaseUrl.startsWith("file:") &&
      (await compactStore(filePathOf(databaseUrl), { always: args.compact === true }));
    const freed_bytes = Math.max(0, bytesBefore - bytesUnder(dataDir));
    const outcome = { freed_bytes, hours_joined, contacts_erased, compacted, pruned, removed };
    if (args.quiet === true && args.json !== true) return;
    print(args, outcome, () => [
      `${freed_bytes.toLocaleString("en")} bytes freed.`,
      `${hours_joined} counts of hours became counts of days.`,
      `${contacts_erased} contacts that agents sent, rejected 90 days ago, were erased.`,
      compacted ? "The store was compacted." : "The store needed no compacting.",
      pruned
        ? "Releases and content that nothing needs are gone."
        : "The running publisher forgets old releases itself, every minute.",
      ...removed.map((path) => `Removed: ${path}`),
    ]);
  },
});

async function tidyStore(config: Config, now: Date) {
  using store = await openExistingStore(config);
  const before = now.getTime() - contactKeptMs;
  const erased = await eraseRejectedContacts(store, before);
  return { hours_joined: await compactActivity(store, now), contacts_erased: erased.length };
}

const blockBytes = 512;

/** Disk space of all files under a folder; a file with several names counts once. */
function bytesUnder(folder: string): number {
  const seen = new Set<number>();
  let bytes = 0;
  for (const path of everyPath(folder)) {
    const stats = lstatSync(join(folder, path), { throwIfNoEntry: false });
    if (stats === undefined || seen.has(stats.ino)) continue;
    seen.add(stats.ino);
    bytes += stats.blocks * blockBytes;
  }
  return bytes;
}

/**
 * Removes releases beyond those to keep, and content that nothing refers to. False when a publisher runs, because it does
 * this itself.
 */
async function pruneBundle(config: Config, log: Logger): Promise<boolean> {
  const { bundle } = publisherFolders(config.dataDir);
  if (!bundleExists(bundle)) return true;
  using lock = lockOf(bundle);
  if (lock === null) return false;
  using manifest = openManifest(bundle);
  const { publicDir } = config;
  const exported = publicDir === null ? null : openExport(publicDir, config);
  const context = {
    manifest,
    exported,
    blobs: openBlobs(manifest),
    clock: systemClock,
    log: (event: string, detail = {}) => log.info(detail, event),
  };
  // While a rollback holds, every existing release may be needed.
  if (manifest.state().held_at === 0) while (prune(context, config.releasesKept));
  const compact = openCompaction(context);
  while (compact());
  manifest.db.run("VACUUM");
  return true;
}

function lockOf(bundle: string): Disposable | null {
  try {
    return takePublisherLock(bundle);
  } catch (error) {
    if (error instanceof PublisherBusy) return null;
    throw error;
  }
}

/** A process started with an older version may run for this long. */
const siteDaysKept = 30;

/** Drafts of commands that were killed, and the logs of their stores. */
const leftover = /^backup-work|^upgrade-trial-\d+\.db|\.(?:restoring|part)-\d+(?:-\w+)?$/;

/**
 * Removes what killed commands left behind a day ago, and sites compiled from other versions of the code a month ago.
 * Returns their paths.
 */
async function removeLeftovers(dataDir: string, now: Date): Promise<string[]> {
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

if (import.meta.main) await runCommand(command);
