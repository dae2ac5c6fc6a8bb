import type { BundleReader } from "#site/bundle/bundle-reader.ts";

const lookEveryMs = 2;

/** Read your writes: waits until a change is published, and tells in which release a reader finds it. */
export type WaitForPublication = (sequence: number) => Promise<{ release: string } | null>;

type Place = Pick<ReturnType<BundleReader["current"]>, "release" | "fastSequence" | "held">;

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
      if (place.fastSequence >= sequence && place.release > 0) {
        const failures = reader.failures();
        const failed = failures.size > 0 && failures.has(`profile ${await profileOf(sequence)}`);
        return failed ? null : { release: String(place.release) };
      }
      if (place.held || performance.now() >= deadlineMs) return null;
    }
  };
}

/** How far publishing is, for whoever watches over it. */
export function publicationOf(reader: Pick<BundleReader, "current" | "failures">): {
  release: number;
  held: boolean;
  profilesTo: number;
  listsTo: number;
  failures: number;
} {
  const { release, fastSequence, slowSequence, held } = reader.current();
  const failures = reader.failures().size;
  return { release, held, profilesTo: fastSequence, listsTo: slowSequence, failures };
}

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
