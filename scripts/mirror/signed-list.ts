import { decodeProtectedHeader } from "jose";
import {
  BundleManifest,
  feedPaths,
  isManifestPath,
  ManifestShard,
} from "#content/contract/feed.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import { KeySet, type PublicKey, verifyDetached } from "#content/feed/keys.ts";
import type { FetchFailure, Origin } from "./origin.ts";

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
    return fail({ kind: "no_directory", reason: `${feedPaths.keys} is no key set` });
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
