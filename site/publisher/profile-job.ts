import { publishFiles } from "#site/bundle/export-release.ts";
import type { Needs } from "#content/contract/enrichment-answers.ts";
import { type Change, changesAfter } from "#content/nonprofit/changes-store.ts";
import { needsPath } from "#site/documents/single-pages.ts";
import { type DocumentKey, partsOf, renderKeys } from "#site/documents/document.ts";
import { noteFailures, storeFiles } from "#site/bundle/release.ts";
import type { PublisherContext } from "./context.ts";
import { needsPlaces, staleAtOnce } from "#site/documents/stale-paths.ts";

/** A single change must not queue behind a big batch. */
const changesPerReleaseMax = 25;
/** When more changes than these come together, their profiles go first and the lists follow. */
const changesWithLists = 3;
/** List pages that are rendered between two looks at the changes. */
const listPagesPerRelease = 10;
/** With more than these waiting the lists are left to the list job, which renders them all. */
const listPagesWaitingMax = 1_000;

/**
 * Publishes the next changes: each profile, and the pages where it kept its place; of a burst the profiles first. Answers
 * how much it did, 0 when there was nothing to do. Taking a change twice is harmless.
 */
export async function runProfileJob(context: PublisherContext): Promise<number> {
  const { manifest, source, deferred } = context;
  const from = manifest.state().fast_sequence;
  const changes = await changesAfter(source.store, from, changesPerReleaseMax);
  const last = changes.at(-1);
  if (last === undefined) return runLists(context, from);
  const moved = changes.flatMap(({ moved_lists }) => moved_lists);
  source.lists.follow({ after: from, upTo: last.sequence, moved });
  let keys = [...(await staleKeys(context, changes))];
  if (changes.length > changesWithLists) {
    for (const key of keys.filter(isListPage)) deferred.add(key);
    if (deferred.size > listPagesWaitingMax) deferred.clear();
    keys = keys.filter((key) => !isListPage(key));
  }
  await publishKeys(context, keys, {
    reason: changes.length === 1 ? `change ${last.sequence}` : `changes to ${last.sequence}`,
    asOf: last.sequence,
    state: { fast_sequence: last.sequence },
  });
  return changes.length;
}

const isListPage = (key: DocumentKey): boolean => partsOf(key)[0] === "list-page";

/** The pages that a burst left for later. A process that ends before leaves them to the list job. */
async function runLists(context: PublisherContext, asOf: number): Promise<number> {
  const keys = [...context.deferred].slice(0, listPagesPerRelease);
  if (keys.length === 0) return 0;
  await publishKeys(context, keys, { reason: `list pages to ${asOf}`, asOf, state: {} });
  for (const key of keys) context.deferred.delete(key);
  return keys.length;
}

async function publishKeys(
  context: PublisherContext,
  keys: readonly DocumentKey[],
  rest: Parameters<typeof publishFiles>[2],
): Promise<void> {
  const { files, failed } = await renderKeys(keys, context.kinds, context.source);
  noteFailures(context, keys, failed);
  publishFiles(context, storeFiles(context, files), rest);
}

async function staleKeys(
  context: PublisherContext,
  changes: readonly Change[],
): Promise<Set<DocumentKey>> {
  const { lists } = context.source;
  const placed = changes.filter(needsPlaces).flatMap(({ nonprofit_id }) => nonprofit_id ?? []);
  const places: Awaited<ReturnType<typeof lists.places>> =
    placed.length === 0 ? new Map() : await lists.places([...new Set(placed)], "cause");
  const needs = needsSlugs(context);
  const keys = new Set<DocumentKey>();
  for (const change of changes) {
    const own = places.get(change.nonprofit_id ?? 0) ?? new Map<string, number>();
    for (const key of staleAtOnce(change, own, needs)) keys.add(key);
  }
  return keys;
}

/** Who stands in the published list of profiles that want help; null when there is none. */
function needsSlugs({ manifest, blobs }: PublisherContext): ReadonlySet<string> | null {
  const file = manifest.find(needsPath);
  if (file === null || !blobs.has(file.digest)) return null;
  const { nonprofits } = JSON.parse(blobs.read(file.digest).toString()) as Needs;
  return new Set(nonprofits.map(({ slug }) => slug));
}
