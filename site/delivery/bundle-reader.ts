import { statSync } from "node:fs";
import { singleFlight } from "#content/runtime/concurrency.ts";
import { isDamaged } from "#content/runtime/files.ts";
import { msSinceMoment } from "#content/runtime/timing.ts";
import { openBlobs } from "#site/bundle/blobs.ts";
import { type ManifestFile, manifestPath, openManifest } from "#site/bundle/manifest.ts";
import { filePathsFor } from "./http-headers.ts";

export type BundleReader = ReturnType<typeof openBundleReader>;

/** How often a reader checks whether the manifest is still the file that it opened. */
const lookAtFileEveryMs = 1_000;
/** Larger than any number of commits, so that a new manifest file changes the version. */
const versionsPerFile = 2 ** 40;

/**
 * Reads the bundle that a publisher keeps in a data folder; any number of processes may do so. It looks a path up in the
 * manifest and then reads the bytes from a segment, so a reader sees one release or the next. A damaged manifest reads as
 * an empty bundle until the publisher has made another; `onDamaged` is called each time, so that the caller can have it
 * made.
 */
export function openBundleReader(bundleFolder: string, onDamaged: () => void = () => {}) {
  const file = openManifestFile(bundleFolder, onDamaged);
  return {
    /** The file that answers a URL path in the current release, or null. */
    find: (urlPath: string): ManifestFile | null =>
      file.ask(({ manifest }) => {
        for (const path of filePathsFor(urlPath)) {
          const stored = manifest.find(path);
          if (stored !== null) return stored;
        }
        return null;
      }, null),
    /** The file of large content, null for other content. It may disappear a minute after a newer release replaced it. */
    ownFile: ({ digest }: ManifestFile): string | null =>
      file.ask(({ blobs }) => blobs.ownFile(digest), null),
    /**
     * The content of a file. Null when it is gone since the look-up or does not match its digest; other disk errors throw.
     */
    read: ({ digest }: ManifestFile): Buffer<ArrayBuffer> | null =>
      file.ask(({ blobs }) => blobs.find(digest), null),
    /** The current release and its progress; release 0 for none. `held`: nothing is published until an operator resumes. */
    current: () =>
      file.ask(({ manifest }) => {
        const { current_release, fast_sequence, slow_sequence, held_at, heartbeat_at, pid } =
          manifest.state();
        return {
          release: current_release,
          held: held_at > 0,
          profilesTo: fast_sequence,
          listsTo: slow_sequence,
          seenAt: heartbeat_at,
          pid,
        };
      }, nothingPublished),
    /** Whether there is a release to read. Cheap enough to call for every request. */
    hasRelease: (): boolean =>
      file.ask((open) => (open.hasRelease ||= open.manifest.state().current_release > 0), false),
    /** A number that changes with every commit to the bundle; earlier look-ups may then be out of date. */
    version: (): number => {
      file.look();
      return file.ask(
        ({ number, versioning }) =>
          number * versionsPerFile + (versioning.get()?.data_version ?? 0),
        0,
      );
    },
    /** Keys of documents that could not be rendered. */
    failures: (): Set<string> =>
      file.ask(({ failing }) => new Set(failing.all().map(({ key }) => key)), new Set()),
    close: () => file.close(),
  };
}

const nothingPublished = {
  release: 0,
  held: false,
  profilesTo: 0,
  listsTo: 0,
  seenAt: "",
  pid: 0,
};

type OpenManifest = ReturnType<typeof openToRead>;

function openToRead(folder: string, number: number) {
  const manifest = openManifest(folder, { readonly: true });
  return {
    manifest,
    blobs: openBlobs(manifest),
    /** The number of this file, counted from 0 for the first that the reader opened. */
    number,
    hasRelease: false,
    inode: statSync(manifestPath(folder)).ino,
    versioning: manifest.db.query<{ data_version: number }, []>("PRAGMA data_version"),
    failing: manifest.db.query<{ key: string }, []>("SELECT key FROM failures"),
  };
}

/** Keeps the manifest open: closes a damaged one, and opens the file that replaces it. */
function openManifestFile(folder: string, onDamaged: () => void) {
  let openCount = 0;
  let open: OpenManifest | null = null;
  let lookAfterMs = 0;
  const close = () => {
    open?.blobs.close();
    open?.manifest.close();
    open = null;
  };
  const trouble = (error: unknown) => {
    if (!isDamaged(error)) throw error;
    close();
    onDamaged();
  };
  const look = () => {
    const nowMs = performance.now();
    if (nowMs < lookAfterMs) return;
    lookAfterMs = nowMs + lookAtFileEveryMs;
    const inode = statSync(manifestPath(folder), { throwIfNoEntry: false })?.ino;
    if (open !== null && (inode === undefined || inode === open.inode)) return;
    close();
    try {
      open = openToRead(folder, openCount++);
    } catch (error) {
      trouble(error);
    }
  };
  look();
  return {
    look,
    /** The answer of `question`; `otherwise` while the manifest is damaged. */
    ask: <Answer>(question: (manifest: OpenManifest) => Answer, otherwise: Answer): Answer => {
      if (open === null) look();
      try {
        return open === null ? otherwise : question(open);
      } catch (error) {
        trouble(error);
        return otherwise;
      }
    },
    close,
  };
}

const lookEveryMs = 2;

/** Waits until a change is published; returns the release that shows it. */
export type WaitForPublication = (sequence: number) => Promise<{ release: string } | null>;

type Place = Pick<ReturnType<BundleReader["current"]>, "release" | "profilesTo" | "held">;

/**
 * Returns a function that waits up to `waitMs` until a change is published. It returns null when time runs out, a rollback
 * holds publishing or the page failed to render. `profileOf` returns the id of the nonprofit that a change is about.
 */
export function openPublicationWait(
  reader: Pick<BundleReader, "failures"> & { current: () => Place },
  profileOf: (sequence: number) => Promise<number | null>,
  waitMs: number,
): WaitForPublication {
  // One read of the state for all who wait: hundreds of reads every 2 ms would keep the service from answering.
  const nextPlace = () =>
    singleFlight(reader, "current", () => Bun.sleep(lookEveryMs).then(() => reader.current()));
  return async (sequence) => {
    const deadlineMs = performance.now() + waitMs;
    for (let place: Place = reader.current(); ; place = await nextPlace()) {
      if (place.profilesTo >= sequence && place.release > 0) {
        const failures = reader.failures();
        const hasFailed = failures.size > 0 && failures.has(`profile ${await profileOf(sequence)}`);
        return hasFailed ? null : { release: String(place.release) };
      }
      if (place.held || performance.now() >= deadlineMs) return null;
    }
  };
}

/** The state of publishing, for monitoring. */
export function publicationState(reader: Pick<BundleReader, "current" | "failures">) {
  const { seenAt, ...current } = reader.current();
  return { ...current, silentMs: msSinceMoment(seenAt), failures: reader.failures().size };
}
