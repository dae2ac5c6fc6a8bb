import { draftFeed } from "./draft-feed.ts";
import { makeLists } from "./make-lists.ts";
import type { PublisherParts } from "./publisher-parts.ts";
import type { SlowWork } from "./slow-jobs.ts";

/** Slow work where nobody waits for another thing: a command, a test, a process of its own. */
export const slowWorkHere = (
  parts: Pick<PublisherParts, "source" | "kinds" | "manifest" | "blobs">,
): SlowWork => ({
  makeLists: (job) => makeLists(parts, job),
  draftFeed: (job) => draftFeed(parts, job),
  close: () => {},
});
