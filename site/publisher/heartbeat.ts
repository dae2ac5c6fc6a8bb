import type { Manifest, PublisherState } from "#site/bundle/manifest.ts";
import type { PublisherParts } from "./publisher-parts.ts";

const everyMs = 2_000;
/** A publisher that was not heard of for so long does not live, or the machine has no time for it. */
const silentMs = 15_000;

/**
 * Notes in the manifest, whatever else the process is busy with, that a resident publisher lives. Stopping it says that
 * it does not.
 */
export function startSignsOfLife({ manifest, clock }: Pick<PublisherParts, "manifest" | "clock">): {
  stop(): void;
} {
  const note = (seen_at: number) => noteQuietly(manifest, seen_at);
  note(clock().getTime());
  const timer = setInterval(() => note(clock().getTime()), everyMs);
  return {
    stop: () => {
      clearInterval(timer);
      note(0);
    },
  };
}

function noteQuietly(manifest: Manifest, seen_at: number): void {
  try {
    manifest.setState({ seen_at });
  } catch {
    // The disk is full, say. Whoever publishes tells of it, and the next sign may be noted.
  }
}

/** Whether a resident publisher works on the bundle. */
export const isResident = ({ seen_at }: Pick<PublisherState, "seen_at">, now: Date): boolean =>
  now.getTime() - seen_at < silentMs;
