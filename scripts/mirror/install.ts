import { readFile } from "node:fs/promises";
import {
  type BundleManifest,
  feedPaths,
  type ManifestEntry,
  type ShardReference,
} from "#content/contract/feed.ts";
import { exportRank } from "#site/bundle/export-step.ts";
import { changedShards, type Gathering } from "./gather.ts";
import { eachLimited, type MirrorFolder } from "./mirror-folder.ts";
import { type SignedList, shardFrom } from "./signed-list.ts";

const filesAtOnce = 16;
const ranks = [0, 1, 2, 3];

export type Installed = { changed: number; removed: number };

type Installing = Pick<Gathering, "mirror" | "known" | "behind">;

/**
 * Puts what was gathered in place, each file at once: assets, then profiles, then what names them, the feed's state
 * and the list itself; what is gone is removed last. Every file must be gathered, or in place, or among `left`.
 */
export async function install(
  installing: Installing,
  list: SignedList,
  left: ReadonlySet<string>,
): Promise<Installed> {
  const { mirror } = installing;
  const shards = changedShards(installing, list.manifest);
  const gone = await goneFiles(installing, list.manifest, shards);
  let changed = 0;
  // A million files are too many for memory: the shards are read once for each rank.
  for (const rank of ranks) {
    for (const shard of shards) {
      const ranked = (await stagedShard(mirror, shard)).filter(
        ({ path, sha256 }) =>
          exportRank(path) === rank && !left.has(path) && mirror.isStaged(sha256),
      );
      await eachLimited(ranked, filesAtOnce, ({ path, sha256 }) => mirror.put(path, sha256));
      changed += ranked.length;
    }
  }
  for (const { path, sha256 } of shards) await mirror.put(path, sha256);
  await mirror.write(feedPaths.manifest, list.bytes);
  await mirror.write(feedPaths.signature, list.signature);
  for (const path of gone) await mirror.remove(path);
  return { changed, removed: gone.length };
}

const stagedShard = async (mirror: MirrorFolder, { sha256 }: ShardReference) =>
  shardFrom(await readFile(mirror.stagedPath(sha256), "utf8")).files;

/** Paths that are in the folder and not in the list. */
async function goneFiles(
  { mirror, known }: Installing,
  list: BundleManifest,
  shards: readonly ShardReference[],
): Promise<string[]> {
  const listed = new Set<string>();
  for (const shard of shards) {
    for (const { path } of await stagedShard(mirror, shard)) listed.add(path);
  }
  const gone: string[] = [];
  if (known === null) {
    for (const { path } of list.shards) listed.add(path);
    for (const path of [feedPaths.manifest, feedPaths.signature]) listed.add(path);
    for await (const path of mirror.files()) if (!listed.has(path)) gone.push(path);
    return gone;
  }
  for (const { path } of shards) {
    const before: ManifestEntry[] = shardFrom(await readFile(mirror.pathOf(path), "utf8")).files;
    gone.push(...before.map((file) => file.path).filter((old) => !listed.has(old)));
  }
  return gone;
}
