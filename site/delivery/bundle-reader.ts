import { join } from "node:path";
import { codeOf, digestOf, openBlobs } from "#site/bundle/blobs.ts";
import { type ManifestFile, openManifest } from "#site/bundle/manifest.ts";
import { filePathsFor } from "./http-headers.ts";

export type BundleReader = ReturnType<typeof openBundleReader>;

/**
 * Reads the bundle that a publisher keeps in a data folder, in any number of processes: a look-up in the manifest and
 * a file named by its digest, so that a reader sees one release or the next.
 */
export function openBundleReader(bundleFolder: string) {
  const manifest = openManifest(bundleFolder, { readonly: true });
  const blobs = openBlobs(join(bundleFolder, "blobs"));
  const versioning = manifest.db.query<{ data_version: number }, []>("PRAGMA data_version");
  const failing = manifest.db.query<{ key: string }, []>("SELECT key FROM failures");
  return {
    /** The file that answers a URL path in the current release, or null. */
    find: (urlPath: string): ManifestFile | null => {
      for (const path of filePathsFor(urlPath)) {
        const file = manifest.find(path);
        if (file !== null) return file;
      }
      return null;
    },
    /** Where a file's content lies; it may go a minute after a newer release replaced it. */
    blobOf: ({ digest }: ManifestFile): string => blobs.pathOf(digest),
    /**
     * Content of a file. Null when it went between the look-up and this, or is not what its digest says; any other
     * trouble with the disk is thrown.
     */
    read: ({ digest }: ManifestFile): Uint8Array<ArrayBuffer> | null => {
      try {
        const body = new Uint8Array(blobs.read(digest));
        return digestOf(body) === digest ? body : null;
      } catch (error) {
        if (codeOf(error) === "ENOENT") return null;
        throw error;
      }
    },
    /** The current release and how far it goes; release 0 for none. `held`: nothing is published until an operator says so. */
    current: () => {
      const { current_release, fast_sequence, slow_sequence, held_at } = manifest.state();
      return {
        release: current_release,
        held: held_at > 0,
        profilesTo: fast_sequence,
        listsTo: slow_sequence,
      };
    },
    /** Changes with every commit to the bundle: whatever was looked up before it may be old. */
    version: (): number => versioning.get()?.data_version ?? 0,
    /** Keys of the documents that could not be rendered. */
    failures: (): Set<string> => new Set(failing.all().map(({ key }) => key)),
    close: () => manifest.close(),
  };
}

const lookEveryMs = 2;

/** Read your writes: waits until a change is published, and tells in which release a reader finds it. */
export type WaitForPublication = (sequence: number) => Promise<{ release: string } | null>;

type Place = Pick<ReturnType<BundleReader["current"]>, "release" | "profilesTo" | "held">;

/**
 * Waits at most `waitMs` for the publisher to pass the change. Null when the wait ended first, when a rollback holds
 * publishing, or when the page that shows the change could not be rendered. `profileOf` gives the id of the nonprofit that a change is about.
 */
export function waitForPublication(
  reader: Pick<BundleReader, "current" | "failures">,
  profileOf: (sequence: number) => Promise<number | null>,
  waitMs: number,
): WaitForPublication {
  const nextPlace = sharedLooks(() => reader.current());
  return async (sequence) => {
    const deadlineMs = performance.now() + waitMs;
    for (let place: Place = reader.current(); ; place = await nextPlace()) {
      if (place.profilesTo >= sequence && place.release > 0) {
        const failures = reader.failures();
        const failed = failures.size > 0 && failures.has(`profile ${await profileOf(sequence)}`);
        return failed ? null : { release: String(place.release) };
      }
      if (place.held || performance.now() >= deadlineMs) return null;
    }
  };
}

/** How far publishing is, for anyone who watches over it. */
export const publicationOf = (reader: Pick<BundleReader, "current" | "failures">) => ({
  ...reader.current(),
  failures: reader.failures().size,
});

/** One look for all who wait: hundreds of them while nothing is published must not keep the service from answering. */
function sharedLooks(look: () => Place): () => Promise<Place> {
  let next: Promise<Place> | null = null;
  return () => {
    next ??= Bun.sleep(lookEveryMs).then(() => {
      next = null;
      return look();
    });
    return next;
  };
}
