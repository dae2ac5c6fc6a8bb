import { newestSequenceWithin } from "#content/nonprofit/changes-store.ts";
import { closeFeedFiles } from "#content/feed/feed.ts";
import { exportInSlices, type GiveWay } from "#site/bundle/export-step.ts";
import { listChangesMax } from "./make-lists.ts";
import { commitNextFiles, openNextFiles } from "./next-files.ts";
import { noteFailures } from "#site/bundle/publish-files.ts";
import type { PublisherParts } from "./publisher-parts.ts";

/**
 * Brings up to date all that shifts many pages: list pages, counts, sitemaps, the change feed and the snapshot. They
 * are rendered by `parts.slowWork`, in the resident publisher a process of its own; the outcome is one release. Answers
 * how far in the changes it has come, null when there was nothing to do.
 */
export async function runSecondLane(
  parts: PublisherParts,
  giveWay: GiveWay,
): Promise<number | null> {
  const { manifest, source, clock, slowWork } = parts;
  const { slow_sequence: after, fast_sequence } = manifest.state();
  const within = { after, upTo: fast_sequence, limit: listChangesMax };
  const upTo = await newestSequenceWithin(source.store, within);
  if (upTo === null) return null;
  const feedFiles = await closeFeedFiles(source.store, { after, upTo, now: clock() });
  const made = await slowWork.makeLists({ after, upTo, feedFiles });
  noteFailures(parts, made.keys, made.failed);
  const next = openNextFiles(manifest);
  next.add(made.kept);
  const committed = commitNextFiles(manifest, next, {
    reason: `lists to ${upTo}`,
    asOf: upTo,
    removed: made.removed,
    removeOthers: false,
    state: { slow_sequence: upTo },
    now: clock(),
  });
  await exportInSlices(parts, committed, giveWay);
  return upTo;
}
