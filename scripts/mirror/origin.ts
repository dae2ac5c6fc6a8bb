import { rename, rm } from "node:fs/promises";
import {
  BundleManifest,
  feedPaths,
  isManifestPath,
  ManifestShard,
} from "#content/contract/feed.ts";
import { KeySet, keyIdOf, type PublicKey, verifyDetached } from "#content/feed/signing-keys.ts";
import { retry } from "#content/runtime/retry.ts";
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
  const request = async <Value>(path: string, take: Take<Value>): Promise<Value | null> => {
    const outcome = await retry(
      () => tryOnce(urlOf(baseUrl, path), options, take),
      (found) => "reason" in found && options.signal?.aborted !== true,
      { triesMax: options.attemptsMax ?? 4, firstMs: 250 },
    );
    return "reason" in outcome ? stop({ kind: "unreachable", path, ...outcome }) : outcome.value;
  };
  return {
    /** A small file as bytes; more than `bytesMax` is refused. */
    read: async (path: string, bytesMax: number): Promise<Uint8Array> => {
      const bytes = await request(path, async (pieces) => {
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
      (await request(file.path, (pieces) => save(pieces, file, target))) ?? false,
  };
}

/** Answers the reason when another try may help. */
async function tryOnce<Value>(
  url: string,
  { timeoutMs = 30_000, signal }: OriginOptions,
  take: Take<Value>,
): Promise<{ value: Value | null } | { reason: string }> {
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(), timeoutMs);
  const signals = signal === undefined ? [stalled.signal] : [stalled.signal, signal];
  async function* pieces(body: ReadableStream<Uint8Array> | null) {
    for await (const chunk of body ?? []) {
      timer.refresh();
      yield chunk;
    }
  }
  try {
    // A gzip file is a file of its own: a server must not unpack it on the way.
    const isPacked = url.endsWith(".gz");
    const answer = await fetch(url, {
      signal: AbortSignal.any(signals),
      headers: isPacked ? { "accept-encoding": "identity" } : {},
      decompress: !isPacked,
    });
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
  const signedBy = keyIdOf(text(await readSignature(origin)));
  const set = KeySet.safeParse(parsed(await origin.read(feedPaths.keys, smallBytesMax)));
  if (!set.success) {
    return stop({ kind: "no_directory", reason: `${feedPaths.keys} is not a key set` });
  }
  const key = set.data.keys.find(({ kid }) => kid === signedBy);
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
    signedBy = keyIdOf(text(signature));
    const verified = await verifyDetached(text(signature), bytes, key);
    if (!verified.ok) continue;
    const manifest = BundleManifest.safeParse(parsed(bytes));
    if (manifest.success) return { manifest: manifest.data, bytes, signature };
    return stop({ kind: "no_directory", reason: `${feedPaths.manifest} has another form` });
  }
  return stop({ kind: "not_signed_by", kid: key.kid, signedBy });
}

/** A shard of the list. Throws when it is none: its bytes were vouched for, so that is a bug of the origin. */
export function shardFrom(bytes: string): ManifestShard {
  const shard = ManifestShard.parse(JSON.parse(bytes));
  if (shard.files.some(({ path }) => isManifestPath(path))) {
    throw new Error(`shard ${shard.shard} of the signed list lists a part of the list itself`);
  }
  return shard;
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(text(bytes));
  } catch {
    return null;
  }
}
