import type { BundleFile, DocumentKey } from "#site/documents/document.ts";
import type { NewFile, PublisherState } from "./manifest.ts";
import { exportCommitted } from "./export-step.ts";
import type { PublisherParts } from "#site/publisher/publisher-parts.ts";
import { type Committed, commitRelease } from "./release.ts";

const encoder = new TextEncoder();

/** Puts rendered files into the blobs. What is left out must not exist. */
export function storeFiles(
  { blobs }: Pick<PublisherParts, "blobs">,
  files: readonly BundleFile[],
): { kept: NewFile[]; removed: string[] } {
  const kept: NewFile[] = [];
  const removed: string[] = [];
  for (const { path, body } of files) {
    if (body === null) {
      removed.push(path);
      continue;
    }
    const bytes = typeof body === "string" ? encoder.encode(body) : body;
    kept.push({ path, digest: blobs.put(bytes), size: bytes.length });
  }
  return { kept, removed };
}

/** Makes stored files the current release, then brings the folder for other web servers in step. */
export function publishFiles(
  parts: PublisherParts,
  stored: { kept: readonly NewFile[]; removed: readonly string[] },
  rest: { reason: string; asOf: number; state: Partial<PublisherState> },
): Committed {
  const committed = commitRelease(parts.manifest, {
    ...rest,
    files: stored.kept,
    removed: stored.removed,
    now: parts.clock(),
  });
  exportCommitted(parts, committed);
  return committed;
}

/** Notes which documents could not be rendered, and forgets those that could. */
export function noteFailures(
  { manifest, clock, log }: Pick<PublisherParts, "manifest" | "clock" | "log">,
  keys: Iterable<DocumentKey>,
  failed: readonly { key: DocumentKey; error: string }[],
): void {
  const { db } = manifest;
  const known = db.query<{ key: string }, []>("SELECT key FROM failures").all();
  if (known.length > 0) {
    const still = new Set(failed.map(({ key }) => key));
    const tried = new Set(keys);
    for (const { key } of known) {
      if (tried.has(key) && !still.has(key))
        db.query("DELETE FROM failures WHERE key = ?").run(key);
    }
  }
  for (const { key, error } of failed) {
    log("page failed to render, its older version stays", { key, error });
    db.query("INSERT OR REPLACE INTO failures (key, error, failed_at) VALUES (?, ?, ?)").run(
      key,
      error,
      clock().getTime(),
    );
  }
}
