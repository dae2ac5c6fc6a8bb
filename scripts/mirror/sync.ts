import { readFile } from "node:fs/promises";
import {
  BundleManifest,
  FeedFile,
  FeedState,
  feedPaths,
  isManifestPath,
} from "#content/contract/feed.ts";
import type { Clock } from "#content/contract/base/time.ts";
import { fail, ok, type Result } from "#content/contract/base/result.ts";
import type { PublicKey } from "#content/feed/signing-keys.ts";
import { codeOf } from "#site/bundle/blobs.ts";
import { type MirrorFolder, type MirrorState, readShape } from "./folder.ts";
import { type Gathering, gather, install, type Misfits, newestOf } from "./gather.ts";
import {
  accept,
  type Origin,
  publishedKey,
  readList,
  readSignature,
  type SignedList,
  stop,
  type SyncFailure,
  SyncStopped,
} from "./origin.ts";

export type SyncOptions = {
  origin: Origin;
  mirror: MirrorFolder;
  /** The key that the operator named; null: the one pinned at the first run, or the one the origin shows then. */
  key: PublicKey | null;
  /** Take another key than the pinned one, if the origin shows it. */
  acceptNewKey: boolean;
  /** The most that the folder may hold. */
  limits: { bytesMax: number; filesMax: number };
  clock: Clock;
  /** Look at every file in the folder instead of believing what the last run left. */
  check: boolean;
  /** How long an origin may be between two states before its files are refused. */
  patienceMs: number;
  /** The first pause before the origin is looked at again. */
  pauseMs: number;
  /** Called after each file that was fetched. */
  onFile: () => void;
};

export type SyncReport = Awaited<ReturnType<typeof reportOf>>;

/**
 * Brings a folder in step with a published directory. Nothing in the folder is touched before every file is gathered
 * and checked against the signed list. The next run goes on where one ended that failed.
 */
export async function syncMirror(options: SyncOptions): Promise<Result<SyncReport, SyncFailure>> {
  try {
    return ok(await sync(options));
  } catch (error) {
    // Damage in the folder is looked for in every file, and repaired.
    const isDamaged = error instanceof SyncStopped && error.failure.kind === "damaged";
    if (isDamaged && !options.check) return syncMirror({ ...options, check: true });
    if (error instanceof SyncStopped) return fail(error.failure);
    if (!(error instanceof Error) || !diskTroubles.has(codeOf(error))) throw error;
    return fail({ kind: "disk", reason: error.message });
  }
}

const diskTroubles: ReadonlySet<string> = new Set([
  ...["ENOSPC", "EDQUOT", "EACCES", "EROFS"],
  // A path of the list that is a file here and a folder there, or a name that is too long.
  ...["ENOTDIR", "EISDIR", "EEXIST", "ENOTEMPTY", "ENAMETOOLONG"],
]);

async function sync(options: SyncOptions): Promise<SyncReport> {
  const { origin, mirror, check, onFile } = options;
  const state = await mirror.state();
  if (state === null && !mirror.isEmpty()) return stop({ kind: "not_a_mirror" });
  const key = await keyFor(options, state);
  if (await isUnchanged(options, state, key)) {
    return reportOf(mirror, state, { changed: 0, removed: 0, fetchedBytes: 0 });
  }
  let fetchedBytes = 0;
  const trusted = state !== null && !state.installing && !check;
  const gathering: Gathering = {
    origin,
    mirror,
    known: trusted ? await heldList(mirror) : null,
    behind: new Set(state?.behind),
    done: new Set(),
    noted: new Map(),
    onFile: (bytes) => {
      fetchedBytes += bytes;
      onFile();
    },
  };
  const { list, left } = await gatherPatiently(options, gathering, { key, state });
  const feed = await readShape(newestOf(gathering, feedPaths.state), FeedState);
  if (feed === null) {
    return stop({ kind: "bad_list", reason: `${feedPaths.state} is missing or has another form` });
  }
  if (trusted && feed.epoch !== state.epoch) return sync({ ...options, check: true });
  const next: MirrorState = {
    version: 1,
    key,
    epoch: feed.epoch,
    sequence: feed.sequence,
    list: list.manifest.issue.sequence,
    installing: true,
    behind: left,
  };
  await mirror.saveState(next);
  const installed = await install(gathering, list, new Set(left));
  await mirror.finish({ ...next, installing: false });
  return reportOf(mirror, state, { ...installed, fetchedBytes });
}

/** The key that the operator named, or the one pinned at the first run, or the one that the origin shows now. */
const keyFor = async ({ key, acceptNewKey, origin }: SyncOptions, state: MirrorState | null) =>
  key ?? (acceptNewKey ? null : state?.key) ?? (await publishedKey(origin));

const acceptable = ({ clock, limits }: SyncOptions, state: MirrorState | null) => ({
  ...limits,
  taken: state?.list ?? null,
  now: clock(),
});

/** Whether the origin's signature is the one that is here: then every file is the same. */
async function isUnchanged(
  options: SyncOptions,
  state: MirrorState | null,
  key: PublicKey,
): Promise<boolean> {
  const { origin, mirror, check } = options;
  if (check || state === null) return false;
  if (state.installing || state.behind.length > 0 || state.key.x !== key.x) return false;
  const held = await readFile(mirror.pathOf(feedPaths.signature)).catch(() => null);
  if (held?.equals(await readSignature(origin)) !== true) return false;
  // The same list for too long is an origin that stands still, or somebody who holds newer ones back.
  const list = await heldList(mirror);
  if (list !== null) accept(list, acceptable(options, state));
  return list !== null;
}

/** The list whose files are gathered, but for those that are left for the next run. */
type Gathered = { list: SignedList; left: string[] };

/** Gathers, and while the origin moves on, reads its list again and gathers what is new. */
async function gatherPatiently(
  options: SyncOptions,
  gathering: Gathering,
  { key, state }: { key: PublicKey; state: MirrorState | null },
): Promise<Gathered> {
  const deadlineMs = performance.now() + options.patienceMs;
  const seen: Seen = { lists: new Set(), files: new Map() };
  for (let pauseMs = options.pauseMs; ; pauseMs = Math.min(pauseMs * 2, 5_000)) {
    const list = await readList(options.origin, key, options.pauseMs);
    accept(list.manifest, acceptable(options, state));
    const misfits = await gather(gathering, list.manifest);
    if (misfits.size === 0) return { list, left: [] };
    note(seen, list, misfits);
    if (performance.now() > deadlineMs) return judge(seen, list, misfits);
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
function judge({ lists, files }: Seen, list: SignedList, misfits: Misfits): Gathered {
  const left = [...misfits.keys()].toSorted();
  const refused = left.filter((path) => {
    const file = files.get(path);
    if (file === undefined || lists.size === 1) return true;
    return file.expected.size === 1 && file.rounds >= misfitRoundsMax;
  });
  if (refused.length > 0) return stop({ kind: "tampered", paths: refused });
  if (left.some(isManifestPath)) return stop({ kind: "restless", paths: left });
  return { list, left };
}

/** The list that the folder was filled by; null for one that is damaged, or of version 0.3.0. */
const heldList = (mirror: MirrorFolder) =>
  readShape(mirror.pathOf(feedPaths.manifest), BundleManifest);

const feedFilesReadMax = 10_000;

async function reportOf(
  mirror: MirrorFolder,
  before: MirrorState | null,
  done: { changed: number; removed: number; fetchedBytes: number },
) {
  const state = await mirror.state();
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
    /** What happened to nonprofits since the last run, by the feed; null for a first run or a new epoch. */
    nonprofits: follows ? await countsSince(mirror, before.sequence, state.sequence) : null,
    /** Files that changed faster than they could be fetched; they come with the next run. */
    behind: state.behind,
    kid: state.key.kid,
  };
}

/** Counts by kind what the feed's files after one tell, up to another; null when one cannot be read. */
async function countsSince(mirror: MirrorFolder, after: number, upTo: number) {
  const counts: Record<string, number> = {};
  const last = Math.min(upTo, after + feedFilesReadMax);
  for (let number = after + 1; number <= last; number++) {
    const file = await readShape(mirror.pathOf(feedPaths.file(number)), FeedFile);
    if (file === null) return null;
    for (const { kind, slug } of file.entries) {
      if (slug !== null) counts[kind] = (counts[kind] ?? 0) + 1;
    }
  }
  return counts;
}
