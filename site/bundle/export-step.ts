import type { Manifest, NewFile } from "./manifest.ts";
import type { PublisherParts } from "#site/publisher/publisher-parts.ts";
import type { Committed } from "./release.ts";

/** Lets others have their turn; called between slices of a few milliseconds. */
export type GiveWay = () => Promise<void>;

type ExportParts = Pick<PublisherParts, "manifest" | "exported" | "blobs">;

/** Bundles whose folder is being brought in step bit by bit; `failed` once something of it could not be shown. */
const slicing = new WeakMap<Manifest, { runs: number; failed: boolean }>();

/** Shows a new release in the folder for other web servers, and what did not get there before. */
export function exportCommitted(parts: ExportParts, committed: Committed): void {
  const { manifest } = parts;
  const { exported_release } = manifest.state();
  const going = slicing.get(manifest);
  if (going === undefined && exported_release >= committed.release) return;
  const isNext = committed.changed.length + committed.removed.length > 0;
  // An earlier release did not get there whole: the disk was full, say.
  if (going === undefined && (!isNext || exported_release < committed.release - 1)) {
    return bringExportInStep(parts);
  }
  try {
    exportRelease(parts, committed);
  } catch (error) {
    if (going !== undefined) going.failed = true;
    throw error;
  }
  if (going === undefined) manifest.setState({ exported_release: committed.release });
}

const pathsPerSlice = 8;

/**
 * Shows a release of many files in the folder bit by bit, with `giveWay` between. Releases that are made meanwhile show
 * theirs at once: so a path is brought to what it holds when its turn comes.
 */
export async function exportInSlices(
  parts: ExportParts,
  committed: Committed,
  giveWay: GiveWay,
): Promise<void> {
  const { manifest } = parts;
  const few = committed.changed.length + committed.removed.length <= pathsPerSlice;
  const going = slicing.get(manifest);
  const behind = manifest.state().exported_release < committed.release - 1;
  if (few || (behind && going === undefined)) return exportCommitted(parts, committed);
  const progress = going ?? { runs: 0, failed: false };
  progress.runs++;
  slicing.set(manifest, progress);
  try {
    const paths = [...committed.changed.toSorted(byExportOrder), ...committed.removed.map(pathed)];
    for (const [at, { path }] of paths.entries()) {
      if (at > 0 && at % pathsPerSlice === 0) await giveWay();
      showPath(parts, path);
    }
  } catch (error) {
    progress.failed = true;
    throw error;
  } finally {
    progress.runs--;
    if (progress.runs === 0) slicing.delete(manifest);
  }
  // What was published meanwhile is shown as well, unless it failed: then the next release mends it.
  const { current_release } = manifest.state();
  if (progress.runs === 0 && !progress.failed) {
    manifest.setState({ exported_release: current_release });
  }
}

const pathed = (path: string) => ({ path });

function showPath({ manifest, exported, blobs }: ExportParts, path: string): void {
  const held = manifest.find(path);
  if (held === null) exported.remove(path);
  else exported.put(path, blobs.pathOf(held.digest));
}

/** Pages before the lists that name them, deletions last. */
export function exportRelease(
  { exported, blobs }: Pick<ExportParts, "exported" | "blobs">,
  { changed, removed }: Pick<Committed, "changed" | "removed">,
): void {
  for (const { path, digest } of changed.toSorted(byExportOrder)) {
    exported.put(path, blobs.pathOf(digest));
  }
  for (const path of removed) exported.remove(path);
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

/** Shows what could not be shown when its release was made, and that no newer release will bring. */
export function mendExport(parts: ExportParts): void {
  if (!slicing.has(parts.manifest)) bringExportInStep(parts);
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
