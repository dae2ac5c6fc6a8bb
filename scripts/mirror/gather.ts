import { createReadStream, existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import {
  type BundleManifest,
  feedPaths,
  type ManifestEntry,
  ManifestShard,
  type ShardReference,
} from "#content/contract/feed.ts";
import { exportRank } from "#site/bundle/export-release.ts";
import { shardOf } from "#site/bundle/signed-list.ts";
import { eachAtMost } from "#content/runtime/each-at-most.ts";
import { digestOfFile, type MirrorFolder, readShape } from "./folder.ts";
import { type Origin, save, type SignedList, shardFrom, stop } from "./origin.ts";

/** Shards at a time, and files at a time in each: a few dozen requests on the way together. */
const shardsAtOnce = 8;
const filesAtOnce = 5;

export type Gathering = {
  readonly origin: Origin;
  readonly mirror: MirrorFolder;
  /** The list by which the folder was filled last; null: look at the files themselves. */
  readonly known: BundleManifest | null;
  /** Files in the folder that are older than the known list says. */
  readonly behind: ReadonlySet<string>;
  /** Shards of which every file is gathered, by digest. */
  readonly done: Set<string>;
  /** Digests of the feed's state and of the snapshot's parts, as far as a shard that was looked at lists them. */
  readonly noted: Map<string, string>;
  readonly onFile: (bytes: number) => void;
};

/** Files of which the origin sent other bytes than the list tells, or none; by path, with the digest expected. */
export type Misfits = Map<string, string>;

/** Gathers beside the folder all files that it lacks, each checked against the signed list. */
export async function gather(gathering: Gathering, list: BundleManifest): Promise<Misfits> {
  const misfits: Misfits = new Map();
  const snapshots: ManifestEntry[] = [];
  const shards = changedShards(gathering, list).filter(({ sha256 }) => !gathering.done.has(sha256));
  await eachAtMost(shardsAtOnce, shards, async (reference) => {
    if (!(await fetched(gathering, reference, misfits))) return;
    const lacking = await lackingFiles(gathering, reference);
    await eachAtMost(filesAtOnce, lacking, async (file) => {
      if (file.path === feedPaths.snapshot) snapshots.push(file);
      else await fetched(gathering, file, misfits);
    });
    const whole = lacking.every(({ path }) => !misfits.has(path) && path !== feedPaths.snapshot);
    if (whole) gathering.done.add(reference.sha256);
  });
  for (const snapshot of snapshots) {
    if (!(await joinedHere(gathering, snapshot))) await fetched(gathering, snapshot, misfits);
  }
  return misfits;
}

/** The shards of the list that the folder does not hold in these bytes. */
export function changedShards(
  { known, behind }: Pick<Gathering, "known" | "behind">,
  list: BundleManifest,
): ShardReference[] {
  const held = new Set(known?.shards.map(({ sha256 }) => sha256));
  const lagging = new Set([...behind].map((path) => feedPaths.shard(shardOf(path))));
  return list.shards.filter(({ path, sha256 }) => !held.has(sha256) || lagging.has(path));
}

/** What has to be fetched of a gathered shard. */
async function lackingFiles(
  { mirror, known, behind, noted }: Gathering,
  shard: ShardReference,
): Promise<ManifestEntry[]> {
  const files = await stagedShard(mirror, shard);
  for (const { path, sha256 } of files) if (isNoted(path)) noted.set(path, sha256);
  const unstaged = files.filter((file) => !mirror.isStaged(file.sha256));
  if (known === null) {
    const digests = await Array.fromAsync(unstaged, ({ path }) =>
      digestOfFile(mirror.pathOf(path)),
    );
    return unstaged.filter(({ sha256 }, at) => digests[at] !== sha256);
  }
  const before = await heldShard(mirror, shard);
  const held = new Map(before.map((file) => [file.path, file.sha256]));
  return unstaged.filter((file) => behind.has(file.path) || held.get(file.path) !== file.sha256);
}

const isNoted = (path: string): boolean =>
  path === feedPaths.state || /^snapshot\/nonprofits\/\d+\.ndjson\.gz$/.test(path);

const stagedShard = async (mirror: MirrorFolder, shard: ShardReference) =>
  shardFrom(await readFile(mirror.stagedPath(shard.sha256), "utf8"), shard).files;

/** What is in place was looked at when it was gathered, by the list of then. */
const heldShard = async (mirror: MirrorFolder, { path }: ShardReference) =>
  ((await readShape(mirror.pathOf(path), ManifestShard)) ?? stop({ kind: "damaged", path })).files;

/** Where the newest version of a noted file is: gathered, or in place already. */
export function newestOf({ mirror, noted }: Gathering, path: string): string {
  const sha256 = noted.get(path);
  return sha256 !== undefined && mirror.isStaged(sha256)
    ? mirror.stagedPath(sha256)
    : mirror.pathOf(path);
}

/** Gathers one file, unless it is gathered already; false when the origin has other bytes or none. */
async function fetched(
  { origin, mirror, onFile }: Gathering,
  { path, sha256, size }: ManifestEntry,
  misfits: Misfits,
): Promise<boolean> {
  if (mirror.isStaged(sha256)) return true;
  const isFetched = await origin.download({ path, sha256, size }, mirror.stagedPath(sha256));
  if (isFetched) onFile(size);
  else misfits.set(path, sha256);
  return isFetched;
}

/**
 * Joins the snapshot from its parts, which are here already: most of it need not be fetched again. False when that
 * does not give the expected bytes.
 */
async function joinedHere(gathering: Gathering, snapshot: ManifestEntry): Promise<boolean> {
  const { mirror } = gathering;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let size = 0;
    for (let part = 1; size < snapshot.size; part++) {
      const piece = newestOf(gathering, feedPaths.snapshotPart(part));
      if (!existsSync(piece)) return;
      size += statSync(piece).size;
      yield* createReadStream(piece);
    }
  }
  const target = mirror.stagedPath(snapshot.sha256);
  return mirror.isStaged(snapshot.sha256) || save(pieces(), snapshot, target);
}

const ranks = [0, 1, 2, 3];

type Installing = Pick<Gathering, "mirror" | "known" | "behind">;

/**
 * Puts what was gathered in place, each file at once: assets, then profiles, then what names them, the feed's state
 * and the list itself; what is gone is removed last. Every file must be gathered, or in place, or among `left`.
 */
export async function install(installing: Installing, list: SignedList, left: ReadonlySet<string>) {
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
      for (const { path, sha256 } of ranked) mirror.put(path, sha256);
      changed += ranked.length;
    }
  }
  for (const { path, sha256 } of shards) mirror.put(path, sha256);
  await mirror.write(feedPaths.manifest, list.bytes);
  await mirror.write(feedPaths.signature, list.signature);
  for (const path of gone) await mirror.remove(path);
  return { changed, removed: gone.length };
}

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
  for (const path of listed) {
    const file = foldersOf(path).find((folder) => listed.has(folder));
    if (file === undefined) continue;
    return stop({
      kind: "bad_list",
      reason: `${JSON.stringify(file)} is a file and a folder in it`,
    });
  }
  const gone: string[] = [];
  if (known === null) {
    for (const { path } of list.shards) listed.add(path);
    for (const path of [feedPaths.manifest, feedPaths.signature]) listed.add(path);
    for (const path of mirror.files()) if (!listed.has(path)) gone.push(path);
    return gone;
  }
  for (const shard of shards) {
    const before = (await heldShard(mirror, shard)).map(({ path }) => path);
    gone.push(...before.filter((path) => !listed.has(path)));
  }
  return gone;
}

/** The folders that a path is in. */
const foldersOf = (path: string): string[] =>
  path.split("/").flatMap((_, at, names) => (at === 0 ? [] : [names.slice(0, at).join("/")]));
