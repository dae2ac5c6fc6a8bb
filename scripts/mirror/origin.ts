import { fetchPlain } from "#content/runtime/plain-fetch.ts";
import { rename, rm } from "node:fs/promises";
import { z } from "zod";
import {
  BundleManifest,
  BundlePath,
  feedPaths,
  isManifestPath,
  ManifestShard,
  type ShardReference,
} from "#content/contract/feed.ts";
import {
  KeySet,
  keyIdOf,
  type PublicKey,
  publicKeyOf,
  verifyDetached,
} from "#content/feed/signing-keys.ts";
import { retry } from "#content/runtime/retry.ts";
import { shardNames, shardOf } from "#site/bundle/signed-list.ts";
import { codeOf, writeHashed } from "#site/bundle/blobs.ts";

/** Why a run left the folder as it was. What was gathered stays for the next run. */
export type SyncFailure =
  | { kind: "not_found"; path: string }
  | { kind: "unreachable"; path: string; reason: string }
  /** The folder, or the one beside it, could not be written: another run may find room. */
  | { kind: "disk"; reason: string }
  | { kind: "no_directory"; reason: string }
  /** The list is not signed by the key that is pinned. */
  | { kind: "not_signed_by"; kid: string; signedBy: string }
  /** The list is older than the one this mirror took before. */
  | { kind: "rolled_back"; sequence: number; taken: number }
  /** No newer list came in time. */
  | { kind: "expired"; expires_at: string }
  /** The list, though signed, is none that a mirror can follow. */
  | { kind: "bad_list"; reason: string }
  /** There is more than this mirror takes. */
  | { kind: "too_large"; reason: string }
  /** What the mirror stored itself cannot be read. */
  | { kind: "damaged"; path: string }
  /** The folder holds something that no mirror put there. */
  | { kind: "not_a_mirror" }
  /** Files of the origin differ from its signed list, and the list does not change. */
  | { kind: "tampered"; paths: string[] }
  /** The list itself changes faster than it can be fetched. */
  | { kind: "restless"; paths: string[] };

/** Ends a run; `syncMirror` answers the failure. */
export class SyncStopped extends Error {
  override name = "SyncStopped";
  readonly failure: SyncFailure;
  constructor(failure: SyncFailure) {
    super(failure.kind);
    this.failure = failure;
  }
}

/** Ends the run. */
export const stop = (failure: SyncFailure): never => {
  throw new SyncStopped(failure);
};

export type OriginOptions = {
  /** Every request and every pause between pieces of an answer. Default 30 s. */
  timeoutMs?: number;
  /** Tries of one request while the origin does not answer or is busy. Default 4. */
  attemptsMax?: number;
  signal?: AbortSignal;
};

export type Origin = ReturnType<typeof openOrigin>;

/** Takes the pieces of an answer as they come. */
type Take<Value> = (pieces: AsyncIterable<Uint8Array>) => Promise<Value>;

/** The published directory at a URL: any web server that sends the files of a bundle by their paths. */
export function openOrigin(baseUrl: string, options: OriginOptions = {}) {
  /** Null when there is no such file. */
  const request = async <Value>(
    path: string,
    bytesMax: number,
    take: Take<Value>,
  ): Promise<Value | null> => {
    const outcome = await retry(
      () => tryOnce(urlOf(baseUrl, path), { ...options, bytesMax }, take),
      (found) => "reason" in found && options.signal?.aborted !== true,
      { triesMax: options.attemptsMax ?? 4, firstMs: 250 },
    );
    return "reason" in outcome ? stop({ kind: "unreachable", path, ...outcome }) : outcome.value;
  };
  return {
    /** A small file as bytes; more than `bytesMax` is refused. */
    read: async (path: string, bytesMax: number): Promise<Uint8Array> => {
      const bytes = await request(path, bytesMax, async (pieces) => {
        const chunks: Uint8Array[] = [];
        let size = 0;
        for await (const chunk of pieces) {
          size += chunk.length;
          if (size > bytesMax) return stop({ kind: "unreachable", path, reason: "too large" });
          chunks.push(chunk);
        }
        return new Uint8Array(Buffer.concat(chunks));
      });
      return bytes ?? stop({ kind: "not_found", path });
    },
    /** Streams a file to `target`, which appears only when its bytes are the expected ones; answers whether they are. */
    download: async (file: Expected, target: string): Promise<boolean> =>
      (await request(file.path, file.size, (pieces) => save(pieces, file, target))) ?? false,
  };
}

/** Answers the reason when another try may help. */
async function tryOnce<Value>(
  url: string,
  { timeoutMs = 30_000, signal, bytesMax }: OriginOptions & { bytesMax: number },
  take: Take<Value>,
): Promise<{ value: Value | null } | { reason: string }> {
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(), timeoutMs);
  // Who sends a byte now and then would hold a mirror for ever.
  const whole = AbortSignal.timeout(timeoutMs * (1 + bytesMax / slowestBytes));
  const signals = [stalled.signal, whole, ...(signal === undefined ? [] : [signal])];
  async function* pieces(body: ReadableStream<Uint8Array> | null) {
    for await (const chunk of body ?? []) {
      timer.refresh();
      yield chunk;
    }
  }
  try {
    const answer = await fetchPlain(url, { signal: AbortSignal.any(signals) });
    if (answer.ok) return { value: await take(pieces(answer.body)) };
    await answer.body?.cancel();
    const isGone = answer.status === 404 || answer.status === 410;
    return isGone ? { value: null } : { reason: `status ${answer.status}` };
  } catch (error) {
    if (error instanceof SyncStopped || isDiskError(error)) throw error;
    return { reason: error instanceof Error ? error.message : "unknown" };
  } finally {
    clearTimeout(timer);
  }
}

/** An answer may take the time of a pause for each of these bytes: 35 kB/s by default. */
const slowestBytes = 2 ** 20;

type Expected = { path: string; sha256: string; size: number };

let drafts = 0;

/** Writes pieces to `target`, which appears only when they are the expected bytes; answers whether they are. */
export async function save(
  pieces: AsyncIterable<Uint8Array>,
  { sha256, size }: Expected,
  target: string,
): Promise<boolean> {
  // Two paths of the same content may be fetched at once.
  const draft = `${target}.${drafts++}.draft`;
  // Whatever comes, no more is written than the signed list allows.
  const written = await writeHashed(pieces, draft, size);
  const isExpected = written.size === size && written.digest === sha256;
  await (isExpected ? rename(draft, target) : rm(draft, { force: true }));
  return isExpected;
}

/** Disk errors are not the origin's fault, and another try does not repair them. */
const isDiskError = (error: unknown): boolean =>
  ["ENOSPC", "EACCES", "EROFS", "ENOENT", "EMFILE", "EDQUOT"].includes(codeOf(error));

const urlOf = (baseUrl: string, path: string): string =>
  `${baseUrl.replace(/\/+$/, "")}/${path.split("/").map(encodeURIComponent).join("/")}`;

/** The signed list of all files, and its two files as the origin sent them. */
export type SignedList = { manifest: BundleManifest; bytes: Uint8Array; signature: Uint8Array };

const smallBytesMax = 65_536;
const listBytesMax = 1_048_576;
const racesMax = 6;

/** The key by which the origin says it signs: the one its signature names. For the first contact only. */
export async function publishedKey(origin: Origin): Promise<PublicKey> {
  const signedBy = keyIdOf(text(await readSignature(origin))) ?? "no key";
  const set = KeySet.safeParse(parsed(await origin.read(feedPaths.keys, smallBytesMax)));
  if (!set.success) {
    return stop({ kind: "no_directory", reason: `${feedPaths.keys} is not a key set` });
  }
  // Only the ids that follow from the keys count: the file may give a key another's id.
  const keys = await Promise.all(set.data.keys.map(({ x }) => publicKeyOf(x)));
  const key = keys.find(({ kid }) => kid === signedBy);
  return key ?? stop({ kind: "no_directory", reason: `no published key is named ${signedBy}` });
}

/** The signature as it stands at the origin: a few hundred bytes that change whenever a file does. */
export const readSignature = (origin: Origin): Promise<Uint8Array> =>
  origin.read(feedPaths.signature, smallBytesMax);

/**
 * Reads the list and believes it only with the key's signature. The list and its signature are two files: while the
 * origin replaces them they may not fit, so a misfit is looked at again a few times.
 */
export async function readList(
  origin: Origin,
  key: PublicKey,
  pauseMs: number,
): Promise<SignedList> {
  let signedBy = "";
  for (let tried = 0; tried < racesMax; tried++) {
    if (tried > 0) await Bun.sleep(pauseMs);
    const signature = await readSignature(origin);
    const bytes = await origin.read(feedPaths.manifest, listBytesMax);
    signedBy = keyIdOf(text(signature)) ?? "no key";
    const verified = await verifyDetached(text(signature), bytes, key);
    if (!verified.ok) continue;
    const manifest = BundleManifest.safeParse(parsed(bytes));
    if (manifest.success) return { manifest: manifest.data, bytes, signature };
    return stop({ kind: "no_directory", reason: `${feedPaths.manifest} has another form` });
  }
  return stop({ kind: "not_signed_by", kid: key.kid, signedBy });
}

/** What a list must be to be taken: `taken` is the number of the one before, null at the first contact. */
export type Acceptable = { taken: number | null; now: Date; bytesMax: number; filesMax: number };

/** Ends the run for a list that is signed and still not to be taken: an older one, one that expired, or too large a one. */
export function accept(manifest: BundleManifest, acceptable: Acceptable): void {
  const { bytesMax, filesMax } = acceptable;
  const { files, bytes, shards } = manifest;
  acceptIssue(manifest, acceptable);
  const fault = faultOf(manifest);
  if (fault !== null) return stop({ kind: "bad_list", reason: fault });
  if (files > filesMax) return stop({ kind: "too_large", reason: `${files} files` });
  const whole = bytes + sumOf(shards, "size");
  if (whole > bytesMax) return stop({ kind: "too_large", reason: `${whole} bytes` });
}

function acceptIssue({ issue }: BundleManifest, { taken, now }: Acceptable): void {
  const { sequence, expires_at } = issue;
  if (taken !== null && sequence < taken) return stop({ kind: "rolled_back", sequence, taken });
  if (Date.parse(expires_at) < now.getTime()) return stop({ kind: "expired", expires_at });
}

function faultOf({ files, bytes, shards }: BundleManifest): string | null {
  if (sumOf(shards, "files") !== files || sumOf(shards, "bytes") !== bytes) {
    return "its parts do not add up to its totals";
  }
  const odd = shards.find(
    ({ path, size }, at) => path !== feedPaths.shard(shardNames[at] ?? "") || size > shardBytesMax,
  );
  return odd === undefined ? null : `its part ${odd.path} has another name or size`;
}

const sumOf = (shards: readonly ShardReference[], of: "files" | "bytes" | "size"): number =>
  shards.reduce((sum, shard) => sum + shard[of], 0);

/** 400,000 files in a shard: a hundred million profiles. */
const shardBytesMax = 64 * 2 ** 20;

/** A shard as the list tells it. Ends the run when it is none, or names a path that no mirror writes. */
export function shardFrom(bytes: string, expected: ShardReference): ManifestShard {
  const value = parsed(new TextEncoder().encode(bytes));
  const shard = ManifestShard.safeParse(value);
  if (!shard.success) return stop({ kind: "bad_list", reason: badShard(value, expected) });
  const { files } = shard.data;
  const own = files.find(({ path }) => isManifestPath(path));
  if (own !== undefined) return stop({ kind: "bad_list", reason: `it lists ${own.path}` });
  const stray = files.find(({ path }) => feedPaths.shard(shardOf(path)) !== expected.path);
  if (stray !== undefined) {
    const reason = `its part ${expected.path} lists ${JSON.stringify(stray.path)}, which belongs to another`;
    return stop({ kind: "bad_list", reason });
  }
  const bytesListed = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length !== expected.files || bytesListed !== expected.bytes) {
    return stop({ kind: "bad_list", reason: `${expected.path} differs from its totals` });
  }
  return shard.data;
}

const listedPaths = z.object({ files: z.array(z.object({ path: z.string() })) });

/** The first path that cannot be used, as JSON, so that it cannot play with the terminal. */
function badShard(value: unknown, { path }: ShardReference): string {
  const listed = listedPaths.safeParse(value);
  const bad = listed.data?.files.find((file) => !BundlePath.safeParse(file.path).success);
  return bad === undefined
    ? `${path} has another form`
    : `it lists ${JSON.stringify(bad.path.slice(0, 200))}, a path that no mirror writes`;
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(text(bytes));
  } catch {
    return null;
  }
}
