import { draftFeed, type FeedDraft, type FeedJob } from "./draft-feed.ts";
import { type ListsJob, makeLists, type MadeLists } from "./make-lists.ts";
import type { PublisherParts } from "./publisher-parts.ts";

/** What takes seconds and commits nothing: what it makes lies among the blobs until a lane publishes it. */
export type SlowWork = {
  makeLists(job: ListsJob): Promise<MadeLists>;
  draftFeed(job: FeedJob): Promise<FeedDraft>;
  /** Gives up what is going on, where that is another process. */
  close(): void;
};

/** Slow work where nobody waits for another thing: a command, a test, a process of its own. */
export const slowWorkHere = (
  parts: Pick<PublisherParts, "source" | "kinds" | "manifest" | "blobs">,
): SlowWork => ({
  makeLists: (job) => makeLists(parts, job),
  draftFeed: (job) => draftFeed(parts, job),
  close: () => {},
});
