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
  for (const _ of showing(context, committed));
}

/** The same bit by bit, with `giveWay` between: for a release of many files. */
export async function exportInSlices(
  context: ExportContext,
  committed: Committed,
  giveWay: GiveWay,
): Promise<void> {
  for (const _ of showing(context, committed)) await giveWay();
}

const pathsPerSlice = 8;

/**
 * Shows a release, pages before the lists that name them, deletions last, with a pause after some paths. Releases that
 * are made in a pause show theirs at once: so a path is brought to what it holds when its turn comes.
 */
function* showing(context: ExportContext, committed: Committed) {
  const { manifest } = context;
  const going = slicing.get(manifest);
  // An earlier release did not get there whole: the disk was full, say.
  if (going === undefined && !isNext(context, committed)) {
    bringExportInStep(context);
    return;
  }
  const progress = going ?? { runs: 0, failed: false };
  progress.runs++;
  slicing.set(manifest, progress);
  let isWhole = false;
  try {
    for (const [at, path] of inExportOrder(committed).entries()) {
      if (at > 0 && at % pathsPerSlice === 0) yield;
      showPath(context, path);
    }
    isWhole = true;
  } finally {
    progress.failed ||= !isWhole;
    progress.runs--;
    if (progress.runs === 0) slicing.delete(manifest);
  }
  // What was published meanwhile is shown as well, unless it failed: then the next release repairs it.
  if (progress.runs === 0 && !progress.failed) {
    manifest.setState({ exported_release: manifest.state().current_release });
  }
}

const isNext = ({ manifest }: ExportContext, { release, changed, removed }: Committed): boolean =>
  manifest.state().exported_release === release - 1 && changed.length + removed.length > 0;

const inExportOrder = ({ changed, removed }: Committed): string[] => [
  ...changed.map(({ path }) => path).sort((a, b) => exportRank(a) - exportRank(b)),
  ...removed,
];

function showPath({ manifest, exported, blobs }: ExportContext, path: string): void {
  const held = manifest.find(path);
  if (held === null) exported.remove(path);
  else exported.put(path, blobs.pathOf(held.digest));
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

const filesPerSlice = 50;

/**
 * Looks at every file in the folder for other web servers, and shows again what somebody changed or removed there. What
 * is not ours stays. Lets others work in between; answers the paths that were wrong.
 */
export async function checkExport({ manifest, blobs, exported }: ExportContext): Promise<string[]> {
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
