import { closeFeedFiles } from "#content/feed/feed.ts";
import { publishLunrList } from "#site/search/publish-indexes.ts";
import type { SearchLane } from "#site/search/search-job.ts";
import type { DocumentKind } from "#site/documents/document.ts";
import type { FeedLane } from "./feed-job.ts";
import { buildAll, type FullBuildOptions, type FullBuildOutcome } from "./full-build.ts";
import type { PublisherParts } from "./publisher-parts.ts";
import type { Committed } from "#site/bundle/release.ts";

export type BuildOptions = Pick<FullBuildOptions, "processes" | "onProgress"> & {
  /** Only these documents, for measuring them; the bundle is not complete then. */
  kinds?: readonly DocumentKind[];
  /** Leaves the feed and the signed list to the next run of their lane: then `differing` tells of all others. */
  feedLater?: boolean;
};

type Lanes = { parts: PublisherParts; feedLane: FeedLane; searchLane: SearchLane };

/**
 * Renders the whole bundle anew, with the list of search indexes, the feed and the signed list. What differed is noted
 * in the manifest, for who asks later.
 */
export async function buildBundle(
  lanes: Lanes,
  settings: FullBuildOptions["settings"],
  { kinds, ...options }: BuildOptions,
): Promise<FullBuildOutcome> {
  const { parts } = lanes;
  if (kinds !== undefined) return buildAll({ ...parts, kinds }, { ...options, settings });
  const outcome = await buildWhole(lanes, settings, options);
  noteDiffering(parts, outcome.differing ?? []);
  return outcome;
}

async function buildWhole(
  { parts, feedLane, searchLane }: Lanes,
  settings: FullBuildOptions["settings"],
  { feedLater = false, ...options }: Omit<BuildOptions, "kinds">,
): Promise<FullBuildOutcome> {
  // What merely lags behind, search indexes and the snapshot, must not be told as a difference.
  if (parts.manifest.state().current_release > 0) {
    await searchLane.run();
    await feedLane.run({});
  }
  const outcome = await buildAll(parts, { ...options, settings, prepare: closeFeed });
  const indexes = publishLunrList(parts);
  const also = (differing: string[] | null, { changed }: Committed) =>
    differing && [...differing, ...changed.map(({ path }) => path)];
  const differing = also(outcome.differing, indexes);
  if (feedLater) {
    feedLane.renew();
    return { ...outcome, release: indexes.release, differing };
  }
  const feed = await feedLane.run({ full: true });
  return { ...outcome, release: feed.release, differing: also(differing, feed) };
}

function noteDiffering({ manifest, clock }: PublisherParts, differing: readonly string[]): void {
  const { db } = manifest;
  const noting = db.transaction(() => {
    db.run("DELETE FROM differing");
    db.query("INSERT OR IGNORE INTO differing (path) SELECT value FROM json_each(?)").run(
      JSON.stringify(differing),
    );
    manifest.setState({ built_at: clock().getTime() });
  });
  noting.immediate();
}

/** What the newest full build found to differ from the bundle before. */
export const differingFiles = ({ db }: PublisherParts["manifest"]): string[] =>
  db
    .query<{ path: string }, []>("SELECT path FROM differing ORDER BY path")
    .all()
    .map(({ path }) => path);

/** A build renders the change feed as well: files that are due have to be closed before. */
async function closeFeed({ manifest, source, clock }: PublisherParts, upTo: number): Promise<void> {
  const { slow_sequence } = manifest.state();
  await closeFeedFiles(source.store, { after: slow_sequence, upTo, now: clock() });
}
