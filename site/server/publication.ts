import type { BundleReader } from "./bundle-reader.ts";

const lookEveryMs = 2;

/** Read your writes: waits until a change is published, and tells in which release a reader finds it. */
export type WaitForPublication = (sequence: number) => Promise<{ release: string } | null>;

/**
 * Waits at most `waitMs` for the publisher to pass the change. Null when the wait ended first, or when the page that
 * shows the change could not be rendered. `profileOf` gives the id of the nonprofit that a change is about.
 */
export const waitForPublication =
  (
    reader: Pick<BundleReader, "current" | "failures">,
    profileOf: (sequence: number) => Promise<number | null>,
    waitMs: number,
  ): WaitForPublication =>
  async (sequence) => {
    const deadlineMs = performance.now() + waitMs;
    for (;;) {
      const { fastSequence, release } = reader.current();
      if (fastSequence >= sequence && release > 0) {
        const failures = reader.failures();
        const failed = failures.size > 0 && failures.has(`profile ${await profileOf(sequence)}`);
        return failed ? null : { release: String(release) };
      }
      if (performance.now() >= deadlineMs) return null;
      await Bun.sleep(lookEveryMs);
    }
  };
