import { join } from "node:path";
import { openBlobs } from "./blobs.ts";
import { filePathsFor } from "#site/delivery/http-headers.ts";
import { type ManifestFile, openManifest } from "./manifest.ts";

export type BundleReader = {
  /** The file that answers a URL path in the current release, or null. */
  find(urlPath: string): ManifestFile | null;
  /** Where a file's content lies; it may go a minute after a newer release replaced it. */
  blobOf(file: ManifestFile): string;
  /** Content of a file. Null when it went between the look-up and this. */
  read(file: ManifestFile): Uint8Array<ArrayBuffer> | null;
  /** The current release and how far it goes; release 0 for none. `held`: nothing is published until an operator says so. */
  current(): { release: number; fastSequence: number; slowSequence: number; held: boolean };
  /** Changes with every commit to the bundle: whatever was looked up before it may be old. */
  version(): number;
  /** Keys of the documents that could not be rendered. */
  failures(): Set<string>;
  close(): void;
};

/**
 * Reads the bundle that a publisher keeps in a data folder, in any number of processes: a look-up in the manifest and
 * a file named by its digest, so that a reader sees one release or the next.
 */
export function openBundleReader(bundleFolder: string): BundleReader {
  const manifest = openManifest(bundleFolder, { readonly: true });
  const blobs = openBlobs(join(bundleFolder, "blobs"));
  const versioning = manifest.db.query<{ data_version: number }, []>("PRAGMA data_version");
  const failing = manifest.db.query<{ key: string }, []>("SELECT key FROM failures");
  return {
    find: (urlPath) => {
      for (const path of filePathsFor(urlPath)) {
        const file = manifest.find(path);
        if (file !== null) return file;
      }
      return null;
    },
    blobOf: ({ digest }) => blobs.pathOf(digest),
    read: ({ digest }) => {
      try {
        return new Uint8Array(blobs.read(digest));
      } catch {
        return null;
      }
    },
    current: () => {
      const { current_release, fast_sequence, slow_sequence, held_at } = manifest.state();
      return {
        release: current_release,
        fastSequence: fast_sequence,
        slowSequence: slow_sequence,
        held: held_at > 0,
      };
    },
    version: () => versioning.get()?.data_version ?? 0,
    failures: () => new Set(failing.all().map(({ key }) => key)),
    close: () => manifest.close(),
  };
}
