import { objectIn } from "#content/contract/base/json.ts";
import { KeySet, PublicKey, publicKeyOf } from "#content/feed/signing-keys.ts";
import { boundedBytes, fetchPlain } from "#content/runtime/plain-fetch.ts";

/** 1: it is not what it claims to be; 2: there is nothing to check; 3: it cannot be checked now. */
type ExitCode = 1 | 2 | 3;

/** Ends a check. The details go into the answer for programs. */
export class Unproven extends Error {
  override name = "Unproven";
  readonly kind: string;
  readonly exitCode: ExitCode;
  readonly details: object;
  constructor(kind: string, exitCode: ExitCode, message: string, details: object = {}) {
    super(message);
    this.kind = kind;
    this.exitCode = exitCode;
    this.details = details;
  }
}

export const isUrl = (from: string): boolean => /^https?:\/\//.test(from);

/** Limit for a key set or a receipt. */
const smallBytesMax = 1_048_576;
/** Time allowed per started MiB of `bytesMax`, so that a server that sends a byte now and then is given up. */
const timeoutMsDefault = 20_000;

/** The bytes of a file, a URL, or standard input (`-`), at most `bytesMax`. */
export async function readBytes(
  from: string,
  bytesMax = smallBytesMax,
  timeoutMs = timeoutMsDefault,
): Promise<Uint8Array> {
  try {
    if (!isUrl(from)) {
      const file = from === "-" ? Bun.stdin : Bun.file(from);
      return await boundedBytes(new Response(file.stream()), bytesMax);
    }
    const signal = AbortSignal.timeout(timeoutMs * Math.ceil(bytesMax / 2 ** 20));
    const answer = await fetchPlain(from, { headers: { accept: "application/json" }, signal });
    if (answer.ok) return await boundedBytes(answer, bytesMax);
    await answer.body?.cancel();
    if (answer.status === 404) throw unreadable(from, "there is none (404)");
    throw new Error(`status ${answer.status}`);
  } catch (error) {
    if (error instanceof Unproven) throw error;
    const why = error instanceof Error ? error.message : String(error);
    if (!isUrl(from)) throw unreadable(from, why);
    const words = `${from} does not answer: ${why}. Try again later.`;
    throw new Unproven("unreachable", 3, words, { from, why });
  }
}

export const unreadable = (from: string, why: string) =>
  new Unproven("unreadable", 2, `${from} cannot be read: ${why}.`, { from, why });

export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Whether a text is a key itself (the x of its JWK) rather than the place of one. */
export const isKey = (keyOrUrl: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(keyOrUrl);

/** The named keys: the x of a JWK, or a file or URL with a JWK or a JWK set. */
export async function keysNamed(keyOrUrl: string): Promise<PublicKey[]> {
  if (isKey(keyOrUrl)) return [await publicKeyOf(keyOrUrl)];
  const keys = await keysIn(textOf(await readBytes(keyOrUrl)));
  if (keys.length > 0) return keys;
  throw noKey(keyOrUrl);
}

export const noKey = (from: string) =>
  new Unproven("no_key", 2, `${from} holds no Ed25519 public key as JWK or JWK set.`, { from });

/** The keys of a JWK or JWK set; none for another text. Key ids are computed, because a text could claim any. */
export async function keysIn(text: string): Promise<PublicKey[]> {
  const value = objectIn(text);
  const set = KeySet.safeParse(value);
  const key = PublicKey.omit({ kid: true }).safeParse(value);
  const keys = set.data?.keys ?? (key.success ? [key.data] : []);
  return Promise.all(keys.map(({ x }) => publicKeyOf(x)));
}
