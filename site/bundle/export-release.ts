import type { ExportFolder } from "./export-folder.ts";
import type { Manifest } from "./manifest.ts";
import {
  type ReleaseOutcome,
  commitRelease,
  type ReleaseDraft,
  type BundleContext,
} from "./release.ts";

type ExportContext = Pick<BundleContext, "manifest" | "exported" | "blobs">;

/** Exports in progress: up to which release, how many run, and whether one of them failed. */
const exportProgress = new WeakMap<Manifest, { release: number; runs: number; failed: boolean }>();

/** Makes a release current, then exports it to the folder for other web servers. */
export function publishRelease(
  context: BundleContext,
  draft: Omit<ReleaseDraft, "now">,
): ReleaseOutcome {
  const outcome = commitRelease(context.manifest, { ...draft, now: context.clock() });
  exportRelease(context);
  return outcome;
}

/** As `publishRelease`, for many files: other work goes on between slices of the export. */
export async function publishInSlices(
  context: BundleContext,
  draft: Omit<ReleaseDraft, "now">,
): Promise<ReleaseOutcome> {
  const outcome = commitRelease(context.manifest, { ...draft, now: context.clock() });
  await exportInSlices(context);
  return outcome;
}

/** Exports what releases changed since the last export to the folder for other web servers. */
export function exportRelease(context: ExportContext): void {
  const { exported } = context;
  if (exported !== null) for (const _ of exportSlices({ ...context, exported }));
}

/** As `exportRelease`, for many files: calls `pause` after each slice, to let other work go on. */
export async function exportInSlices(
  context: ExportContext,
  pause: () => Promise<void> = () => Bun.sleep(0),
): Promise<void> {
  const { exported } = context;
  if (exported !== null) for (const _ of exportSlices({ ...context, exported })) await pause();
}

const pathsPerSlice = 8;

/**
 * Exports changed paths: pages before the lists that name them, deletions last; yields after every few paths. A release
 * made during a pause is exported at once, so each path gets what the bundle holds when its turn comes. What failed (the
 * disk was full, say) is exported with the next release.
 */
function* exportSlices({ manifest, exported, blobs }: ExportContext & { exported: ExportFolder }) {
  const { exported_release, current_release } = manifest.state();
  const progress = exportProgress.get(manifest) ?? {
    release: exported_release,
    runs: 0,
    failed: false,
  };
  if (progress.release >= current_release) return;
  const paths = changedPaths(manifest, progress.release);
  progress.release = current_release;
  progress.runs++;
  exportProgress.set(manifest, progress);
  let isWhole = false;
  try {
    for (const [at, path] of paths.entries()) {
      if (at > 0 && at % pathsPerSlice === 0) yield;
      const current = manifest.find(path);
      if (current === null) exported.remove(path);
      // Content that somebody removed is made again by the full build that follows; `checkExport` then exports it.
      else if (blobs.has(current.digest))
        exported.put(path, (to) => blobs.copyTo(current.digest, to));
    }
    isWhole = true;
  } finally {
    progress.failed ||= !isWhole;
    progress.runs--;
    if (progress.runs === 0) exportProgress.delete(manifest);
  }
  if (progress.runs === 0 && !progress.failed)
    manifest.setState({ exported_release: progress.release });
}

/** Paths that releases after this one changed, in the order of the export. */
function changedPaths({ selectPaths, removedSince }: Manifest, release: number): string[] {
  const newPaths = selectPaths("SELECT path FROM files WHERE release > ?", [release]);
  return [...newPaths.sort((a, b) => exportRank(a) - exportRank(b)), ...removedSince(release)];
}

/** The order of the export: assets, then profiles, then files that link to them, then indexes that say what exists. */
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

const filesPerSlice = 50;

/**
 * Checks every file in the folder for other web servers, and restores those that somebody changed or removed. Other files
 * in it stay. Lets other work go on in between; returns the paths that were wrong.
 */
export async function checkExport({ manifest, blobs, exported }: ExportContext): Promise<string[]> {
  if (exported === null) return [];
  const wrongPaths: string[] = [];
  for (let after = ""; ;) {
    const files = [...manifest.files("path > ? ORDER BY path LIMIT ?", [after, filesPerSlice])];
    for (const { path, ...file } of files) {
      if (exported.shows(path, file)) continue;
      exported.put(path, (to) => blobs.copyTo(file.digest, to));
      wrongPaths.push(path);
    }
    after = files.at(-1)?.path ?? "";
    if (files.length < filesPerSlice) return wrongPaths;
    await Bun.sleep(0);
  }
}
