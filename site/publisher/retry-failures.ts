import { partsOf } from "#site/documents/document.ts";
import { noteFailures, publishFiles, storeFiles } from "#site/bundle/publish-files.ts";
import type { PublisherParts } from "./publisher-parts.ts";
import { renderKeys } from "#site/documents/render-keys.ts";

const keysPerRoundMax = 50;

/**
 * Tries documents again that could not be rendered: what stopped them (a store that did not answer, say) may be over,
 * and no further change may ever come to them. Answers how many still fail of those tried.
 */
export async function retryFailures(parts: PublisherParts): Promise<number> {
  const { manifest, kinds, source } = parts;
  const known = new Set(kinds.map(({ kind }) => kind));
  const keys = manifest.db
    .query<{ key: string }, [number]>("SELECT key FROM failures ORDER BY failed_at LIMIT ?")
    .all(keysPerRoundMax)
    .map(({ key }) => key)
    .filter((key) => known.has(partsOf(key)[0] ?? ""));
  if (keys.length === 0) return 0;
  // Read before the data is: what is rendered holds at least these changes.
  const asOf = manifest.state().fast_sequence;
  const { files, failed } = await renderKeys(keys, kinds, source);
  noteFailures(parts, keys, failed);
  const stored = storeFiles(parts, files);
  publishFiles(parts, stored, { reason: "pages that had failed", asOf, state: {} });
  return failed.length;
}
