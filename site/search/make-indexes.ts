import { type CustomRecord, type PagefindIndex, close, createIndex } from "pagefind";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { type NewestInPart, countsByPart, newestByPart } from "#content/find/browse-store.ts";
import type { Store } from "#content/store/open.ts";
import type { Blobs } from "#site/bundle/blobs.ts";
import type { HeldFile, Manifest, NewFile } from "#site/bundle/manifest.ts";
import { storeFiles } from "#site/bundle/release.ts";
import type { BundleFile, DocumentKey } from "#site/documents/document.ts";
import {
  type SearchDocument,
  hasManyProfiles,
  indexedCauses,
  lunr,
  lunrKey,
  lunrPartsFor,
  lunrPartsMax,
  lunrPath,
  searchDocuments,
} from "#site/documents/lunr.ts";
import { clipped } from "#site/parts/words.ts";

/** The file that names the shards that pages load. Without it there is no index for people. */
const shardsPath = "pagefind/shards.json";

export type IndexTask = {
  /** Changes up to here are in all indexes. */
  after: number;
  pagefind: boolean;
  inputsChanged: boolean;
};

/** Indexes that are in the blobs and not published yet. */
export type IndexFiles = {
  /** The newest change that they certainly include. */
  asOf: number;
  lunr: NewFile[];
  lunrGone: string[];
  pagefind: NewFile[];
  /** Published files of Pagefind that its newest indexes no longer use. */
  superseded: string[];
};

type IndexParts = { store: Store; manifest: Manifest; blobs: Blobs };

/**
 * Makes all indexes again that changes since the last run affect. Takes seconds of a processor, so run it in a process of
 * its own where something else waits.
 */
export async function makeIndexes(
  { store, manifest, blobs }: IndexParts,
  job: IndexTask,
): Promise<IndexFiles> {
  const asOf = await newestSequence(store);
  const within = { after: job.after, upTo: asOf };
  const stale = await planLunrFiles({ store, manifest }, within);
  const plan = await planPagefind({ store, manifest, blobs }, job, within);
  const indexes: IndexFiles = {
    asOf,
    lunr: [],
    lunrGone: stale.gone,
    pagefind: [],
    superseded: [],
  };
  for (const key of stale.keys) {
    const { files, removed } = storeFiles({ blobs }, await lunr.render([key], { store }));
    indexes.lunr.push(...files);
    indexes.lunrGone.push(...removed);
  }
  try {
    for (const shard of plan.stale) {
      const part = { list: "all", parts: pagefindShards, residue: shard - 1 };
      const files = await pagefindShard(shard, await searchDocuments(store, part));
      indexes.pagefind.push(...storeFiles({ blobs }, files).files);
    }
  } finally {
    // Ends Pagefind's process; the next index starts another.
    if (plan.stale.length > 0) await close();
  }
  if (plan.shards.length > 0 || manifest.find(shardsPath) !== null) {
    const body = `${JSON.stringify({ shards: plan.shards })}\n`;
    indexes.pagefind.push(...storeFiles({ blobs }, [{ path: shardsPath, body }]).files);
  }
  const named = new Set(indexes.pagefind.map(({ path }) => path));
  const freshShards = plan.shards
    .filter((shard) => !plan.stale.includes(shard))
    .map(pagefindFolder);
  indexes.superseded = manifest
    .under("pagefind/")
    .map(({ path }) => path)
    .filter((path) => !named.has(path) && !freshShards.some((folder) => path.startsWith(folder)));
  return indexes;
}

type Within = { after: number; upTo: number };

/** The parts that changes affect or that do not exist (a cause may be split differently now); and files to remove. */
async function planLunrFiles(
  { store, manifest }: Pick<IndexParts, "store" | "manifest">,
  within: Within,
) {
  const filesByPath = new Map(
    manifest
      .under("search/")
      .filter(({ path }) => path.endsWith(".lunr.json"))
      .map((file) => [file.path, file]),
  );
  const counts = await indexedCauses(store);
  const newest = await newestByPart(store, within, lunrPartsMax, "cause");
  const stale: DocumentKey[] = [];
  for (const [list, count] of counts) {
    const cause = list.slice("cause:".length);
    const parts = lunrPartsFor(count);
    const changed = newestOf(newest, list, parts);
    for (let part = 1; part <= parts; part++) {
      const path = lunrPath(cause, part, parts);
      if (isStale(filesByPath.get(path), changed.get(part - 1))) stale.push(lunrKey(cause, part));
      filesByPath.delete(path);
    }
  }
  return { keys: stale, gone: [...filesByPath.keys()] };
}

/** Pagefind's shards that are not empty, and those of them that are stale. */
async function planPagefind(
  { store, manifest, blobs }: IndexParts,
  { pagefind, inputsChanged }: IndexTask,
  within: Within,
) {
  if (!pagefind || (await hasManyProfiles(store))) return { stale: [], shards: [] };
  const counts = await countsByPart(store, pagefindShards);
  const changed = newestOf(
    await newestByPart(store, within, pagefindShards, "all"),
    "all",
    pagefindShards,
  );
  const shards = [...counts.keys()].map((residue) => residue + 1).sort((a, b) => a - b);
  const stale = shards.filter((shard) => {
    const files = manifest.under(pagefindFolder(shard));
    const entry = files.find(({ path }) => path.endsWith("/pagefind-entry.json"));
    // A crash of the machine may have lost files.
    const lost = files.some(({ digest }) => !blobs.has(digest));
    return inputsChanged || lost || isStale(entry, changed.get(shard - 1));
  });
  return { stale, shards };
}

/** After a rollback a file's `as_of` is 0: it may be older than the changes that were already indexed. */
const isStale = (file: HeldFile | undefined, newestChange = 0): boolean =>
  file === undefined || file.as_of === 0 || file.as_of < newestChange;

/** The newest change of each part of a list, from those of a multiple of `parts`. */
function newestOf(
  all: readonly NewestInPart[],
  list: string,
  parts: number,
): ReadonlyMap<number, number> {
  const newest = new Map<number, number>();
  for (const { residue, sequence, ...other } of all) {
    if (other.list !== list) continue;
    const at = residue % parts;
    newest.set(at, Math.max(newest.get(at) ?? 0, sequence));
  }
  return newest;
}

/**
 * The index for people is split by id, and joined in the browser: one index of a big directory takes gigabytes to make, and
 * cannot be updated in part.
 */
export const pagefindShards = 8;

/** The folder of a shard's files, without a leading slash. */
export const pagefindFolder = (shard: number): string => `pagefind/${shard}/`;

/** Fragments hold the text of results. Packed into few files, they are a quarter of the files, the time and the bytes. */
const fragmentFilesMax = 256;
const recordsAtOnce = 200;
const lineCharactersMax = 160;
/** The files that a page needs; Pagefind's own widgets are left out. */
const needed =
  /^((fragment|index|filter)\/.+|pagefind\.[^/]+\.pf_meta|pagefind-entry\.json|pagefind(-worker)?\.js|wasm\.en\.pagefind)$/;

/**
 * The files of one shard, with their paths in the bundle. The same documents give the same bytes. Takes about 3 s and 300
 * MB for 5,000 documents, mostly in Pagefind's own process, which its `close` ends. Throws when Pagefind fails.
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
    const added = await Promise.all(
      some.map((document) => index.addCustomRecord(recordOf(document))),
    );
    const failed = added.flatMap(({ errors }) => errors);
    if (failed.length > 0) throw new Error(`Pagefind refused a record: ${failed[0]}`);
  }
}

/** Places and causes are part of the text, so that their words are found; the filters contain causes and countries too. */
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
