import { type Change, changesAfter } from "#content/store/changes.ts";
import { placesInLists } from "#content/store/lists.ts";
import type { DocumentKey } from "./document.ts";
import { noteFailures, publishFiles, storeFiles } from "./publish-files.ts";
import type { PublisherParts } from "./publisher-parts.ts";
import { renderKeys } from "./render-keys.ts";
import { needsPlaces, staleAtOnce } from "./stale-paths.ts";

/** A single change must not queue behind a big batch. */
const changesPerReleaseMax = 25;

/**
 * Publishes the next changes: each profile, and the pages where it kept its place. Answers how many changes it took,
 * 0 when there was nothing to do. Taking a change twice is harmless.
 */
export async function runFastLane(parts: PublisherParts): Promise<number> {
  const { manifest, source, kinds } = parts;
  const from = manifest.state().fast_sequence;
  const changes = await changesAfter(source.store.raw, from, changesPerReleaseMax);
  const last = changes.at(-1);
  if (last === undefined) return 0;
  const keys = await staleKeys(parts, changes);
  const { files, failed } = await renderKeys(keys, kinds, source);
  noteFailures(parts, keys, failed);
  publishFiles(parts, storeFiles(parts, files), {
    reason: changes.length === 1 ? `change ${last.sequence}` : `changes to ${last.sequence}`,
    asOf: last.sequence,
    state: { fast_sequence: last.sequence },
  });
  return changes.length;
}

async function staleKeys(
  { source }: PublisherParts,
  changes: readonly Change[],
): Promise<Set<DocumentKey>> {
  const keys = new Set<DocumentKey>();
  for (const [id, own] of Map.groupBy(changes, (change) => change.nonprofit_id)) {
    const places =
      id !== null && own.some(needsPlaces)
        ? await placesInLists(source.store.raw, id, "cause")
        : new Map<string, number>();
    for (const key of own.flatMap((change) => staleAtOnce(change, places))) keys.add(key);
  }
  return keys;
}
