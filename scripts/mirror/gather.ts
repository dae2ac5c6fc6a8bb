import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { open, readFile, rename, rm } from "node:fs/promises";
import {
  type BundleManifest,
  feedPaths,
  type ManifestEntry,
  type ShardReference,
} from "#content/contract/feed.ts";
import { exportRank } from "#site/bundle/export-release.ts";
import { shardOf } from "#site/bundle/signed-list.ts";
import { digestOfFile, eachLimited, type MirrorFolder } from "./mirror-folder.ts";
import { type FetchFailure, type Origin, type SignedList, shardFrom } from "./origin.ts";

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
  /** Digests of the snapshot's parts, as far as they were listed in a shard that was looked at. */
  readonly parts: Map<string, string>;
  readonly onFile: (bytes: number) => void;
};

/** Files of which the origin sent other bytes than the list tells, or none; by path, with the digest expected. */
export type Misfits = Map<string, string>;

/** The origin cannot be reached; what is gathered stays for the next time. */
export class OriginUnreachable extends Error {
  override name = "OriginUnreachable";
  readonly failure: FetchFailure;
  constructor(failure: FetchFailure) {
    super(
      `${failure.path} could not be fetched: ${"reason" in failure ? failure.reason : failure.kind}`,
    );
    this.failure = failure;
  }
}

/** Gathers beside the folder all files that it lacks, each checked against the signed list. */
export async function gather(gathering: Gathering, list: BundleManifest): Promise<Misfits> {
  const misfits: Misfits = new Map();
  const snapshots: ManifestEntry[] = [];
  const shards = changedShards(gathering, list).filter(({ sha256 }) => !gathering.done.has(sha256));
  await eachLimited(shards, shardsAtOnce, async (reference) => {
    if (!(await fetched(gathering, { ...reference }, misfits))) return;
    const lacking = await lackingFiles(gathering, reference);
    await eachLimited(lacking, filesAtOnce, async (file) => {
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
  { mirror, known, behind, parts }: Gathering,
  { path, sha256 }: ShardReference,
): Promise<ManifestEntry[]> {
  const { files } = shardFrom(await readFile(mirror.stagedPath(sha256), "utf8"));
  for (const file of files) {
    if (snapshotPartPath.test(file.path)) parts.set(file.path, file.sha256);
  }
  const unstaged = files.filter((file) => !mirror.isStaged(file.sha256));
  if (known === null) return await differingOnDisk(mirror, unstaged);
  const before = shardFrom(await readFile(mirror.pathOf(path), "utf8"));
  const held = new Map(before.files.map((file) => [file.path, file.sha256]));
  return unstaged.filter((file) => behind.has(file.path) || held.get(file.path) !== file.sha256);
}

const snapshotPartPath = /^snapshot\/nonprofits\/\d+\.ndjson\.gz$/;

async function differingOnDisk(
  mirror: MirrorFolder,
  files: readonly ManifestEntry[],
): Promise<ManifestEntry[]> {
  const differing: ManifestEntry[] = [];
  for (const file of files) {
    if ((await digestOfFile(mirror.pathOf(file.path))) !== file.sha256) differing.push(file);
  }
  return differing;
}

/** Gathers one file, unless it is gathered already; false when the origin has other bytes or none. */
async function fetched(
  { origin, mirror, onFile }: Gathering,
  file: ManifestEntry,
  misfits: Misfits,
): Promise<boolean> {
  if (mirror.isStaged(file.sha256)) return true;
  const outcome = await origin.download(file, mirror.stagedPath(file.sha256));
  if (outcome.ok) {
    onFile(outcome.value);
    return true;
  }
  if (outcome.failure.kind === "unreachable") throw new OriginUnreachable(outcome.failure);
  misfits.set(file.path, file.sha256);
  return false;
}

/**
 * Joins the snapshot from its parts, which are here already: most of it need not be fetched again. False when that
 * does not give the expected bytes.
 */
async function joinedHere(gathering: Gathering, snapshot: ManifestEntry): Promise<boolean> {
  const { mirror } = gathering;
  if (mirror.isStaged(snapshot.sha256)) return true;
  const draft = `${mirror.stagedPath(snapshot.sha256)}.draft`;
  const hasher = createHash("sha256");
  const file = await open(draft, "w");
  let size = 0;
  try {
    for (let part = 1; size < snapshot.size; part++) {
      const piece = partOnDisk(gathering, feedPaths.snapshotPart(part));
      if (!existsSync(piece)) break;
      for await (const chunk of createReadStream(piece)) {
        hasher.update(chunk as Uint8Array);
        size += (chunk as Uint8Array).length;
        await file.writeFile(chunk as Uint8Array);
      }
    }
  } finally {
    await file.close();
  }
  const fits = size === snapshot.size && hasher.digest("hex") === snapshot.sha256;
  if (fits) await rename(draft, mirror.stagedPath(snapshot.sha256));
  else await rm(draft, { force: true });
  return fits;
}

/** Where the newest version of a part is: gathered, or in place already. */
function partOnDisk({ mirror, parts }: Gathering, path: string): string {
  const sha256 = parts.get(path);
  return sha256 !== undefined && mirror.isStaged(sha256)
    ? mirror.stagedPath(sha256)
    : mirror.pathOf(path);
}

const filesInstalledAtOnce = 16;
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
      await eachLimited(ranked, filesInstalledAtOnce, ({ path, sha256 }) =>
        mirror.put(path, sha256),
      );
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
