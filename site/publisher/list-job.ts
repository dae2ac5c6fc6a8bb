import { feedPaths } from "#content/contract/feed.ts";
import { closeFeedFiles } from "#content/feed/store.ts";
import { type Change, changesAfter, nextChanges } from "#content/nonprofit/changes-store.ts";
import { countInList } from "#content/nonprofit/list-store.ts";
import { publishInSlices } from "#site/bundle/export-release.ts";
import type { Manifest, NewFile } from "#site/bundle/manifest.ts";
import { noteFailures, storeFiles } from "#site/bundle/release.ts";
import { type DocumentKey, partsOf, renderKeys, staleLater } from "#site/documents/document.ts";
import {
  feedKey,
  patchedPart,
  snapshotLines,
  snapshotPartKey,
  snapshotPartOf,
} from "#site/documents/feed.ts";
import { listPageKey } from "#site/documents/list-page.ts";
import { staleStanding, standingFolder } from "#site/documents/standing.ts";
import { pageAddress, staticPages } from "#site/parts/address.ts";
import type { ListsTask, ListFiles, PublisherContext } from "./context.ts";
import { runProfileJob } from "./profile-job.ts";

/**
 * Brings up to date the documents in which one change shifts many pages: list pages, counts, sitemaps, the change feed
 * and the snapshot. `context.background` renders them, in a child process in the running publisher; the outcome is one
 * release. Returns the sequence of the last change taken, null when there was nothing to do.
 */
export async function runListJob(context: PublisherContext): Promise<number | null> {
  const { manifest, source, clock, background } = context;
  const { slow_sequence: after, fast_sequence } = manifest.state();
  const within = { after, upTo: fast_sequence, limit: listChangesMax };
  const next = await nextChanges(source.store, within);
  if (next === null) return null;
  const upTo = next.last;
  const feedFiles = await closeFeedFiles(source.store, { after, upTo, now: clock() });
  const lists = await background.makeLists({ after, upTo, feedFiles });
  noteFailures(context, lists.keys, lists.failed);
  await publishInSlices(context, {
    reason: `lists to ${upTo}`,
    asOf: upTo,
    files: lists.files,
    removed: lists.removed,
    state: { slow_sequence: upTo },
  });
  return upTo;
}

/** The list job, due `delayMs` after the first change that waits, so that a burst costs one run. */
export function openListJob(context: PublisherContext, { delayMs }: { delayMs: number }) {
  let sinceMs: number | null = null;
  const isBehind = (): boolean => {
    const { slow_sequence, fast_sequence } = context.manifest.state();
    return slow_sequence < fast_sequence;
  };
  return {
    isBehind,
    dueAtMs: (nowMs: number): number | null => {
      sinceMs = isBehind() ? (sinceMs ?? nowMs) : null;
      return sinceMs === null ? null : sinceMs + delayMs;
    },
    run: (): Promise<number | null> => {
      sinceMs = null;
      return runListJob(context);
    },
  };
}

type MakingParts = Pick<PublisherContext, "source" | "kinds" | "manifest" | "blobs">;

const listChangesMax = 20_000;
/** How many documents of one kind are rendered together, with one query per table. */
const keysPerBatch = 20;

/**
 * Renders what `runListJob` publishes. Takes seconds after many changes: where something waits, run it in another process.
 */
export async function makeLists(context: MakingParts, job: ListsTask): Promise<ListFiles> {
  const { source, kinds, manifest, blobs } = context;
  const changes = (await changesAfter(source.store, job.after, listChangesMax)).filter(
    ({ sequence }) => sequence <= job.upTo,
  );
  const keys = await staleKeys(context, changes);
  for (const number of job.feedFiles) keys.add(feedKey(number));
  const lists: ListFiles = { keys: [...keys], files: [], removed: [], failed: [] };
  const patch = await patchSnapshot(context, changes);
  lists.files.push(...patch.files);
  for (const batch of batchesOf(keys.difference(patch.keys))) {
    const result = await renderKeys(batch, kinds, source);
    // Skip removals of paths that are not in the bundle.
    const { files, removed } = storeFiles(
      { blobs },
      result.files.filter(({ path, body }) => body !== null || manifest.find(path) !== null),
    );
    lists.files.push(...files);
    lists.removed.push(...removed);
    lists.failed.push(...result.failed);
  }
  return lists;
}

/** Replaces the lines of changed profiles in published parts of the snapshot. `keys`: the parts that need no rendering. */
async function patchSnapshot(
  { source, manifest, blobs }: MakingParts,
  changes: readonly Change[],
): Promise<{ keys: Set<DocumentKey>; files: NewFile[] }> {
  const ids = new Set(changes.flatMap(({ nonprofit_id }) => nonprofit_id ?? []));
  const byPart = Map.groupBy(ids, snapshotPartOf);
  const keys = new Set<DocumentKey>();
  const files: NewFile[] = [];
  for (const [part, own] of byPart) {
    const path = feedPaths.snapshotPart(part);
    const current = manifest.find(path);
    if (current === null || !blobs.has(current.digest)) continue;
    const body = await patchedPart(blobs.read(current.digest), await snapshotLines(source, own));
    files.push(...storeFiles({ blobs }, [{ path, body }]).files);
    keys.add(snapshotPartKey(part));
  }
  return { keys, files };
}

function* batchesOf(keys: ReadonlySet<DocumentKey>): Generator<DocumentKey[]> {
  for (const ofKind of Map.groupBy(keys, (key) => partsOf(key)[0]).values()) {
    for (let at = 0; at < ofKind.length; at += keysPerBatch) {
      yield ofKind.slice(at, at + keysPerBatch);
    }
  }
}

async function staleKeys(
  { source, kinds, manifest }: MakingParts,
  changes: readonly Change[],
): Promise<Set<DocumentKey>> {
  const ids = new Set(changes.flatMap(({ nonprofit_id }) => nonprofit_id ?? []));
  const places = await source.lists.places([...ids]);
  const keys = new Set<DocumentKey>();
  const stale = changes.map((change) =>
    staleLater(kinds, change, places.get(change.nonprofit_id ?? 0) ?? new Map()),
  );
  for (const part of stale) for (const key of part.keys) keys.add(key);
  for (const list of new Set(stale.flatMap((part) => part.lists))) {
    for (const key of pagesOf(list, await countInList(source.store, list), manifest)) keys.add(key);
  }
  const paths = manifest.under(standingFolder).map(({ path }) => path);
  for (const key of await staleStanding(source.store, changes, paths)) keys.add(key);
  return keys;
}

/** Keys of all pages of a list, and of pages beyond its end that are still published. */
function pagesOf(list: string, count: number, manifest: Manifest): DocumentKey[] {
  const start = list === "all" ? "api/nonprofits/pages/" : `${pageAddress(list, 1)}-`;
  const numbers = manifest
    .under(start)
    .filter(({ path }) => /^\d+\.(?:html|json)$/.test(path.slice(start.length)));
  const pages = Math.max(staticPages(list, count), numbers.length + 1);
  return Array.from({ length: pages }, (_, at) => listPageKey(list, at + 1));
}

export async function publishChanges(context: PublisherContext): Promise<void> {
  while ((await runProfileJob(context)) > 0);
  while ((await runListJob(context)) !== null);
}
