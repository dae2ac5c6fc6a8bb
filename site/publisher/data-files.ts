import { feedPaths } from "#content/contract/feed.ts";
import { publishInSlices } from "#site/bundle/export-release.ts";
import type { NewFile } from "#site/bundle/manifest.ts";
import { noteFailures, storeFiles } from "#site/bundle/release.ts";
import { snapshotState } from "#site/bundle/snapshot.ts";
import type { DataFileSet } from "#site/data/make-data.ts";
import { renderKeys } from "#site/documents/document.ts";
import { pageKey } from "#site/documents/pages.ts";
import type { PublisherContext } from "./context.ts";

/** Those of a million profiles take minutes of a processor. */
const madeEveryMs = 3_600_000;

/** A publisher that has just started has other things to do. */
const firstAfterDefaultMs = 30_000;

/** The part of the feed job that keeps the files of /data, and the page that names them, in step with the snapshot. */
export function openDataFiles(context: PublisherContext, firstAfterMs = firstAfterDefaultMs) {
  const { manifest, background, log } = context;
  let newest: DataFileSet | null = null;
  let startAfterMs = performance.now() + firstAfterMs;
  let isBehind = false;
  const make = async (): Promise<void> => {
    startAfterMs = performance.now() + madeEveryMs;
    newest = await background.makeData();
  };
  return {
    dueAtMs: (): number => (newest === null ? (isBehind ? startAfterMs : Infinity) : 0),
    /**
     * Publishes what is made; answers which files changed. Paced, it is made once an hour at most while others go on, and a
     * later run publishes it.
     */
    run: async ({ full, paced }: { full: boolean; paced: boolean }): Promise<NewFile[]> => {
      if (full) manifest.setState({ data_parts: "" });
      const { held_at, data_parts } = manifest.state();
      // A rollback holds publishing, and nothing may be rendered.
      if (held_at > 0) return [];
      isBehind = snapshotState(manifest).mark !== data_parts;
      if (isBehind && !paced) await make();
      else if (isBehind && performance.now() >= startAfterMs) {
        make().catch((error: unknown) =>
          log("files of /data could not be made; trying again in an hour", {
            error: String(error),
          }),
        );
      }
      const ready = newest;
      newest = null;
      return ready === null ? [] : publishData(context, ready);
    },
  };
}

async function publishData(context: PublisherContext, { files, parts, dataPackage }: DataFileSet) {
  const { manifest, source, kinds } = context;
  const keys = [pageKey("data")];
  const page = await renderKeys(keys, kinds, { ...source, dataPackage: () => dataPackage });
  noteFailures(context, keys, page.failed);
  const paths = new Set(files.map(({ path }) => path));
  const { changed } = await publishInSlices(context, {
    reason: "files of /data",
    files: [...files, ...storeFiles(context, page.files).files],
    removed: manifest
      .under(feedPaths.data)
      .map(({ path }) => path)
      .filter((path) => !paths.has(path)),
    withoutHistory: "",
    asOf: manifest.state().slow_sequence,
    state: { data_parts: parts },
  });
  return changed;
}
