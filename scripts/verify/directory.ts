import { sha256Of, sha256OfFile } from "#content/runtime/digest.ts";
import { lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  BundleManifest,
  feedPaths,
  isManifestPath,
  type ManifestEntry,
  ManifestShard,
  type ShardReference,
} from "#content/contract/feed.ts";
import { objectIn } from "#content/contract/base/json.ts";
import { isSignatureOf, keyIdOf, type PublicKey } from "#content/feed/signing-keys.ts";
import { eachAtMost, retry } from "#content/runtime/concurrency.ts";
import { everyPath } from "#content/runtime/files.ts";
import { namesBelow, totalsOf } from "#site/bundle/signed-list.ts";
import { keysIn, keysNamed, readBytes, textOf, Unproven, unreadable } from "./source.ts";

/** Reads a file of a published directory by its path, at most `bytesMax` bytes. */
type ReadFile = (path: string, bytesMax: number) => Promise<Uint8Array>;

/** The key that must have signed a list, and an earlier copy (or its list) than which it must not be older. */
export type ListPins = { key: string | undefined; after: string | undefined; now: Date };

const smallBytesMax = 65_536;
const listBytesMax = 1_048_576;
/** Enough for 400,000 files in a shard: a hundred million profiles. */
const shardBytesMax = 64 * 2 ** 20;

/** A list and its key. `pinned`: the key is vouched for by more than the directory itself. */
export type SignedList = { manifest: BundleManifest; key: PublicKey; pinned: boolean };

/** Reads the list of a directory. Refuses one of another key, an older or expired one, and one that is inconsistent. */
async function readList(readFile: ReadFile, pins: ListPins): Promise<SignedList> {
  const list = await readClaim(readFile);
  const older = pins.after === undefined ? null : await readClaim(olderIn(pins.after));
  // An id is a digest of its key, whoever publishes that.
  const keys =
    pins.key === undefined || pins.key === list.kid
      ? await keysIn(textOf(await readFile(feedPaths.keys, smallBytesMax)))
      : await keysNamed(pins.key);
  // A named key may be newer than the one that signed the older list.
  const kid = pins.key === undefined && older !== null ? older.kid : list.kid;
  const key = keys.find((candidate) => candidate.kid === kid);
  if (key === undefined || !(await isSigned(list, key))) {
    const words = `REFUSED: the list of files names the key ${list.kid}, and is not signed by the one expected. If the directory has a new key, ask its operator for the key's id, and name the key by --key.`;
    throw new Unproven("not_signed_by", 1, words, { signed_by: list.kid });
  }
  if (older !== null) await refuseOlder(list, older, key);
  refuseOdd(list.manifest, pins.now);
  return { manifest: list.manifest, key, pinned: pins.key !== undefined || older !== null };
}

const olderIn = (after: string): ReadFile => {
  const isCopy = statSync(after, { throwIfNoEntry: false })?.isDirectory() === true;
  const path = isCopy ? join(after, feedPaths.manifest) : after;
  return (file, bytesMax) =>
    readBytes(file === feedPaths.manifest ? path : `${path}.jws`, bytesMax);
};

type Claim = { signature: string; bytes: Uint8Array; kid: string; manifest: BundleManifest };

/** A list and its signature as they were read; nothing is verified yet. */
async function readClaim(readFile: ReadFile): Promise<Claim> {
  const signature = textOf(await readFile(feedPaths.signature, smallBytesMax));
  const bytes = await readFile(feedPaths.manifest, listBytesMax);
  const manifest = BundleManifest.safeParse(objectIn(textOf(bytes)));
  const kid = keyIdOf(signature);
  if (manifest.success && kid !== null) return { signature, bytes, kid, manifest: manifest.data };
  throw new Unproven("no_directory", 2, "This is no signed list of a directory's files.");
}

const isSigned = ({ signature, bytes }: Claim, key: PublicKey): Promise<boolean> =>
  isSignatureOf(signature, bytes, key);

async function refuseOlder({ manifest }: Claim, older: Claim, key: PublicKey): Promise<void> {
  if (older.kid === key.kid && !(await isSigned(older, key))) {
    throw new Unproven(
      "damaged",
      2,
      "--after: the older list is damaged: its key did not sign it.",
    );
  }
  const sequence = manifest.issue.sequence;
  const taken = older.manifest.issue.sequence;
  if (sequence >= taken) return;
  const words = `REFUSED: the list of files (${sequence}) is older than the one before (${taken}): somebody may be showing an old state. A directory that was restored from a backup issues a newer list within a day.`;
  throw new Unproven("rolled_back", 1, words, { sequence, taken });
}

function refuseOdd({ issue: { expires_at }, files, bytes, shards }: BundleManifest, now: Date) {
  if (Date.parse(expires_at) < now.getTime()) {
    const words = `REFUSED: the list of files expired at ${expires_at}: the directory's publisher stands still, or somebody holds newer lists back. Check that this machine's clock is right, and ask the directory's operator.`;
    throw new Unproven("expired", 1, words, { expires_at });
  }
  const sums = totalsOf(shards);
  if (sums.files !== files || sums.bytes !== bytes)
    throw badList("its parts do not add up to its totals");
  if (!isList(shards, "")) throw badList("one of its parts has another name or size");
}

/**
 * Calls `work` for every file of a list, except the list's own files in the root: eight shards at a time, and files one by
 * one. A shard of a long list names further shards, which count as files, too.
 */
const eachEntry = (
  readFile: ReadFile,
  { manifest }: SignedList,
  work: (entry: ManifestEntry) => Promise<void> | void,
): Promise<void> => {
  const follow = async (shard: ShardReference): Promise<void> => {
    const bytes = await readFile(shard.path, shard.size);
    if (sha256Of(bytes) !== shard.sha256) {
      const words = `REFUSED: ${shard.path} is not what the signed list says. Either the directory changed while it was read, then fetch and check again, or somebody altered it.`;
      throw new Unproven("altered", 1, words, { path: shard.path });
    }
    const { files, parts } = entriesOf(bytes, shard);
    for (const entry of files) await work(entry);
    for (const part of parts) {
      await follow(part);
      await work(part);
    }
  };
  return eachAtMost(8, manifest.shards, follow);
};

/** The files of a shard, or its further shards. Refuses a shard with stray paths, or one that differs from its totals. */
function entriesOf(bytes: Uint8Array, { path: shardPath, ...totals }: ShardReference) {
  const shardContent = ManifestShard.safeParse(objectIn(textOf(bytes)));
  if (!shardContent.success) {
    const [issue] = shardContent.error.issues;
    throw badList(`${shardPath}: ${issue?.path.join(".")}: ${issue?.message}`);
  }
  const { shard, files = [], parts = [] } = shardContent.data;
  const isStray = (path: string) => isManifestPath(path) || !sha256Of(path).startsWith(shard);
  const stray = files.find(({ path }) => isStray(path));
  if (stray !== undefined) throw badList(`${shardPath} lists ${JSON.stringify(stray.path)}`);
  const isWhole = parts.length === 0 || isList(parts, shard);
  const fileTotals = files.map(({ size }) => ({ files: 1, bytes: size }));
  const sums = totalsOf([...fileTotals, ...parts]);
  const adds = sums.files === totals.files && sums.bytes === totals.bytes;
  if (feedPaths.shard(shard) === shardPath && isWhole && adds) return { files, parts };
  throw badList(`${shardPath} differs from its totals`);
}

/** Whether these are all shards below this one, with the right names and sizes. */
function isList(parts: readonly ShardReference[], name: string): boolean {
  const names = namesBelow(name);
  return (
    parts.length === names.length &&
    parts.every(
      ({ path, size }, at) => path === feedPaths.shard(names[at] ?? "") && size <= shardBytesMax,
    )
  );
}

const badList = (reason: string) =>
  new Unproven("bad_list", 1, `REFUSED: the signed list cannot be followed: ${reason}.`, {
    reason,
  });

/** The list's own files, which it cannot list. They are fetched last, so a copy's list is not older than its files. */
const ownPaths = ({ manifest }: SignedList): string[] => [
  ...manifest.shards.map(({ path }) => path),
  feedPaths.manifest,
  feedPaths.signature,
];

/** Failures that may pass: the origin replaces list, signature and shards one after the other. */
const mayPass: ReadonlySet<string> = new Set(["altered", "not_signed_by", "unreachable"]);

/** The addresses of all files of the directory at a URL. */
export async function addressesOf(url: string, pins: ListPins) {
  const base = url.replace(/\/+$/, "");
  const addressOf = (path: string) =>
    `${base}/${path.split("/").map(encodeURIComponent).join("/")}`;
  const read: ReadFile = (path, bytesMax) => readBytes(addressOf(path), bytesMax);
  const readAll = async () => {
    const list = await readList(read, pins);
    const paths: string[] = [];
    const lists: string[] = [];
    await eachEntry(
      read,
      list,
      ({ path }) => void (isManifestPath(path) ? lists : paths).push(path),
    );
    return { list, addresses: [...paths, ...lists, ...ownPaths(list)].map(addressOf) };
  };
  const outcome = await retry(
    () => readAll().catch((error: unknown) => ({ error })),
    (result) =>
      "error" in result && result.error instanceof Unproven && mayPass.has(result.error.kind),
    { triesMax: 4, firstMs: 250 },
  );
  if ("error" in outcome) throw outcome.error;
  return outcome;
}

/** Compares every file of a copy with its signed list. Symbolic links do not count as files. */
export async function compareCopy(folder: string, pins: ListPins) {
  const readFile: ReadFile = (path, bytesMax) => {
    const file = join(folder, path);
    const isFile = lstatSync(file, { throwIfNoEntry: false })?.isFile() === true;
    return isFile ? readBytes(file, bytesMax) : Promise.reject(unreadable(file, "there is none"));
  };
  const list = await readList(readFile, pins);
  const listedPaths = new Set(ownPaths(list));
  const paths = { missing: [] as string[], altered: [] as string[], extra: [] as string[] };
  await eachEntry(readFile, list, async (entry) => {
    listedPaths.add(entry.path);
    const state = await stateOf(join(folder, entry.path), entry);
    if (state !== "whole") paths[state].push(entry.path);
  });
  for (const path of everyPath(folder)) if (!listedPaths.has(path)) paths.extra.push(path);
  return { list, ...paths };
}

async function stateOf(path: string, { sha256, size }: ManifestEntry) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return "missing";
  // Reads no more bytes than the list allows.
  if (!stat.isFile() || stat.size !== size) return "altered";
  return (await sha256OfFile(path)) === sha256 ? "whole" : "altered";
}
