import { sha256Of } from "#content/runtime/digest.ts";
import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  type BundleManifest,
  feedPaths,
  isManifestPath,
  type ManifestEntry,
  type ManifestShard,
  type ShardReference,
} from "#content/contract/feed.ts";
import type { BundleContext } from "./release.ts";
import type { Manifest, NewFile } from "./manifest.ts";

/** The current files at paths that may differ from the shards; null: the file is gone. */
type Overlay = Map<string, { digest: string; size: number } | null>;

/** The list of all files before it is issued and signed. */
export type UnissuedList = Omit<BundleManifest, "version" | "issue">;

type ManifestParts = Pick<BundleContext, "manifest" | "blobs">;

/** The most files per shard on average: a change of one file rewrites its whole shard. */
const filesPerShardMax = 1_000;

/** How many hex digits of a path's SHA-256 name its shard: 2 to 4, more for more files. */
const shardDigits = (files: number, perShard = filesPerShardMax): number =>
  [2, 3].find((digits) => files <= 16 ** digits * perShard) ?? 4;

/** The names of the lists below a list, in order: 256 below the root, which is named "", and 16 below each other list. */
export const namesBelow = (name: string): string[] => {
  const digits = name === "" ? 2 : 1;
  return Array.from(
    { length: 16 ** digits },
    (_, at) => name + at.toString(16).padStart(digits, "0"),
  );
};

const shardsFolder = feedPaths.shard("").slice(0, -".json".length);
const encoder = new TextEncoder();

type FileChange = { path: string; hash: string; file: { digest: string; size: number } | null };

type DraftOptions = {
  /** Whether to write every shard again. */
  full: boolean;
  /** Files that will be committed together with the list, and paths that leave with it. */
  ownFiles: readonly NewFile[];
  removedPaths?: readonly string[];
  perShard?: number;
  digits?: number;
};

/**
 * Lists every file of the bundle with its SHA-256, in shards and a root that lists these; for many files in up to four
 * levels, so that the cost of a change does not grow with the bundle. Writes only shards with changed paths, unless
 * `full` is set or the older shards cannot be used. The result depends on the files alone. Returns the shards to write,
 * those to remove, the root, and the release that it lists.
 */
export function draftManifest(
  parts: ManifestParts,
  options: DraftOptions,
): { files: NewFile[]; removed: string[]; root: UnissuedList; release: number } {
  const { manifest, blobs } = parts;
  const { full, perShard } = options;
  const current = full ? [] : knownShards(parts);
  const { current_release, listed_release } = manifest.state();
  // From scratch every file is read, which takes a while; the overlay adds what is published meanwhile.
  const spool = current.length === 0 ? spoolShards(parts) : null;
  const since = spool === null ? listed_release : current_release;
  const { current_release: release } = manifest.state();
  const overlay = [...overlaySince(manifest, since, options)];
  const changes = overlay.map(([path, file]) => ({ path, file, hash: sha256Of(path) }));
  const fileCount = spool?.count() ?? totalsOf(current).files;
  const { digits = shardDigits(fileCount, perShard) } = options;
  const writer = shardWriter(blobs, digits, spool?.read);
  const shards = writer.listsBelow("", current, changes);
  spool?.close();
  const root = { ...totalsOf(shards), shards };
  const digitsNeeded = shardDigits(root.files, perShard);
  if (writer.isLost() || digitsNeeded !== digits) {
    return draftManifest(parts, { ...options, full: true, digits: digitsNeeded });
  }
  const { files } = writer;
  const newPaths = new Set(files.map(({ path }) => path));
  const currentPaths = spool === null ? [] : manifest.under(shardsFolder).map(({ path }) => path);
  return { files, removed: currentPaths.filter((path) => !newPaths.has(path)), root, release };
}

/** Writes the shards that contain changes. `readAll` reads the entries when no older shard can be used. */
function shardWriter(
  blobs: ManifestParts["blobs"],
  digits: number,
  readAll: ((shard: string) => ManifestEntry[]) | undefined,
) {
  const files: NewFile[] = [];
  let isLost = false;
  const heldIn = (before: ShardReference | undefined, kind: "files" | "parts") => {
    if (before === undefined) return null;
    const isThere = blobs.has(before.sha256);
    const text = isThere ? blobs.read(before.sha256).toString() : "{}";
    const list: Partial<ManifestShard> = JSON.parse(text);
    // The shard is gone, or was split by another number of digits.
    if (list[kind] === undefined) isLost = true;
    return list;
  };
  const writeShard = (list: ManifestShard, totals: Pick<ShardReference, "files" | "bytes">) => {
    const body = encoder.encode(`${JSON.stringify(list)}\n`);
    const path = feedPaths.shard(list.shard);
    const file = { path, ...blobs.put(body, path) };
    files.push(file);
    return { path, sha256: file.digest, size: file.size, ...totals };
  };
  const list = (
    shard: string,
    before: ShardReference | undefined,
    changes: readonly FileChange[],
  ) => {
    if (shard.length < digits) {
      const parts = listsBelow(shard, heldIn(before, "parts")?.parts ?? [], changes);
      return writeShard({ shard, parts }, totalsOf(parts));
    }
    const oldEntries = readAll?.(shard) ?? heldIn(before, "files")?.files ?? [];
    const entries = withChanges(oldEntries, changes);
    const totals = entries.map(({ size }) => ({ files: 1, bytes: size }));
    return writeShard({ shard, files: entries }, totalsOf(totals));
  };
  /** The lists below a list; those without changes stay as they were. */
  const listsBelow = (
    name: string,
    shards: readonly ShardReference[],
    fileChanges: readonly FileChange[],
  ): ShardReference[] => {
    const names = namesBelow(name);
    const byName = Map.groupBy(fileChanges, ({ hash }) => hash.slice(0, names[0]?.length));
    return names.map((each, at) => {
      const before = shards[at];
      const changes = byName.get(each);
      return before !== undefined && changes === undefined
        ? before
        : list(each, before, changes ?? []);
    });
  };
  return { listsBelow, files, isLost: () => isLost };
}

/** The files and bytes of these lists together. */
export const totalsOf = (lists: readonly { files: number; bytes: number }[]) => ({
  files: lists.reduce((sum, { files }) => sum + files, 0),
  bytes: lists.reduce((sum, { bytes }) => sum + bytes, 0),
});

/** The published shards; empty when they cannot be built upon. */
function knownShards({ manifest, blobs }: ManifestParts): ShardReference[] {
  const { listed_release, listed_inputs, inputs_digest } = manifest.state();
  // Assets of an older site leave the list but not the bundle, and no release records that.
  if (listed_release === 0 || listed_inputs !== inputs_digest) return [];
  // Removals in a release that is no longer kept are unknown.
  if (manifest.oldestRelease() > listed_release + 1) return [];
  const root = manifest.find(feedPaths.manifest);
  if (root === null || !blobs.has(root.digest)) return [];
  const { shards } = JSON.parse(blobs.read(root.digest).toString()) as BundleManifest;
  const isWhole = shards.every(
    ({ path, sha256 }) => manifest.find(path)?.digest === sha256 && blobs.has(sha256),
  );
  return isWhole ? shards : [];
}

function overlaySince(
  { files, removedSince }: Manifest,
  release: number,
  { ownFiles, removedPaths = [] }: DraftOptions,
): Overlay {
  const overlay: Overlay = new Map();
  for (const path of removedSince(release)) overlay.set(path, null);
  for (const { path, digest, size, doomed_at } of files("release > ?", [release])) {
    overlay.set(path, doomed_at === null ? { digest, size } : null);
  }
  for (const { path, digest, size } of ownFiles) overlay.set(path, { digest, size });
  for (const path of removedPaths) overlay.set(path, null);
  for (const path of overlay.keys()) if (isManifestPath(path)) overlay.delete(path);
  return overlay;
}

function withChanges(
  entries: readonly ManifestEntry[],
  changes: readonly FileChange[],
): ManifestEntry[] {
  const files = new Map(entries.map((entry) => [entry.path, entry]));
  for (const { path, file } of changes) {
    if (file === null) files.delete(path);
    else files.set(path, { path, sha256: file.digest, size: file.size });
  }
  return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** All files of the bundle, sorted by hash in a file on disk: a million of them are too many for memory. */
function spoolShards({ manifest }: ManifestParts) {
  const path = join(manifest.folder, "manifest-spool");
  rmSync(path, { recursive: true, force: true });
  const spool = new Database(path, { create: true });
  spool.run("PRAGMA journal_mode = OFF");
  spool.run("CREATE TABLE files (hash TEXT, path TEXT, sha256 TEXT, size INTEGER)");
  const insertQuery = spool.query("INSERT INTO files VALUES (?, ?, ?, ?)");
  const addAll = spool.transaction(() => {
    for (const file of manifest.files("doomed_at IS NULL")) {
      if (isManifestPath(file.path)) continue;
      insertQuery.run(sha256Of(file.path), file.path, file.digest, file.size);
    }
  });
  addAll();
  spool.run("CREATE INDEX files_by_hash ON files (hash)");
  const reading = spool.query<ManifestEntry, [string, string]>(
    "SELECT path, sha256, size FROM files WHERE hash >= ? AND hash < ?",
  );
  const countQuery = spool.query<{ n: number }, []>("SELECT count(*) AS n FROM files");
  return {
    count: (): number => countQuery.get()?.n ?? 0,
    read: (shard: string): ManifestEntry[] => reading.all(shard, `${shard}g`),
    close: () => {
      spool.close();
      rmSync(path);
    },
  };
}
