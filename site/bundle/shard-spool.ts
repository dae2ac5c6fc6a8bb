import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isManifestPath, type ManifestEntry } from "#content/contract/feed.ts";
import type { NewFile } from "./manifest.ts";
import type { PublisherParts } from "#site/publisher/publisher-parts.ts";

/** All files of the bundle, sorted into shards on the disk: a million of them are too many for memory. */
export type ShardSpool = { read(shard: string): ManifestEntry[]; close(): void };

const filesPerSlice = 1_000;
const linesBufferedMax = 200;

/** Reads every file that is listed, some thousands at a time, into a file per shard. Close it after use. */
export function spoolShards(
  { manifest, blobs }: Pick<PublisherParts, "manifest" | "blobs">,
  { shardOf }: { shardOf: (path: string) => string },
): ShardSpool {
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
