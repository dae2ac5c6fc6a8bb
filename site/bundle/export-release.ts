import type { BundleContext } from "./context.ts";
import type { Manifest, NewFile, PublisherState } from "./manifest.ts";
import { type Committed, commitRelease } from "./release.ts";

/** Lets others have their turn; called between slices of a few milliseconds. */
export type GiveWay = () => Promise<void>;

type ExportContext = Pick<BundleContext, "manifest" | "exported" | "blobs">;

/** Bundles whose folder is being brought in step bit by bit; `failed` once something of it could not be shown. */
const slicing = new WeakMap<Manifest, { runs: number; failed: boolean }>();

/** Makes stored files the current release, then brings the folder for other web servers in step. */
export function publishFiles(
  context: BundleContext,
  stored: { kept: readonly NewFile[]; removed: readonly string[] },
  rest: { reason: string; asOf: number; state: Partial<PublisherState> },
): Committed {
  const committed = commitRelease(context.manifest, {
    ...rest,
    files: stored.kept,
    removed: stored.removed,
    now: context.clock(),
  });
  exportCommitted(context, committed);
  return committed;
}

/** Shows a new release in the folder for other web servers, and what did not get there before. */
export function exportCommitted(context: ExportContext, committed: Committed): void {
  const { manifest } = context;
  const { exported_release } = manifest.state();
  const going = slicing.get(manifest);
  if (going === undefined && exported_release >= committed.release) return;
  const isNext = committed.changed.length + committed.removed.length > 0;
  // An earlier release did not get there whole: the disk was full, say.
  if (going === undefined && (!isNext || exported_release < committed.release - 1)) {
    return bringExportInStep(context);
  }
  try {
    exportRelease(context, committed);
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
  context: ExportContext,
  committed: Committed,
  giveWay: GiveWay,
): Promise<void> {
  const { manifest } = context;
  const few = committed.changed.length + committed.removed.length <= pathsPerSlice;
  const going = slicing.get(manifest);
  const behind = manifest.state().exported_release < committed.release - 1;
  if (few || (behind && going === undefined)) return exportCommitted(context, committed);
  const progress = going ?? { runs: 0, failed: false };
  progress.runs++;
  slicing.set(manifest, progress);
  try {
    const paths = [...committed.changed.toSorted(byExportOrder), ...committed.removed.map(pathed)];
    for (const [at, { path }] of paths.entries()) {
      if (at > 0 && at % pathsPerSlice === 0) await giveWay();
      showPath(context, path);
    }
  } catch (error) {
    progress.failed = true;
    throw error;
  } finally {
    progress.runs--;
    if (progress.runs === 0) slicing.delete(manifest);
  }
  // What was published meanwhile is shown as well, unless it failed: then the next release repairs it.
  const { current_release } = manifest.state();
  if (progress.runs === 0 && !progress.failed) {
    manifest.setState({ exported_release: current_release });
  }
}

const pathed = (path: string) => ({ path });

function showPath({ manifest, exported, blobs }: ExportContext, path: string): void {
  const held = manifest.find(path);
  if (held === null) exported.remove(path);
  else exported.put(path, blobs.pathOf(held.digest));
}

/** Pages before the lists that name them, deletions last. */
export function exportRelease(
  { exported, blobs }: Pick<ExportContext, "exported" | "blobs">,
  { changed, removed }: Pick<Committed, "changed" | "removed">,
): void {
  for (const { path, digest } of changed.toSorted(byExportOrder)) {
    exported.put(path, blobs.pathOf(digest));
  }
  for (const path of removed) exported.remove(path);
}

/** Shows in the folder what releases changed that a publisher could not export before it ended. */
export function bringExportInStep({ manifest, exported, blobs }: ExportContext): void {
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
export function repairExport(context: ExportContext): void {
  if (!slicing.has(context.manifest)) bringExportInStep(context);
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

const filesPerSlice = 50;

/**
 * Looks at every file in the folder for other web servers, and shows again what somebody changed or removed there. What
 * is not ours stays. Lets others work in between; answers the paths that were wrong.
 */
export async function checkExport({
  manifest,
  blobs,
  exported,
}: Pick<BundleContext, "manifest" | "blobs" | "exported">): Promise<string[]> {
  const next = manifest.db.query<{ path: string; digest: string }, [string, number]>(
    "SELECT path, digest FROM files WHERE path > ? ORDER BY path LIMIT ?",
  );
  const wrong: string[] = [];
  for (let after = ""; ;) {
    const files = next.all(after, filesPerSlice);
    for (const { path, digest } of files) {
      const blob = blobs.pathOf(digest);
      if (exported.shows(path, blob)) continue;
      exported.put(path, blob);
      wrong.push(path);
    }
    after = files.at(-1)?.path ?? "";
    if (files.length < filesPerSlice) return wrong;
    await Bun.sleep(0);
  }
}
