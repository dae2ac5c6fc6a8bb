import { readFile } from "node:fs/promises";
import { text as textOf } from "node:stream/consumers";
import { feedPaths } from "#content/contract/feed.ts";
import { fail, ok, type Result } from "#content/contract/result.ts";
import type { ClaimedReceipt } from "#content/donation/receipt.ts";
import { KeySet, PublicKey, publicKeyOf } from "#content/feed/keys.ts";

export type SourceFailure =
  | { kind: "unreadable"; from: string; why: string }
  | { kind: "unreachable"; from: string; why: string };

const bytesMax = 1_048_576;
const patienceMs = 20_000;

/** The text of a file, of a URL, or of standard input (`-`). */
export async function readSource(from: string): Promise<Result<string, SourceFailure>> {
  try {
    if (from === "-") return ok(await textOf(process.stdin));
    if (/^https?:\/\//.test(from)) return await fetched(from);
    return ok(await readFile(from, "utf8"));
  } catch (error) {
    return fail({
      kind: "unreadable",
      from,
      why: error instanceof Error ? error.message : "unknown",
    });
  }
}

async function fetched(url: string): Promise<Result<string, SourceFailure>> {
  try {
    const answer = await fetch(url, {
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(patienceMs),
    });
    if (answer.status === 404)
      return fail({ kind: "unreadable", from: url, why: "there is none (404)" });
    if (!answer.ok) return fail({ kind: "unreachable", from: url, why: `status ${answer.status}` });
    const body = await answer.text();
    if (body.length > bytesMax)
      return fail({ kind: "unreadable", from: url, why: "it is too large" });
    return ok(body);
  } catch (error) {
    return fail({
      kind: "unreachable",
      from: url,
      why: error instanceof Error ? error.message : "unknown",
    });
  }
}

export type KeyFailure = SourceFailure | { kind: "no_key"; from: string };

/** A key, and where it came from. */
export type FoundKey = { key: PublicKey; from: string };

/**
 * The key that has to have signed: the one that is named, or, when none is, what the issuer of the receipt publishes.
 * Of a set, the one that the signature names; of a set without it, any, so that the check says which key signed.
 */
export async function keyFor(
  { receipt, signed_by }: Pick<ClaimedReceipt, "receipt" | "signed_by">,
  named: string | undefined,
): Promise<Result<FoundKey, KeyFailure>> {
  if (named !== undefined && /^[A-Za-z0-9_-]{43}$/.test(named)) {
    return ok({ key: await publicKeyOf(named), from: "--key" });
  }
  const from = named ?? `${receipt.issuer}/${feedPaths.keys}`;
  // What an unproven receipt names must not make this read a file.
  if (named === undefined && !/^https?:\/\//.test(from)) return fail({ kind: "no_key", from });
  const text = await readSource(from);
  if (!text.ok) return text;
  const keys = await keysIn(text.value);
  const key = keys.find(({ kid }) => kid === signed_by) ?? keys[0];
  return key === undefined ? fail({ kind: "no_key", from }) : ok({ key, from });
}

/** A key's id is made again from the key itself: a file could say anything. */
async function keysIn(text: string): Promise<PublicKey[]> {
  try {
    const value: unknown = JSON.parse(text);
    const set = KeySet.safeParse(value);
    const keys = set.success ? set.data.keys : [PublicKey.omit({ kid: true }).parse(value)];
    return await Promise.all(keys.map(({ x }) => publicKeyOf(x)));
  } catch {
    return [];
  }
}
