import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { runFastLane } from "./profile-job.ts";
import type { PublisherParts } from "./publisher-parts.ts";
import { runSecondLane } from "./list-job.ts";

/** More than these are published faster by rendering everything anew. */
const changesMax = 1_000;

/**
 * Publishes what waits before a full build, so that this tells no more than what was wrong. Answers how many changes are
 * left to it: 0, or all when they are many or the site is another one.
 */
export async function catchUp(parts: PublisherParts): Promise<number> {
  const { manifest, source, inputsDigest } = parts;
  const { current_release, slow_sequence, inputs_digest } = manifest.state();
  // The first build differs from nothing.
  if (current_release === 0) return 0;
  const waiting = (await newestSequence(source.store)) - slow_sequence;
  if (waiting > changesMax || inputs_digest !== inputsDigest) return waiting;
  while ((await runFastLane(parts)) > 0);
  while ((await runSecondLane(parts, () => Bun.sleep(0))) !== null);
  return 0;
}
