import type { Database } from "bun:sqlite";
import causes from "#content/editorial/causes.json";
import { newestSequence } from "#content/nonprofit/changes-store.ts";
import { listCounts } from "#content/nonprofit/list-store.ts";
import {
  countsByPart,
  newestByCausePart,
  newestByPart,
  type NewestInPart,
} from "#content/search/list-parts-store.ts";
import type { Queryable, Store } from "#content/store/open.ts";
import type { Blobs } from "#site/bundle/blobs.ts";
import type { Manifest, NewFile } from "#site/bundle/manifest.ts";
import { storeFiles } from "#site/bundle/release.ts";
import type { DocumentKey } from "#site/documents/document.ts";
import { keyOf } from "#site/documents/keys.ts";
import {
  lunr,
  lunrPartsFor,
  lunrPartsMax,
  lunrPath,
  searchDocuments,
} from "#site/documents/lunr.ts";
import { pagefindFolder, pagefindShard, pagefindShards, stopPagefind } from "./pagefind-shard.ts";

/** What to make indexes of, and what is known of those that are there. */
export type IndexTask = {
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
  /** The files of the shards that were made again. */
  pagefind: { shard: number; files: NewFile[] }[];
  /** All shards that hold anything. */
  shards: number[];
};

type IndexParts = { store: Store; manifest: Manifest; blobs: Blobs };

/**
 * Makes all indexes again that changes since the last run touch. Costs seconds of a processor, so it belongs into a
 * process of its own wherever somebody waits for another thing.
 */
export async function makeIndexes(
  { store, manifest, blobs }: IndexParts,
  job: IndexTask,
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

/** What has to be made again. */
export type IndexPlan = {
  lunr: DocumentKey[];
  /** Files of causes that are split otherwise now, or empty. */
  lunrGone: string[];
  /** Pagefind's shards that are stale. */
  pagefind: number[];
  /** Those that hold anything. */
  shards: number[];
};

export type PlanQuestion = {
  store: Queryable;
  /** The manifest: what the bundle holds. */
  db: Database;
  blobs: Pick<Blobs, "has">;
  /** Changes up to here are in all indexes. */
  after: number;
  /** The newest change. */
  upTo: number;
  /** Whether indexes for people are made at all. */
  pagefind: boolean;
  /** Whether what goes into them beside the store is another than before. */
  inputsChanged: boolean;
};

/** Compares what the indexes were made of with the changes since; indexes nothing changed for are left alone. */
export async function planIndexing(question: PlanQuestion): Promise<IndexPlan> {
  return { ...(await planLunrFiles(question)), ...(await planPagefind(question)) };
}

async function planLunrFiles({ store, db, after, upTo }: PlanQuestion) {
  const held = new Map(
    heldUnder(db, "search/")
      .filter(({ path }) => path.endsWith(".lunr.json"))
      .map((file) => [file.path, file]),
  );
  const counts = await listCounts(
    store,
    causes.map(({ id }) => `cause:${id}`),
  );
  const newest = await newestByCausePart(store, { after, upTo }, lunrPartsMax);
  const stale: DocumentKey[] = [];
  for (const [list, count] of counts) {
    const cause = list.slice("cause:".length);
    const parts = lunrPartsFor(count);
    const changed = newestOf(newest, list, parts);
    for (let part = 1; part <= parts; part++) {
      const path = lunrPath(cause, part, parts);
      if (isStale(held.get(path), changed.get(part - 1))) stale.push(keyOf.lunr(cause, part));
      held.delete(path);
    }
  }
  return { lunr: stale, lunrGone: [...held.keys()] };
}

async function planPagefind(question: PlanQuestion) {
  const { store, db, blobs, after, upTo, inputsChanged } = question;
  if (!question.pagefind) return { pagefind: [], shards: [] };
  const counts = await countsByPart(store, "all", pagefindShards);
  const changed = newestOf(
    await newestByPart(store, { after, upTo }, pagefindShards),
    "all",
    pagefindShards,
  );
  const shards = [...counts.keys()].map((residue) => residue + 1).sort((a, b) => a - b);
  const pagefind = shards.filter((shard) => {
    const held = heldUnder(db, pagefindFolder(shard));
    const entry = held.find(({ path }) => path.endsWith("/pagefind-entry.json"));
    // Files may have gone down with the machine.
    const lost = held.some(({ digest }) => !blobs.has(digest));
    return inputsChanged || lost || isStale(entry, changed.get(shard - 1));
  });
  return { pagefind, shards };
}

export type HeldFile = { path: string; digest: string; size: number; as_of: number };

/** The files under a folder of the bundle (named with its slash) that are not about to go. */
export const heldUnder = (db: Database, folder: string): HeldFile[] =>
  db
    .query<HeldFile, [string, string]>(
      `SELECT path, digest, size, as_of FROM files
       WHERE path > ? AND path < ? AND doomed_at IS NULL ORDER BY path`,
    )
    .all(folder, `${folder.slice(0, -1)}0`); // "0" follows "/".

/** After a rollback a file is as of 0: it shows an older state than the changes that were taken. */
const isStale = (file: HeldFile | undefined, newestChange = 0): boolean =>
  file === undefined || file.as_of === 0 || file.as_of < newestChange;

/** The newest change of each part of a list, by the residue of a smaller (dividing) number of parts. */
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
