import { sha256Of, sha256Stream } from "#content/runtime/digest.ts";
import { createWriteStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pathToFileURL } from "node:url";
import { createZstdDecompress } from "node:zlib";
import { isAlive } from "#api/operator/running-service.ts";
import { beginEpoch } from "#content/feed/store.ts";
import { filePathOf } from "#content/store/embedded-client.ts";
import { openStore } from "#content/store/open.ts";
import { folderIn, type Keys, writeKeys } from "./keys.ts";
import {
  type BackupManifest,
  type BackupPart,
  type BackupPlace,
  DamagedBackup,
  instantOf,
  unreadable,
} from "./place.ts";

export type BringBackOptions = {
  /** A folder without a store, and without keys of the same names. */
  dataDir: string;
  databaseUrl: string;
  keys: Keys;
  /** Whether nothing was published since the backup. */
  sameFeed: boolean;
  now: Date;
};

/** The publisher closes at most one file of the feed in this time. */
const feedFileEveryMs = 400;

/**
 * Restores store and keys of a backup and upgrades the tables. Unless nothing was published since, the feed begins a new
 * epoch: readers may have seen files that were closed after the backup, and new files must not repeat their numbers.
 * Returns the epoch; null if the feed continues. Throws DamagedBackup. After any failure, nothing of the restore remains.
 */
export async function bringBack(
  place: BackupPlace,
  manifest: BackupManifest,
  { dataDir, databaseUrl, keys, sameFeed, now }: BringBackOptions,
): Promise<string | null> {
  const target = filePathOf(databaseUrl);
  for (const folder of [dataDir, dirname(target)]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  const draft = `${target}.restoring-${process.pid}`;
  const secrets = folderIn(dataDir);
  const keysDraft = `${secrets}.restoring-${process.pid}`;
  const ownKeys = existsSync(secrets);
  try {
    await unpackStore(place, manifest, draft, { kept: true });
    const epoch = await prepare(pathToFileURL(draft).href, manifest, { sameFeed, now });
    if (Object.keys(keys).length > 0) {
      writeKeys(keysDraft, keys);
      renameSync(keysDraft, secrets);
    }
    for (const end of ["-wal", ""].filter((suffix) => existsSync(draft + suffix))) {
      renameSync(draft + end, target + end);
    }
    return epoch;
  } catch (error) {
    if (!ownKeys) rmSync(secrets, { recursive: true, force: true });
    throw error;
  } finally {
    removeDrafts(dataDir, databaseUrl);
  }
}

/** Removes the drafts of this restore, and those of restores that were killed. */
export function removeDrafts(dataDir: string, databaseUrl: string): void {
  for (const folder of new Set([dataDir, dirname(filePathOf(databaseUrl))])) {
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const pid = Number(/\.restoring-(\d+)(?:-\w+)?$/.exec(name)?.[1] ?? Number.NaN);
      const isLeft = pid === process.pid || (pid > 0 && !isAlive(pid));
      if (isLeft) rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
}

/** Upgrades the tables and begins the epoch before the store gets its name, so that it is never served without. */
async function prepare(
  url: string,
  manifest: BackupManifest,
  { sameFeed, now }: Pick<BringBackOptions, "sameFeed" | "now">,
): Promise<string | null> {
  using store = await openStore({ url });
  if (sameFeed) return null;
  const sinceMs = Math.max(0, now.getTime() - instantOf(manifest.name));
  const published = manifest.facts.feed_file + Math.ceil(sinceMs / feedFileEveryMs);
  return await beginEpoch(store, { published, now });
}

const pieceBytes = 256 * 1_024;

/** Reads a part. Throws DamagedBackup if it differs from what was written. */
export async function readPart(
  place: BackupPlace,
  backup: string,
  { name, sha256 }: BackupPart,
): Promise<Uint8Array<ArrayBuffer>> {
  const path = `${backup}/${name}`;
  const body = await place.read(path).catch((cause: unknown) => unreadable(place, path, cause));
  if (sha256Of(body) === sha256) return body;
  throw new DamagedBackup(`${place.name}: ${backup}/${name} is not what was written there`);
}

/**
 * Assembles the store of a backup in a new file, and compares each part and the whole with their digests. If `kept`, the
 * file is synced to the disk. `throttle` is called after each piece.
 */
export async function unpackStore(
  place: BackupPlace,
  { name, store }: Pick<BackupManifest, "name" | "store">,
  target: string,
  { kept, throttle = async () => {} }: { kept: boolean; throttle?: () => Promise<void> },
): Promise<void> {
  const hasher = sha256Stream();
  const plain = createZstdDecompress();
  plain.on("data", (piece: Buffer) => hasher.update(piece));
  async function* pieces() {
    for (const part of store.parts) {
      const body = await readPart(place, name, part);
      for (let at = 0; at < body.length; at += pieceBytes) {
        yield body.subarray(at, at + pieceBytes);
        await throttle();
      }
    }
  }
  const out = createWriteStream(target, { flags: "wx", mode: 0o600, flush: kept });
  await pipeline(Readable.from(pieces()), plain, out);
  if (hasher.digest("hex") !== store.sha256) {
    throw new DamagedBackup(`${place.name}: the store of ${name} is not what was written there`);
  }
}
