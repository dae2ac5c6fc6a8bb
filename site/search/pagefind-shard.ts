import { createIndex, type CustomRecord, type PagefindIndex } from "pagefind";
import type { BundleFile } from "#site/documents/document.ts";
import type { SearchDocument } from "#site/documents/lunr.ts";
import { clipped } from "#site/parts/words.ts";

/**
 * The index for people is split by id, and joined in the browser: one index of a big directory takes gigabytes to make
 * and is made again as a whole, for there is no incremental way.
 */
export const pagefindShards = 8;

/** Where the files of a shard lie, without a leading slash. */
export const pagefindFolder = (shard: number): string => `pagefind/${shard}/`;

/** Fragments hold what results show. Kept together they are a quarter of the files, the time and the bytes. */
const fragmentFilesMax = 256;
const recordsAtOnce = 200;
const lineCharactersMax = 160;
/** What a page needs; Pagefind's own widgets are left out. */
const needed =
  /^((fragment|index|filter)\/.+|pagefind\.[^/]+\.pf_meta|pagefind-entry\.json|pagefind(-worker)?\.js|wasm\.en\.pagefind)$/;

/**
 * The files of one shard, their paths as in the bundle. The same documents give the same bytes. About 3 s and 300 MB
 * for 5,000 documents, most of it in Pagefind's own process; its `close` ends that. Throws when Pagefind fails.
 */
export async function pagefindShard(
  shard: number,
  documents: readonly SearchDocument[],
): Promise<BundleFile[]> {
  const created = await createIndex({ forceLanguage: "en", maxFragments: fragmentFilesMax });
  const { index } = created;
  if (index === undefined) throw new Error(`no index from Pagefind: ${created.errors.join(", ")}`);
  try {
    await addAll(index, documents);
    const { files, errors } = await index.getFiles();
    if (errors.length > 0) throw new Error(`Pagefind made no files: ${errors.join(", ")}`);
    return files
      .filter(({ path }) => needed.test(path))
      .map(({ path, content }) => ({ path: pagefindFolder(shard) + path, body: content }));
  } finally {
    await index.deleteIndex();
  }
}

async function addAll(index: PagefindIndex, documents: readonly SearchDocument[]): Promise<void> {
  for (let at = 0; at < documents.length; at += recordsAtOnce) {
    const some = documents.slice(at, at + recordsAtOnce);
    const added = await Promise.all(some.map((one) => index.addCustomRecord(recordOf(one))));
    const failed = added.flatMap(({ errors }) => errors);
    if (failed.length > 0) throw new Error(`Pagefind refused a record: ${failed[0]}`);
  }
}

/** Places and causes stand in the text, so that their words are found; the filters hold causes and countries once more. */
function recordOf(document: SearchDocument): CustomRecord {
  const { url, name, tagline, mission, city, region, country, causes, filters } = document;
  const place = [city, region, country].filter((part) => part !== null).join(", ");
  const line = tagline ?? clipped(mission ?? "", lineCharactersMax);
  const sentences = [name, tagline, mission, place, causes.join(", ")];
  return {
    url,
    language: "en",
    content: sentences.filter((part) => part !== null && part !== "").join(". "),
    meta: { title: name, place, line },
    filters,
  };
}
