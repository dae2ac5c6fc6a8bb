import { retry } from "#content/runtime/retry.ts";
import { createHash } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { decodeProtectedHeader } from "jose";
import {
  BundleManifest,
  feedPaths,
  isManifestPath,
  ManifestShard,
} from "#content/contract/feed.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { KeySet, type PublicKey, verifyDetached } from "#content/feed/keys.ts";

/** Why a file could not be fetched from the origin. */
export type FetchFailure =
  | { kind: "not_found"; path: string }
  | { kind: "unreachable"; path: string; reason: string }
  /** Other bytes than the signed list tells: the origin moved on meanwhile, or someone tampered with it. */
  | { kind: "differs"; path: string; expected: string };

type Expected = { path: string; sha256: string; size: number };

export type Origin = {
  /** A small file as bytes; more than `bytesMax` is refused. */
  read(path: string, bytesMax: number): Promise<Result<Uint8Array, FetchFailure>>;
  /** Streams a file to `target`, which appears only when its bytes are the expected ones. */
  download(expected: Expected, target: string): Promise<Result<number, FetchFailure>>;
};

export type OriginOptions = {
  /** Every request and every pause between pieces of an answer. Default 30 s. */
  timeoutMs?: number;
  /** Tries of one request while the origin does not answer or is busy. Default 4. */
  attemptsMax?: number;
  signal?: AbortSignal;
};

const pauseFirstMs = 250;

/** The published directory at a URL: any web server that sends the files of a bundle by their paths. */
export function openOrigin(baseUrl: string, options: OriginOptions = {}): Origin {
  const attempt = async <Value>(
    path: string,
    take: (answer: Response, alive: () => void) => Promise<Result<Value, FetchFailure>>,
  ): Promise<Result<Value, FetchFailure>> => {
    const outcome = await retry(
      () => tryOnce(urlOf(baseUrl, path), path, options, take),
      (found) => typeof found === "string" && options.signal?.aborted !== true,
      { triesMax: options.attemptsMax ?? 4, firstMs: pauseFirstMs },
    );
    if (typeof outcome !== "string") return outcome;
    return fail({ kind: "unreachable", path, reason: outcome });
  };
  return {
    read: (path, bytesMax) =>
      attempt(path, async (answer, alive) => {
        const chunks: Uint8Array[] = [];
        let size = 0;
        for await (const chunk of answer.body ?? []) {
          alive();
          size += chunk.length;
          if (size > bytesMax) return fail({ kind: "unreachable", path, reason: "too large" });
          chunks.push(chunk);
        }
        return ok(new Uint8Array(Buffer.concat(chunks)));
      }),
    download: (expected, target) =>
      attempt(expected.path, (answer, alive) => save(answer, expected, target, alive)),
  };
}

/** Answers the reason as text when another try may help. */
async function tryOnce<Value>(
  url: string,
  path: string,
  { timeoutMs = 30_000, signal }: OriginOptions,
  take: (answer: Response, alive: () => void) => Promise<Result<Value, FetchFailure>>,
): Promise<Result<Value, FetchFailure> | string> {
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(), timeoutMs);
  const signals = signal === undefined ? [stalled.signal] : [stalled.signal, signal];
  try {
    const answer = await fetch(url, {
      signal: AbortSignal.any(signals),
      // A gzip file is a file of its own: a server must not unpack it on the way.
      headers: path.endsWith(".gz") ? { "accept-encoding": "identity" } : {},
      decompress: !path.endsWith(".gz"),
    });
    if (answer.status === 404 || answer.status === 410) {
      await answer.body?.cancel();
      return fail({ kind: "not_found", path });
    }
    if (!answer.ok) {
      await answer.body?.cancel();
      return `status ${answer.status}`;
    }
    return await take(answer, () => void timer.refresh());
  } catch (error) {
    if (isDiskError(error)) throw error;
    return error instanceof Error ? error.message : "unknown";
  } finally {
    clearTimeout(timer);
  }
}

let drafts = 0;

async function save(
  answer: Response,
  { path, sha256, size }: Expected,
  target: string,
  alive: () => void,
): Promise<Result<number, FetchFailure>> {
  // Two paths of the same content may be fetched at once.
  const draft = `${target}.${drafts++}.draft`;
  const hasher = createHash("sha256");
  let written = 0;
  const file = await open(draft, "w");
  try {
    for await (const chunk of answer.body ?? []) {
      alive();
      written += chunk.length;
      // Whatever comes, no more is written than the signed list allows.
      if (written > size) break;
      hasher.update(chunk);
      await file.writeFile(chunk);
    }
  } finally {
    await file.close();
  }
  if (written !== size || hasher.digest("hex") !== sha256) {
    await rm(draft, { force: true });
    return fail({ kind: "differs", path, expected: sha256 });
  }
  await rename(draft, target);
  return ok(written);
}

/** Disk errors are not the origin's fault, and another try does not repair them. */
const isDiskError = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  ["ENOSPC", "EACCES", "EROFS", "ENOENT", "EMFILE", "EDQUOT"].includes(String(error.code));

const urlOf = (baseUrl: string, path: string): string =>
  `${baseUrl.replace(/\/+$/, "")}/${path.split("/").map(encodeURIComponent).join("/")}`;

/** The signed list of all files, and its two files as the origin sent them. */
export type SignedList = { manifest: BundleManifest; bytes: Uint8Array; signature: Uint8Array };

export type ListFailure =
  | FetchFailure
  | { kind: "no_directory"; reason: string }
  /** The list is not signed by the key that is pinned. */
  | { kind: "not_signed_by"; kid: string; signedBy: string };

const smallBytesMax = 65_536;
const listBytesMax = 1_048_576;
const racesMax = 6;

/** The key by which the origin says it signs: the one its signature names. For the first contact only. */
export async function publishedKey(origin: Origin): Promise<Result<PublicKey, ListFailure>> {
  const signature = await origin.read(feedPaths.signature, smallBytesMax);
  if (!signature.ok) return signature;
  const published = await origin.read(feedPaths.keys, smallBytesMax);
  if (!published.ok) return published;
  const set = KeySet.safeParse(parsed(published.value));
  if (!set.success)
    return fail({ kind: "no_directory", reason: `${feedPaths.keys} is not a key set` });
  const signedBy = keyIdOf(text(signature.value));
  const key = set.data.keys.find(({ kid }) => kid === signedBy);
  if (key === undefined) {
    return fail({ kind: "no_directory", reason: `no published key is named ${signedBy}` });
  }
  return ok(key);
}

/** The signature as it stands at the origin: a few hundred bytes that change whenever a file does. */
export const readSignature = (origin: Origin) => origin.read(feedPaths.signature, smallBytesMax);

/**
 * Reads the list and believes it only with the key's signature. The list and its signature are two files: while the
 * origin replaces them they may not fit, so a misfit is looked at again a few times.
 */
export async function readList(
  origin: Origin,
  key: PublicKey,
  pauseMs: number,
): Promise<Result<SignedList, ListFailure>> {
  let signedBy = "";
  for (let tried = 0; tried < racesMax; tried++) {
    if (tried > 0) await Bun.sleep(pauseMs);
    const signature = await readSignature(origin);
    if (!signature.ok) return signature;
    const list = await origin.read(feedPaths.manifest, listBytesMax);
    if (!list.ok) return list;
    signedBy = keyIdOf(text(signature.value));
    const verified = await verifyDetached(text(signature.value), list.value, key);
    if (!verified.ok) continue;
    const manifest = BundleManifest.safeParse(parsed(list.value));
    if (!manifest.success) {
      return fail({ kind: "no_directory", reason: `${feedPaths.manifest} has another form` });
    }
    return ok({ manifest: manifest.data, bytes: list.value, signature: signature.value });
  }
  return fail({ kind: "not_signed_by", kid: key.kid, signedBy });
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

function keyIdOf(jws: string): string {
  try {
    return decodeProtectedHeader(jws.trim()).kid ?? "no key";
  } catch {
    return "no key";
  }
}
