import { closeSync, openSync, readSync } from "node:fs";
import type { Blobs } from "#site/bundle/blobs.ts";
import type { NewFile } from "#site/bundle/manifest.ts";
import { lunrHead } from "./lunr-shard.ts";

/** Path of the list of all indexes for programs, without a leading slash. */
export const lunrListPath = "search/index.json";

const headBytesMax = 200;

/**
 * The list of all lunr files: which cause and part, where, how many documents and bytes. Depends on those files alone,
 * and reads no more than the beginning of each.
 */
export function lunrList({ pathOf }: Pick<Blobs, "pathOf">, files: readonly NewFile[]): string {
  const shards = files.flatMap(({ path, digest, size }) => {
    const head = lunrHead(startOf(pathOf(digest)));
    if (head === null) return [];
    const { cause, part, parts, count } = head;
    return [
      { cause, part, parts, path: `/${path}`, documents: count, bytes: size, sha256: digest },
    ];
  });
  shards.sort((a, b) => (a.cause === b.cause ? a.part - b.part : a.cause < b.cause ? -1 : 1));
  return `${JSON.stringify({ format: "lunr 2.3", shards }, null, 1)}\n`;
}

function startOf(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    const start = Buffer.alloc(headBytesMax);
    return start.toString("utf8", 0, readSync(descriptor, start));
  } finally {
    closeSync(descriptor);
  }
}
