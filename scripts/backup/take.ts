import { sha256Of, sha256Stream } from "#content/runtime/digest.ts";
import { createReadStream, mkdtempSync, rmSync } from "node:fs";
import { dayMs } from "#content/contract/base/time.ts";
import { openThrottle } from "#content/runtime/timing.ts";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { constants, createZstdCompress } from "node:zlib";
import {
  type BackupManifest,
  type BackupPart,
  type BackupPlace,
  instantOf,
  manifestOf,
  nameAt,
  writeManifest,
} from "./place.ts";
import { checkCopy, copyStore } from "#content/store/file-work.ts";
import { unpackStore } from "./bring-back.ts";
import { openKeys, sealKeys, type Keys } from "./keys.ts";

export type BackupOptions = {
  place: BackupPlace;
  /** The file of the store. */
  store: string;
  /** The folder in which the copy is made and tried; it needs as much space as the store. */
  dataDir: string;
  keys: Keys;
  /** Null when the keys are left out. */
  passphrase: string | null;
  software: string;
  /** Whether to remove older backups that need not be kept. */
  prunes: boolean;
  now: Date;
  /** Size of a compressed part, which is one request to a bucket and is held in memory. 16 MB by default. */
  partBytes?: number;
  /** Called at the start of each step. */
  onStep: (step: string) => void;
};

export type BackupOutcome = Awaited<ReturnType<typeof takeBackup>>;

/** A third of the default's time, for a tenth more bytes. */
const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const partBytesDefault = 16 * 1_024 * 1_024;
const pieceBytes = 1_024 * 1_024;

/**
 * Makes a backup; removes leftovers of killed ones and backups that need not be kept. `notRemoved` says what could not be
 * removed, which is no failure. Throws if the backup cannot be made: nothing of it remains, and older ones stay.
 */
export async function takeBackup(options: BackupOptions) {
  const { place, now, prunes } = options;
  const notRemoved: string[] = [];
  const isRemoved = (what: string, removing: Promise<void>): Promise<boolean> =>
    removing.then(
      () => true,
      (error: unknown) => {
        notRemoved.push(`${what} (${String(error)})`);
        return false;
      },
    );
  // A place that does not answer fails before the long work.
  await place.names();
  await isRemoved("what a killed backup left", place.removeUnfinished(now));
  const manifest = await makeBackup(options);
  const removed: string[] = [];
  for (const name of prunes ? outdatedBackups(await place.names()) : []) {
    if (manifest.keys === null && !(await isWithoutKeys(place, name))) continue;
    if (await isRemoved(name, place.remove(name))) removed.push(name);
  }
  const { store, keys } = manifest;
  const parts = keys === null ? store.parts : [...store.parts, keys];
  return { manifest, bytes: parts.reduce((sum, part) => sum + part.bytes, 0), removed, notRemoved };
}

/** An older backup may hold the only copy of the keys; one whose manifest cannot be read may, too. */
const isWithoutKeys = (place: BackupPlace, name: string): Promise<boolean> =>
  manifestOf(place, name).then(
    ({ keys }) => keys === null,
    () => false,
  );

/**
 * Copies a store (which may be in use) and the keys to a place, unpacks the result and reads it through, and then writes
 * the manifest. It rests longer than it works, for the sake of those who use the store.
 */
async function makeBackup(options: BackupOptions): Promise<BackupManifest> {
  const { onStep, now, place, software, partBytes = partBytesDefault } = options;
  const name = nameAt(now);
  const throttle = openThrottle();
  const workFolder = mkdtempSync(join(options.dataDir, "backup-work-"));
  try {
    onStep("Copying the store");
    const copy = join(workFolder, "store.db");
    await copyStore(options.store, copy);
    await throttle();
    onStep("Writing the backup");
    const store = await writeStore(place, name, copy, { partBytes, throttle });
    rmSync(copy);
    const keys = await writeKeys(place, name, options);
    onStep("Trying the backup");
    await unpackStore(place, { name, store }, copy, { kept: false, throttle });
    const facts = await checkCopy(copy);
    const manifest: BackupManifest = { version: 1, name, software, store, keys, facts };
    await writeManifest(place, manifest);
    return manifest;
  } catch (error) {
    await place.remove(name).catch(() => undefined);
    throw error;
  } finally {
    rmSync(workFolder, { recursive: true, force: true });
  }
}

async function writePart(
  place: BackupPlace,
  backup: string,
  name: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<BackupPart> {
  await place.write(`${backup}/${name}`, body);
  return { name, bytes: body.length, sha256: sha256Of(body) };
}

async function writeStore(
  place: BackupPlace,
  backup: string,
  file: string,
  { partBytes, throttle }: { partBytes: number; throttle: () => Promise<void> },
): Promise<BackupManifest["store"]> {
  const hasher = sha256Stream();
  const parts: BackupPart[] = [];
  let bytes = 0;
  let pending: Buffer[] = [];
  const flush = async () => {
    const body = new Uint8Array(Buffer.concat(pending));
    pending = [];
    parts.push(await writePart(place, backup, `store.db.zst.${parts.length + 1}`, body));
  };
  async function* plain() {
    for await (const piece of createReadStream(file, { highWaterMark: pieceBytes })) {
      hasher.update(piece);
      bytes += piece.length;
      yield piece;
      await throttle();
    }
  }
  let size = 0;
  for await (const piece of pipeline(
    plain(),
    createZstdCompress(fast),
    () => {},
  ) as AsyncIterable<Buffer>) {
    pending.push(piece);
    size += piece.length;
    if (size < partBytes) continue;
    size = 0;
    await flush();
  }
  await flush();
  return { sha256: hasher.digest("hex"), bytes, parts };
}

async function writeKeys(
  place: BackupPlace,
  backup: string,
  { keys, passphrase }: Pick<BackupOptions, "keys" | "passphrase">,
): Promise<BackupPart | null> {
  if (passphrase === null || Object.keys(keys).length === 0) return null;
  const part = await writePart(place, backup, "keys.sealed", sealKeys(keys, passphrase));
  openKeys(await place.read(`${backup}/${part.name}`), passphrase);
  return part;
}

const daysKept = 7;
const weeksKept = 4;

/**
 * The backups that may be removed: all but the newest of each of the last seven days, and of each of the last four weeks,
 * that have any. Other names than times stay, because they belong to someone else.
 */
export function outdatedBackups(names: readonly string[]): string[] {
  const newestFirst = names
    .filter((name) => !Number.isNaN(instantOf(name)))
    .sort()
    .toReversed();
  const keptBy = (spanMs: number, count: number): string[] => {
    // 1970 began on a Thursday; weeks are counted from Monday.
    const spanOf = (name: string) => Math.floor((instantOf(name) + 3 * dayMs) / spanMs);
    const firsts = newestFirst.filter((name, at) => {
      const before = newestFirst[at - 1];
      return before === undefined || spanOf(before) !== spanOf(name);
    });
    return firsts.slice(0, count);
  };
  const keptNames = new Set([...keptBy(dayMs, daysKept), ...keptBy(7 * dayMs, weeksKept)]);
  return newestFirst.filter((name) => !keptNames.has(name));
}
