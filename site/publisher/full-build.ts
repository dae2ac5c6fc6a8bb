import { newestSequence } from "#content/nonprofit/changes-store.ts";
import type { BatchResult, WorkerSettings } from "./build-worker.ts";
import type { DocumentKey } from "#site/documents/document.ts";
import { commitNextFiles, type NextFiles, openNextFiles } from "./next-files.ts";
import { exportCommitted } from "#site/bundle/export-step.ts";
import { noteFailures } from "#site/bundle/publish-files.ts";
import type { PublisherParts } from "./publisher-parts.ts";
import type { Committed } from "#site/bundle/release.ts";
import { startWorkers } from "./worker-pool.ts";

export type FullBuildOptions = {
  /** Rendering processes; default 2. The bytes do not depend on it. */
  processes?: number;
  settings: Pick<WorkerSettings, "storeUrl" | "storeToken" | "compiledFolder">;
  onProgress?: (documents: number) => void;
  /** What has to happen in the store before a build reads it, for example closing files of the change feed. */
  prepare?: (parts: PublisherParts, asOf: number) => Promise<void>;
};

export type FullBuildOutcome = {
  release: number;
  files: number;
  /** Paths whose bytes differ from the bundle before, with those that are new or gone; null for a first build. */
  differing: string[] | null;
  failed: { key: DocumentKey; error: string }[];
};

/**
 * Renders everything anew in several processes, then makes it current at once. Readers go on with the release before,
 * and the fast lane may publish meanwhile: what it rendered from newer data is kept.
 */
export async function buildAll(
  parts: PublisherParts,
  options: FullBuildOptions,
): Promise<FullBuildOutcome> {
  const { manifest, source, blobs, exported, inputsDigest } = parts;
  const startedAt = parts.clock().getTime();
  const asOf = await newestSequence(source.store);
  await options.prepare?.(parts, asOf);
  const first = manifest.state().current_release === 0;
  if (first) removeLeftovers(parts);
  manifest.setState({ building: 1 });
  const next = openNextFiles(manifest);
  const failed: FullBuildOutcome["failed"] = [];
  const mended: string[] = [];
  let documents = 0;
  const pool = await startWorkers(options.processes ?? 2, {
    ...options.settings,
    baseUrl: source.baseUrl,
    network: source.network,
    blobsFolder: blobs.folder,
    // Nobody reads the folder before the first release, so the workers may fill it themselves.
    exportFolder: first ? exported.folder : null,
  });
  try {
    await pool.run(allBatches(parts), (result: BatchResult) => {
      next.add(result.files);
      failed.push(...result.failed);
      mended.push(...result.mended);
      documents += result.keys;
      options.onProgress?.(documents);
    });
  } finally {
    pool.stop();
  }
  return finish(parts, { next, failed, mended, asOf, first, inputsDigest, startedAt });
}

async function* allBatches({ kinds, source }: PublisherParts): AsyncGenerator<DocumentKey[]> {
  for (const kind of kinds) yield* kind.all(source);
}

function finish(
  parts: PublisherParts,
  build: {
    next: NextFiles;
    failed: FullBuildOutcome["failed"];
    mended: string[];
    asOf: number;
    first: boolean;
    inputsDigest: string;
    startedAt: number;
  },
): FullBuildOutcome {
  const { manifest, clock } = parts;
  const { asOf, failed, first, inputsDigest } = build;
  const files = build.next.count();
  const known = manifest.state();
  const committed = commitNextFiles(manifest, build.next, {
    reason: first ? "first build" : "full build",
    asOf,
    // A page that could not be rendered keeps its older version.
    removeOthers: failed.length === 0,
    untold: first,
    state: {
      fast_sequence: Math.max(known.fast_sequence, asOf),
      slow_sequence: Math.max(known.slow_sequence, asOf),
      inputs_digest: inputsDigest,
      building: 0,
    },
    now: clock(),
  });
  // The fast lane may have noted one meanwhile, from newer data.
  manifest.db.query("DELETE FROM failures WHERE failed_at < ?").run(build.startedAt);
  noteFailures(parts, [], failed);
  // The workers have filled the folder of a first build.
  if (first) manifest.setState({ exported_release: committed.release });
  else exportCommitted(parts, committed);
  return {
    release: committed.release,
    files,
    differing: first ? null : differingPaths(committed, build.mended),
    failed,
  };
}

const differingPaths = ({ changed, removed }: Committed, mended: readonly string[]): string[] => [
  ...new Set([...changed.map(({ path }) => path), ...mended]),
  ...removed,
];

/** A first build that was cut off may have left half-written files under their final names. */
function removeLeftovers({ manifest, blobs, exported }: PublisherParts): void {
  if (manifest.state().building === 0) return;
  blobs.clear();
  exported.clear();
}
