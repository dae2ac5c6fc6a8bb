import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type BundleManifest,
  feedPaths,
  isManifestPath,
  type ManifestEntry,
  type ManifestShard,
  type ShardReference,
} from "#content/contract/feed.ts";
import type { BundleContext } from "./release.ts";
import { digestOf } from "./blobs.ts";
import type { Manifest, NewFile } from "./manifest.ts";

/** What paths hold now that may differ from what the shards say; null: it is gone. */
type Overlay = Map<string, { digest: string; size: number } | null>;

/** The list of all files before it is issued. */
export type UnissuedList = Omit<BundleManifest, "version" | "issue">;

type ManifestParts = Pick<BundleContext, "manifest" | "blobs">;

/** The names of the shards, in the order of the list. */
export const shardNames = Array.from({ length: 256 }, (_, at) => at.toString(16).padStart(2, "0"));

const encoder = new TextEncoder();

/** The shard that lists a path: the first byte of its SHA-256. */
export const shardOf = (path: string): string => digestOf(path).slice(0, 2);

/**
 * Lists every file of the bundle with its SHA-256, in 256 shards and a list of these. Only shards with changed paths
 * are written, unless `full` or when the older ones are not at hand. The outcome depends on the files alone, not on
 * the way that led to them. `own` are files that will be committed together with the manifest. Answers the shards to
 * write, the list, and the release of whose files it tells.
 */
export function draftManifest(
  parts: ManifestParts,
  { full, own }: { full: boolean; own: readonly NewFile[] },
) {
  const { manifest, blobs } = parts;
  const known = full ? null : knownShards(parts);
  const since = known === null ? manifest.state().current_release : manifest.state().listed_release;
  // From scratch every file is read, which takes a while; what is published meanwhile comes by the overlay.
  const spool = known === null ? spoolShards(parts) : null;
  const release = manifest.state().current_release;
  const byShard = Map.groupBy(overlaySince(manifest, since, own), ([path]) => shardOf(path));
  const references: ShardReference[] = [];
  const files: NewFile[] = [];
  for (const shard of shardNames) {
    const changed = byShard.get(shard);
    const before = known?.get(shard);
    if (before !== undefined && changed === undefined) {
      references.push(before);
      continue;
    }
    const entries = withChanges(spool?.read(shard) ?? entriesOf(parts, before), changed ?? []);
    const body = encoder.encode(
      `${JSON.stringify({ shard, files: entries } satisfies ManifestShard)}\n`,
    );
    const file = { path: feedPaths.shard(shard), digest: blobs.put(body), size: body.length };
    files.push(file);
    references.push({
      path: file.path,
      sha256: file.digest,
      size: file.size,
      files: entries.length,
      bytes: entries.reduce((sum, { size }) => sum + size, 0),
    });
  }
  spool?.close();
  return { files, root: rootOf(references), release };
}

/** What the current shards are, when they can be built upon. */
function knownShards({ manifest, blobs }: ManifestParts): Map<string, ShardReference> | null {
  const { listed_release, listed_inputs, inputs_digest } = manifest.state();
  // Assets of an older site leave the list without leaving the bundle: no release tells.
  if (listed_release === 0 || listed_inputs !== inputs_digest) return null;
  // What was removed in a release that is not kept any more is not known.
  if (manifest.oldestRelease() > listed_release + 1) return null;
  const root = manifest.find(feedPaths.manifest);
  if (root === null || !blobs.has(root.digest)) return null;
  const { shards } = JSON.parse(blobs.read(root.digest).toString()) as BundleManifest;
  const whole = shards.every(
    ({ path, sha256 }) => manifest.find(path)?.digest === sha256 && blobs.has(sha256),
  );
  return whole ? new Map(shards.map((shard, at) => [shardNames[at] ?? "", shard])) : null;
}

function overlaySince(
  { db, removedSince }: Manifest,
  release: number,
  own: readonly NewFile[],
): Overlay {
  const overlay: Overlay = new Map();
  for (const path of removedSince(release)) overlay.set(path, null);
  const changed = db.query<NewFile & { doomed_at: number | null }, [number]>(
    "SELECT path, digest, size, doomed_at FROM files WHERE release > ?",
  );
  for (const { path, digest, size, doomed_at } of changed.iterate(release)) {
    overlay.set(path, doomed_at === null ? { digest, size } : null);
  }
  for (const { path, digest, size } of own) overlay.set(path, { digest, size });
  for (const path of overlay.keys()) if (isManifestPath(path)) overlay.delete(path);
  return overlay;
}

function entriesOf({ blobs }: ManifestParts, before: ShardReference | undefined): ManifestEntry[] {
  if (before === undefined) return [];
  return (JSON.parse(blobs.read(before.sha256).toString()) as ManifestShard).files;
}

function withChanges(
  entries: readonly ManifestEntry[],
  changes: readonly (readonly [string, { digest: string; size: number } | null])[],
): ManifestEntry[] {
  const files = new Map(entries.map((entry) => [entry.path, entry]));
  for (const [path, file] of changes) {
    if (file === null) files.delete(path);
    else files.set(path, { path, sha256: file.digest, size: file.size });
  }
  return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function rootOf(shards: ShardReference[]): UnissuedList {
  const total = (of: "files" | "bytes") => shards.reduce((sum, shard) => sum + shard[of], 0);
  return { files: total("files"), bytes: total("bytes"), shards };
}

/** All files of the bundle, sorted into shards on the disk: a million of them are too many for memory. */
function spoolShards({ manifest, blobs }: ManifestParts) {
  const path = join(dirname(blobs.folder), "manifest-spool");
  rmSync(path, { recursive: true, force: true });
  const spool = new Database(path, { create: true });
  spool.run("PRAGMA journal_mode = OFF");
  spool.run("CREATE TABLE files (shard TEXT, path TEXT, sha256 TEXT, size INTEGER)");
  const adding = spool.query("INSERT INTO files VALUES (?, ?, ?, ?)");
  const listed = manifest.db.query<NewFile, []>(
    "SELECT path, digest, size FROM files WHERE doomed_at IS NULL",
  );
  const addAll = spool.transaction(() => {
    for (const file of listed.iterate()) {
      if (isManifestPath(file.path)) continue;
      adding.run(shardOf(file.path), file.path, file.digest, file.size);
    }
  });
  addAll();
  spool.run("CREATE INDEX files_by_shard ON files (shard)");
  const reading = spool.query<ManifestEntry, [string]>(
    "SELECT path, sha256, size FROM files WHERE shard = ?",
  );
  return {
    read: (shard: string): ManifestEntry[] => reading.all(shard),
    close: () => {
      spool.close();
      rmSync(path);
    },
  };
}
