import { publishRelease } from "#site/bundle/export-release.ts";
import type { Needs } from "#content/contract/enrichment-answers.ts";
import { type Change, changesAfter, markOf } from "#content/nonprofit/changes-store.ts";
import {
  type DocumentKey,
  partsOf,
  renderKeys,
  listedFields,
  needsPath,
  staleAtOnce,
  touches,
} from "#site/documents/document.ts";
import { noteFailures, type ReleaseDraft, storeFiles } from "#site/bundle/release.ts";
import type { PublisherContext } from "./context.ts";

/** A small release, so that a single change need not wait behind a big batch. */
const changesPerReleaseMax = 25;
/** When more changes than this come together, their profiles go first and the list pages follow. */
const changesWithLists = 3;

/**
 * Publishes the next changes: each profile, and the list pages on which it keeps its place; of a burst only profiles (the
 * list job renders the pages). Returns the number of changes, 0 for none. Publishing a change twice is harmless.
 */
export async function runProfileJob(context: PublisherContext): Promise<number> {
  const { manifest, source } = context;
  const from = manifest.state().fast_sequence;
  const changes = await changesAfter(source.store, from, changesPerReleaseMax);
  const last = changes.at(-1);
  if (last === undefined) return 0;
  const keys = [...(await staleKeys(context, changes))];
  const isBurst = changes.length > changesWithLists;
  await publishKeys(context, isBurst ? keys.filter((key) => !isListPage(key)) : keys, {
    reason: changes.length === 1 ? `change ${last.sequence}` : `changes to ${last.sequence}`,
    asOf: last.sequence,
    state: { fast_sequence: last.sequence, known_change: markOf(last) },
  });
  return changes.length;
}

const isListPage = (key: DocumentKey): boolean => partsOf(key)[0] === "list-page";

/** Renders documents and publishes them; returns how many failed. */
export async function publishKeys(
  context: PublisherContext,
  keys: readonly DocumentKey[],
  draft: Pick<ReleaseDraft, "reason" | "asOf" | "state">,
): Promise<number> {
  const { files, failed } = await renderKeys(keys, context.kinds, context.source);
  noteFailures(context, keys, failed);
  publishRelease(context, { ...draft, ...storeFiles(context, files) });
  return failed.length;
}

async function staleKeys(
  context: PublisherContext,
  changes: readonly Change[],
): Promise<Set<DocumentKey>> {
  const { lists } = context.source;
  const placed = changes
    .filter((change) => touches(change, listedFields))
    .flatMap(({ nonprofit_id }) => nonprofit_id ?? []);
  const places: Awaited<ReturnType<typeof lists.places>> =
    placed.length === 0 ? new Map() : await lists.places([...new Set(placed)], "cause");
  const needs = needsSlugs(context);
  const keys = new Set<DocumentKey>();
  for (const change of changes) {
    const knownPlaces = { places: places.get(change.nonprofit_id ?? 0) ?? new Map(), needs };
    for (const key of staleAtOnce(context.kinds, change, knownPlaces)) keys.add(key);
  }
  return keys;
}

/** Slugs in the published list of profiles that need help; null when there is no such list. */
function needsSlugs({ manifest, blobs }: PublisherContext): ReadonlySet<string> | null {
  const file = manifest.find(needsPath);
  const content = file && blobs.find(file.digest);
  if (content === null) return null;
  const { nonprofits } = JSON.parse(content.toString()) as Needs;
  return new Set(nonprofits.map(({ slug }) => slug));
}
