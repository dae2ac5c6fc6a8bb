import { newestSequence } from "#content/nonprofit/changes-store.ts";
import type { Store } from "#content/store/open.ts";
import { lunr } from "#site/documents/lunr.ts";
import type { Blobs } from "#site/bundle/blobs.ts";
import type { Manifest, NewFile } from "#site/bundle/manifest.ts";
import { storeFiles } from "#site/bundle/publish-files.ts";
import { searchDocuments } from "./documents.ts";
import { pagefindShard, pagefindShards, stopPagefind } from "./pagefind-shard.ts";
import { planIndexing } from "./plan.ts";

/** What to make indexes of, and what is known of those that are there. */
export type IndexJob = {
  /** Changes up to here are in all indexes. */
  after: number;
  pagefind: boolean;
  inputsChanged: boolean;
};

/** Indexes that lie in the blobs and wait for a release. */
export type MadeIndexes = {
  /** The newest change that they include for sure. */
  asOf: number;
  lunr: NewFile[];
  lunrGone: string[];
  /** The files of the shards that were made anew. */
  pagefind: { shard: number; files: NewFile[] }[];
  /** All shards that hold anything. */
  shards: number[];
};

type IndexParts = { store: Store; manifest: Manifest; blobs: Blobs };

/**
 * Makes all indexes anew that changes since the last run touch. Costs seconds of a processor, so it belongs into a
 * process of its own wherever somebody waits for another thing.
 */
export async function makeIndexes(
  { store, manifest, blobs }: IndexParts,
  job: IndexJob,
): Promise<MadeIndexes> {
  const asOf = await newestSequence(store);
  const question = { ...job, store, db: manifest.db, blobs, upTo: asOf };
  const plan = await planIndexing(question);
  const made: MadeIndexes = {
    asOf,
    lunr: [],
    lunrGone: plan.lunrGone,
    pagefind: [],
    shards: plan.shards,
  };
  for (const key of plan.lunr) {
    const rendered = await lunr.render([key], { store });
    const { kept, removed } = storeFiles(
      { blobs },
      rendered.flatMap(({ files }) => files),
    );
    made.lunr.push(...kept);
    made.lunrGone.push(...removed);
  }
  try {
    for (const shard of plan.pagefind) {
      const part = { list: "all", parts: pagefindShards, residue: shard - 1 };
      const files = await pagefindShard(shard, await searchDocuments(store, part));
      made.pagefind.push({ shard, files: storeFiles({ blobs }, files).kept });
    }
  } finally {
    if (plan.pagefind.length > 0) await stopPagefind();
  }
  return made;
}
