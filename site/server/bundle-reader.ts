import { join } from "node:path";
import { openBlobs } from "#site/publisher/blobs.ts";
import { type Manifest, openManifest } from "#site/publisher/manifest.ts";
import { filePathsFor } from "#site/publisher/http-headers.ts";

/** A file of the current release. */
export type BundleEntry = { path: string; digest: string; body: Uint8Array<ArrayBuffer> };

export type BundleReader = {
  /** The file that answers a URL path in the current release, or null. */
  find(urlPath: string): BundleEntry | null;
  /** The current release and how far it goes; release 0 for none. */
  current(): { release: number; fastSequence: number; slowSequence: number };
  /** The number of the bundle's latest commit: whatever was read before it may be old. */
  version(): number;
  /** Keys of the documents that could not be rendered. */
  failures(): Set<string>;
  close(): void;
};

const cachedBytesMax = 64 * 1024 * 1024;
const cachedBodyMax = 512 * 1024;

/**
 * Reads the bundle that a publisher keeps in a data folder, in any number of processes: a look-up in the manifest and
 * a file named by its digest, so that a reader sees one release or the next.
 */
export function openBundleReader(bundleFolder: string): BundleReader {
  const manifest = openManifest(bundleFolder, { readonly: true });
  const blobs = openBlobs(join(bundleFolder, "blobs"));
  const bodies = new Map<string, Uint8Array<ArrayBuffer>>();
  let cachedBytes = 0;
  const bodyOf = (digest: string): Uint8Array<ArrayBuffer> => {
    const known = bodies.get(digest);
    if (known !== undefined) return known;
    const body = new Uint8Array(blobs.read(digest));
    if (body.length > cachedBodyMax) return body;
    // The oldest go first: a page that is asked for often comes back at the cost of one read.
    for (const [oldest, { length }] of bodies) {
      if (cachedBytes + body.length <= cachedBytesMax) break;
      bodies.delete(oldest);
      cachedBytes -= length;
    }
    bodies.set(digest, body);
    cachedBytes += body.length;
    return body;
  };
  const versioning = manifest.db.query<{ data_version: number }, []>("PRAGMA data_version");
  const failing = manifest.db.query<{ key: string }, []>("SELECT key FROM failures");
  return {
    find: (urlPath) => findEntry(manifest, urlPath, bodyOf),
    current: () => {
      const { current_release, fast_sequence, slow_sequence } = manifest.state();
      return {
        release: current_release,
        fastSequence: fast_sequence,
        slowSequence: slow_sequence,
      };
    },
    version: () => versioning.get()?.data_version ?? 0,
    failures: () => new Set(failing.all().map(({ key }) => key)),
    close: () => manifest.close(),
  };
}

function findEntry(
  manifest: Manifest,
  urlPath: string,
  bodyOf: (digest: string) => Uint8Array<ArrayBuffer>,
): BundleEntry | null {
  for (const path of filePathsFor(urlPath)) {
    const file = manifest.find(path);
    if (file === null) continue;
    try {
      return { path, digest: file.digest, body: bodyOf(file.digest) };
    } catch {
      // The blob went between the two looks: a newer release replaced it.
      const again = manifest.find(path);
      if (again === null || again.digest === file.digest) return null;
      return { path, digest: again.digest, body: bodyOf(again.digest) };
    }
  }
  return null;
}
