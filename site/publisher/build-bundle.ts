import { closeFeedFiles } from "#content/store/feed.ts";
import { publishLunrList } from "#site/search/publish-indexes.ts";
import type { SearchLane } from "#site/search/search-lane.ts";
import type { DocumentKind } from "./document.ts";
import type { FeedLane } from "./feed-lane.ts";
import { buildAll, type FullBuildOptions, type FullBuildOutcome } from "./full-build.ts";
import type { PublisherParts } from "./publisher-parts.ts";

export type BuildOptions = Pick<FullBuildOptions, "processes" | "onProgress"> & {
  /** Only these documents, for measuring them; the bundle is not complete then. */
  kinds?: readonly DocumentKind[];
  /** Leaves the feed and the signed list to the next run of their lane: then `differing` tells of all others. */
  feedLater?: boolean;
};

type Lanes = { parts: PublisherParts; feedLane: FeedLane; searchLane: SearchLane };

/** Renders the whole bundle anew, with the list of search indexes, the feed and the signed list. */
export async function buildBundle(
  { parts, feedLane, searchLane }: Lanes,
  settings: FullBuildOptions["settings"],
  { kinds, feedLater = false, ...options }: BuildOptions,
): Promise<FullBuildOutcome> {
  if (kinds !== undefined) return buildAll({ ...parts, kinds }, { ...options, settings });
  // What merely lags behind, search indexes and the snapshot, must not be told as a difference.
  if (parts.manifest.state().current_release > 0) {
    await searchLane.run();
    await feedLane.run({});
  }
  const outcome = await buildAll(parts, { ...options, settings, prepare: closeFeed });
  const indexes = publishLunrList(parts);
  const differing = [...outcome.differing, ...indexes.changed.map(({ path }) => path)];
  if (feedLater) {
    feedLane.renew();
    return { ...outcome, release: indexes.release, differing };
  }
  const { release, changed } = await feedLane.run({ full: true });
  return { ...outcome, release, differing: [...differing, ...changed.map(({ path }) => path)] };
}

/** A build renders the change feed as well: files that are due have to be closed before. */
async function closeFeed({ manifest, source, clock }: PublisherParts, upTo: number): Promise<void> {
  const { slow_sequence } = manifest.state();
  await closeFeedFiles(source.store, { after: slow_sequence, upTo, now: clock() });
}
