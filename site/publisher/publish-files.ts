import type { BundleFile, DocumentKey } from "./document.ts";
import type { NewFile, PublisherState } from "./manifest.ts";
import type { PublisherParts } from "./publisher-parts.ts";
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

/** Pages before the lists that name them, deletions last. */
export function exportRelease(
  { exported, blobs }: Pick<PublisherParts, "exported" | "blobs">,
  { changed, removed }: Pick<Committed, "changed" | "removed">,
): void {
  for (const { path, digest } of [...changed].sort(byExportOrder)) {
    exported.put(path, blobs.pathOf(digest));
  }
  for (const path of removed) exported.remove(path);
}

type ExportParts = Pick<PublisherParts, "manifest" | "exported" | "blobs">;

/** Shows a new release in the folder for other web servers, and what did not get there before. */
export function exportCommitted(parts: ExportParts, committed: Committed): void {
  const { exported_release } = parts.manifest.state();
  if (exported_release === committed.release) return;
  const isNext = committed.changed.length + committed.removed.length > 0;
  // An earlier release did not get there whole: the disk was full, say.
  if (!isNext || exported_release < committed.release - 1) return bringExportInStep(parts);
  exportRelease(parts, committed);
  parts.manifest.setState({ exported_release: committed.release });
}

/** Shows in the folder what releases changed that a publisher could not export before it ended. */
export function bringExportInStep({ manifest, exported, blobs }: ExportParts): void {
  const { exported_release, current_release } = manifest.state();
  if (exported_release >= current_release) return;
  const { db } = manifest;
  const changed = db.query<{ path: string; digest: string }, [number]>(
    "SELECT path, digest FROM files WHERE release > ?",
  );
  for (const rank of [0, 1, 2, 3]) {
    for (const { path, digest } of changed.iterate(exported_release)) {
      if (exportRank(path) === rank) exported.put(path, blobs.pathOf(digest));
    }
  }
  const gone = db.query<{ path: string }, [number]>(
    `SELECT DISTINCT path FROM history
     WHERE release > ? AND NOT EXISTS (SELECT 1 FROM files WHERE files.path = history.path)`,
  );
  for (const { path } of gone.iterate(exported_release)) exported.remove(path);
  manifest.setState({ exported_release: current_release });
}

/** Assets, then profiles, then all that names them, then what tells that the rest is there. */
export function exportRank(path: string): number {
  if (path.startsWith("_astro/") || /\.pf_[a-z]+$/.test(path)) return 0;
  if (path.startsWith("nonprofits/") || path.startsWith("api/nonprofits/")) return 1;
  return lastFiles.has(path) ? 3 : 2;
}

const lastFiles: ReadonlySet<string> = new Set([
  "changes/state.json",
  "pagefind/shards.json",
  "search/index.json",
]);

const byExportOrder = (a: NewFile, b: NewFile): number => exportRank(a.path) - exportRank(b.path);

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
