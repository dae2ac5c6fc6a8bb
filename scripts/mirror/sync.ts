import { readFile } from "node:fs/promises";
import {
  BundleManifest,
  FeedFile,
  FeedState,
  feedPaths,
  isManifestPath,
} from "#content/contract/feed.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type { PublicKey } from "#content/feed/keys.ts";
import { shardOf } from "#site/bundle/signed-list.ts";
import { type Gathering, type Misfits, gather, install } from "./gather.ts";
import type { MirrorFolder, MirrorState } from "./mirror-folder.ts";
import {
  type ListFailure,
  type Origin,
  type SignedList,
  publishedKey,
  readList,
  readSignature,
} from "./origin.ts";

export type SyncOptions = {
  origin: Origin;
  mirror: MirrorFolder;
  /** The key that the operator named; null: the one pinned at the first run, or the one the origin shows then. */
  key: PublicKey | null;
  /** Look at every file in the folder instead of believing what the last run left. */
  check: boolean;
  /** How long an origin may be between two states before its files are refused. */
  patienceMs: number;
  /** The first pause before the origin is looked at again. */
  pauseMs: number;
  onFile: (bytes: number) => void;
};

export type SyncReport = {
  epoch: string;
  sequence: number;
  files: number;
  changed: number;
  removed: number;
  fetched_bytes: number;
  /** What happened to nonprofits since the last run, by the feed; null for a first run or a new epoch. */
  nonprofits: Record<string, number> | null;
  /** Files that changed faster than they could be fetched; they come with the next run. */
  behind: string[];
  kid: string;
};

export type SyncFailure =
  | ListFailure
  /** The folder holds something that no mirror put there. */
  | { kind: "not_a_mirror" }
  /** Files of the origin differ from its signed list, and the list does not change. */
  | { kind: "tampered"; paths: string[] }
  /** The list itself changes faster than it can be fetched. */
  | { kind: "restless"; paths: string[] };

/**
 * Brings a folder in step with a published directory. Nothing in the folder is touched before every file is gathered
 * and checked against the signed list. Throws OriginUnreachable when the origin stays away; the next run goes on where
 * this one ended.
 */
export async function syncMirror(options: SyncOptions): Promise<Result<SyncReport, SyncFailure>> {
  const { origin, mirror, onFile } = options;
  const state = mirror.state();
  if (state === null && !mirror.isEmpty()) return fail({ kind: "not_a_mirror" });
  const key = await keyFor(options, state);
  if (!key.ok) return key;
  if (await isUnchanged(options, state, key.value)) {
    return ok(await reportOf(options, state, { changed: 0, removed: 0, fetchedBytes: 0 }));
  }
  let fetchedBytes = 0;
  const trusted = state !== null && !state.installing && !options.check;
  const gathering: Gathering = {
    origin,
    mirror,
    known: trusted ? await heldList(mirror) : null,
    behind: new Set(state?.behind),
    done: new Set(),
    parts: new Map(),
    onFile: (bytes) => {
      fetchedBytes += bytes;
      onFile(bytes);
    },
  };
  const gathered = await gatherPatiently(options, gathering, key.value);
  if (!gathered.ok) return gathered;
  const { list, left } = gathered.value;
  const feed = await feedStateOf(mirror, list);
  if (trusted && feed.epoch !== state.epoch) return syncMirror({ ...options, check: true });
  const next: MirrorState = {
    version: 1,
    key: key.value,
    epoch: feed.epoch,
    sequence: feed.sequence,
    installing: true,
    behind: left,
  };
  await mirror.keepState(next);
  const installed = await install(gathering, list, new Set(left));
  await mirror.settle({ ...next, installing: false });
  return ok(await reportOf(options, state, { ...installed, fetchedBytes }));
}

async function keyFor(
  { key, origin }: SyncOptions,
  state: MirrorState | null,
): Promise<Result<PublicKey, ListFailure>> {
  const pinned = key ?? state?.key ?? null;
  return pinned === null ? publishedKey(origin) : ok(pinned);
}

/** Whether the origin's signature is the one that is here: then every file is the same. */
async function isUnchanged(
  { origin, mirror, check }: SyncOptions,
  state: MirrorState | null,
  key: PublicKey,
): Promise<boolean> {
  if (check || state === null) return false;
  if (state.installing || state.behind.length > 0 || state.key.x !== key.x) return false;
  const signature = await readSignature(origin);
  const held = await readFile(mirror.pathOf(feedPaths.signature)).catch(() => null);
  return signature.ok && held !== null && held.equals(signature.value);
}

/** Gathers, and while the origin moves on, reads its list again and gathers what is new. */
async function gatherPatiently(
  options: SyncOptions,
  gathering: Gathering,
  key: PublicKey,
): Promise<Result<{ list: SignedList; left: string[] }, SyncFailure>> {
  const deadlineMs = performance.now() + options.patienceMs;
  const seen: Seen = { lists: new Set(), files: new Map() };
  for (let pauseMs = options.pauseMs; ; pauseMs = Math.min(pauseMs * 2, 5_000)) {
    const list = await readList(options.origin, key, options.pauseMs);
    if (!list.ok) return list;
    const misfits = await gather(gathering, list.value.manifest);
    if (misfits.size === 0) return ok({ list: list.value, left: [] });
    note(seen, list.value, misfits);
    if (performance.now() > deadlineMs) return judge(seen, list.value, misfits);
    await Bun.sleep(pauseMs);
  }
}

/** The lists of a run, and for each misfit the digests that were expected of it and in how many rounds. */
type Seen = {
  lists: Set<string>;
  files: Map<string, { expected: Set<string>; rounds: number }>;
};

function note({ lists, files }: Seen, list: SignedList, misfits: Misfits): void {
  lists.add(new TextDecoder().decode(list.signature));
  for (const [path, sha256] of misfits) {
    const file = files.getOrInsertComputed(path, () => ({ expected: new Set(), rounds: 0 }));
    file.expected.add(sha256);
    file.rounds += 1;
  }
}

/** Rounds in which a file may misfit one and the same list while other files change. */
const misfitRoundsMax = 3;

/** What to make of files that still differ: busy ones are left for the next run, others are refused. */
function judge({ lists, files }: Seen, list: SignedList, misfits: Misfits) {
  const left = [...misfits.keys()].toSorted();
  const refused = left.filter((path) => {
    const file = files.get(path);
    if (file === undefined || lists.size === 1) return true;
    return file.expected.size === 1 && file.rounds >= misfitRoundsMax;
  });
  if (refused.length > 0) return fail({ kind: "tampered", paths: refused } as const);
  if (left.some(isManifestPath)) return fail({ kind: "restless", paths: left } as const);
  return ok({ list, left });
}

/** The list that the folder was filled by. */
async function heldList(mirror: MirrorFolder): Promise<BundleManifest | null> {
  const text = await readFile(mirror.pathOf(feedPaths.manifest), "utf8").catch(() => null);
  return text === null ? null : BundleManifest.parse(JSON.parse(text));
}

/** The feed's state as gathered, or as it is in place when it did not change. */
async function feedStateOf(mirror: MirrorFolder, list: SignedList): Promise<FeedState> {
  const path = feedPaths.state;
  const sha256 = await listedDigest(mirror, list, path);
  const from = sha256 !== null && mirror.isStaged(sha256) ? mirror.stagedPath(sha256) : null;
  return FeedState.parse(JSON.parse(await readFile(from ?? mirror.pathOf(path), "utf8")));
}

async function listedDigest(
  mirror: MirrorFolder,
  { manifest }: SignedList,
  path: string,
): Promise<string | null> {
  const reference = manifest.shards.find((shard) => shard.path === feedPaths.shard(shardOf(path)));
  if (reference === undefined || !mirror.isStaged(reference.sha256)) return null;
  const { files } = JSON.parse(await readFile(mirror.stagedPath(reference.sha256), "utf8"));
  return files.find((file: { path: string }) => file.path === path)?.sha256 ?? null;
}

const feedFilesReadMax = 10_000;

async function reportOf(
  { mirror }: SyncOptions,
  before: MirrorState | null,
  done: { changed: number; removed: number; fetchedBytes: number },
): Promise<SyncReport> {
  const state = mirror.state();
  const list = await heldList(mirror);
  if (state === null || list === null) throw new Error("a finished mirror has a state and a list");
  const follows = before !== null && before.epoch === state.epoch;
  return {
    epoch: state.epoch,
    sequence: state.sequence,
    files: list.files,
    changed: done.changed,
    removed: done.removed,
    fetched_bytes: done.fetchedBytes,
    nonprofits: follows ? await countsSince(mirror, before.sequence, state.sequence) : null,
    behind: state.behind,
    kid: state.key.kid,
  };
}

/** Counts by kind what the feed's files after one tell, up to another. */
async function countsSince(mirror: MirrorFolder, after: number, upTo: number) {
  const counts: Record<string, number> = {};
  const last = Math.min(upTo, after + feedFilesReadMax);
  for (let number = after + 1; number <= last; number++) {
    const text = await readFile(mirror.pathOf(feedPaths.file(number)), "utf8");
    for (const { kind, slug } of FeedFile.parse(JSON.parse(text)).entries) {
      if (slug !== null) counts[kind] = (counts[kind] ?? 0) + 1;
    }
  }
  return counts;
}
