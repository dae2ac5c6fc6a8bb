import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type BundleManifest,
  feedPaths,
  isManifestPath,
  type ManifestEntry,
  type ManifestShard,
  type ShardReference,
} from "#content/contract/feed.ts";
import type { BundleContext } from "./context.ts";
import { digestOf } from "./blobs.ts";
import type { Manifest, NewFile } from "./manifest.ts";

/** What paths hold now that may differ from what the shards say; null: it is gone. */
type Overlay = Map<string, { digest: string; size: number } | null>;

type ManifestParts = Pick<BundleContext, "manifest" | "blobs">;

/** The shards as they shall be, their list, and the release of whose files they tell. */
export type ManifestDraft = { files: NewFile[]; root: string; release: number };

const shardNames = Array.from({ length: 256 }, (_, at) => at.toString(16).padStart(2, "0"));

/** The shard that lists a path: the first byte of its SHA-256. */
export const shardOf = (path: string): string =>
  digestOf(new TextEncoder().encode(path)).slice(0, 2);

/**
 * Lists every file of the bundle with its SHA-256, in 256 shards and a list of these. Only shards with changed paths
 * are written, unless `full` or when the older ones are not at hand. The outcome depends on the files alone, not on
 * the way that led to them. `own` are files that will be committed together with the manifest.
 */
export function draftManifest(
  parts: ManifestParts,
  { full, own }: { full: boolean; own: readonly NewFile[] },
): ManifestDraft {
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
    const entries = spool?.read(shard) ?? entriesOf(parts, before);
    const { body, reference } = shardFile(shard, withChanges(entries, changed ?? []));
    references.push(reference);
    files.push({ path: reference.path, digest: blobs.put(body), size: body.length });
  }
  spool?.close();
  return { files, root: rootFile(references), release };
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
  const whole = shards.every(({ path, sha256 }) => {
    return manifest.find(path)?.digest === sha256 && blobs.has(sha256);
  });
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

const encoder = new TextEncoder();

function shardFile(shard: string, files: ManifestEntry[]) {
  const body = encoder.encode(`${JSON.stringify({ shard, files } satisfies ManifestShard)}\n`);
  const reference: ShardReference = {
    path: feedPaths.shard(shard),
    sha256: digestOf(body),
    size: body.length,
    files: files.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
  };
  return { body, reference };
}

function rootFile(shards: ShardReference[]): string {
  const total = (of: "files" | "bytes") => shards.reduce((sum, shard) => sum + shard[of], 0);
  const root: BundleManifest = { version: 1, files: total("files"), bytes: total("bytes"), shards };
  return `${JSON.stringify(root)}\n`;
}

/** All files of the bundle, sorted into shards on the disk: a million of them are too many for memory. */
export type ShardSpool = { read(shard: string): ManifestEntry[]; close(): void };

const filesPerSlice = 1_000;
const linesBufferedMax = 200;

/** Reads every file that is listed, some thousands at a time, into a file per shard. Close it after use. */
export function spoolShards({
  manifest,
  blobs,
}: Pick<BundleContext, "manifest" | "blobs">): ShardSpool {
  const folder = join(dirname(blobs.folder), "manifest-spool");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const waiting = new Map<string, string[]>();
  const flush = (shard: string, lines: string[]) => {
    appendFileSync(join(folder, shard), lines.join(""));
    lines.length = 0;
  };
  const next = manifest.db.query<NewFile, [string, number]>(
    "SELECT path, digest, size FROM files WHERE path > ? AND doomed_at IS NULL ORDER BY path LIMIT ?",
  );
  for (let after = ""; ;) {
    const files = next.all(after, filesPerSlice);
    for (const { path, digest, size } of files) {
      if (isManifestPath(path)) continue;
      const shard = shardOf(path);
      const lines = waiting.getOrInsertComputed(shard, () => []);
      lines.push(`${JSON.stringify({ path, sha256: digest, size } satisfies ManifestEntry)}\n`);
      if (lines.length >= linesBufferedMax) flush(shard, lines);
    }
    after = files.at(-1)?.path ?? "";
    if (files.length < filesPerSlice) break;
  }
  for (const [shard, lines] of waiting) flush(shard, lines);
  return {
    read: (shard) => {
      const path = join(folder, shard);
      if (!existsSync(path)) return [];
      return JSON.parse(`[${readFileSync(path, "utf8").trimEnd().replaceAll("\n", ",")}]`);
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
